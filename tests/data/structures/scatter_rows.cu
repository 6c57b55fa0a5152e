// Each row of x is put in its slot of a copy of `into`: a block a slot.
//
// /// kernel
// op     = "./scatter_rows.py"
// axes   = { n = "0..4096", cols = "1..4096", slots = "1..65535" }
// where  = ["n <= slots"]
// arrays = { x = "f32[n, cols] -> x", slot = "i32[n] -> slot", into = "f32[slots, cols] -> into", y = "f32[slots, cols] <- y" }
// launch = [{ entry = "scatter_rows", grid = "slots", block = 64 }]
// ///

__global__ void scatter_rows(float *y, const float *x, const int *slot, const float *into, int n, int cols) {
    // y and into are (slots, cols), x is (n, cols), slot is (n)
    const float *from = into + static_cast<size_t>(blockIdx.x) * cols;
    for (int i = 0; i < n; i++) {
        if (slot[i] == blockIdx.x) {
            from = x + static_cast<size_t>(i) * cols;
        }
    }
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        y[static_cast<size_t>(blockIdx.x) * cols + col] = from[col];
    }
}
