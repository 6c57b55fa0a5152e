// A value where the mask is true, else x: a thread an element.
//
// /// kernel
// op      = "masked_fill"
// axes    = { rows = "1..65535", cols = "1..65536" }
// arrays  = { x = "f32[rows, cols] -> x", mask = "bool[rows, cols] -> mask", y = "f32[rows, cols] <- y" }
// scalars = { value = -1e9 }
//
// [[launch]]
// grid  = "ceil_div(cols, 64), rows"
// block = 64
// args  = ["y", "x", "mask", "cols", "value"]
// ///

__global__ void masked_fill(float *y, const float *x, const bool *mask, int cols, float value) {
    // y, x and mask are (rows, cols)
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col < cols) {
        const size_t at = static_cast<size_t>(blockIdx.y) * cols + col;
        y[at] = mask[at] ? value : x[at];
    }
}
