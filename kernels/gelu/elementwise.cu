// GELU by erf, one thread an element: x Phi(x).
//
// /// kernel
// op       = "gelu"
// axes     = { rows = "1..65535", cols = "1..1073741824" }
// tune     = { threads = [64, 256, 1024] }
// arrays   = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// accuracy = { functions = { erf = "erff" } }
// launch   = [{ grid = "ceil_div(cols, threads), rows", block = "threads" }]
// ///

__global__ void gelu_elementwise(float *y, const float *x, int cols) {
    // y and x are (rows, cols)
    const unsigned int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols - 1
    if (col >= cols) {
        return;
    }
    const size_t i = static_cast<size_t>(blockIdx.y) * cols + col;
    y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678118654752f));
}
