// The hyperbolic tangent by tanhf, one thread an element.
//
// /// kernel
// op       = "tanh"
// axes     = { rows = "1..65535", cols = "1..1073741824" }
// tune     = { threads = [64, 256, 1024] }
// arrays   = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// accuracy = { functions = { tanh = "tanhf" } }
// launch   = [{ grid = "ceil_div(cols, threads), rows", block = "threads" }]
// ///

__global__ void tanh_elementwise(float *y, const float *x, int cols) {
    // y and x are (rows, cols)
    const unsigned int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols - 1
    if (col >= cols) {
        return;
    }
    const size_t i = static_cast<size_t>(blockIdx.y) * cols + col;
    y[i] = tanhf(x[i]);
}
