// The logistic function, one thread an element. Far below 0 exp(-x) overflows, and 1 / inf is the correct 0.
//
// /// kernel
// op       = "sigmoid"
// axes     = { rows = "1..65535", cols = "1..1073741824" }
// tune     = { threads = [64, 256, 1024] }
// arrays   = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// accuracy = { exp = "expf", divide = "ieee" }
// launch   = [{ grid = "ceil_div(cols, threads), rows", block = "threads" }]
// ///

__global__ void sigmoid_elementwise(float *y, const float *x, int cols) {
    // y and x are (rows, cols)
    const unsigned int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols - 1
    if (col >= cols) {
        return;
    }
    const size_t i = static_cast<size_t>(blockIdx.y) * cols + col;
    y[i] = 1.0f / (1.0f + expf(-x[i]));
}
