// The gradient of GELU by erf, one thread an element: g (Phi(x) + x phi(x)).
//
// /// kernel
// op       = "backward of gelu"
// axes     = { rows = "1..65535", cols = "1..1073741824" }
// tune     = { threads = [64, 256, 1024] }
// arrays   = { x = "f32[rows, cols] -> x", g = "f32[rows, cols] -> g_y", dx = "f32[rows, cols] <- d_x" }
// accuracy = { exp = "expf", functions = { erf = "erff" } }
// launch   = [{ grid = "ceil_div(cols, threads), rows", block = "threads" }]
// ///

__global__ void gelu_backward(float *dx, const float *x, const float *g, int cols) {
    // dx, x and g are (rows, cols)
    const unsigned int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols - 1
    if (col >= cols) {
        return;
    }
    const size_t i = static_cast<size_t>(blockIdx.y) * cols + col;
    const float below = 0.5f * (1.0f + erff(x[i] * 0.70710678118654752f));
    const float density = 0.39894228040143268f * expf(-0.5f * x[i] * x[i]);
    dx[i] = g[i] * (below + x[i] * density);
}
