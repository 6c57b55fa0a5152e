// GELU by the sigmoid that equals its tanh: x / 2 (1 + tanh t) = x / (1 + exp(-2 t)), one thread an element, grid-stride loop.
//
// For x far below 0 exp(-2 t) overflows, and x / inf is the correct -0. tanhf costs at least as much as one exp and a division.
//
// /// kernel
// op     = "gelu_tanh"
// axes   = { rows = "1..1048576", cols = "1..1048576" }
// tune   = { threads = [64, 256, 1024], blocks = [1, 7, 1024] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// launch = [{ grid = "blocks", block = "threads" }]
//
// [accuracy]
// form   = "sigmoid"
// exp    = "expf"
// divide = "ieee"
// ///

__global__ void gelu_tanh_sigmoid(float *y, const float *x, int rows, int cols) {
    // y and x are (rows, cols), one after the other
    const size_t count = static_cast<size_t>(rows) * cols, step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
        const float t = 0.79788456080286536f * (x[i] + 0.044715f * x[i] * x[i] * x[i]);
        y[i] = x[i] / (1.0f + expf(-2.0f * t));
    }
}
