// The hyperbolic tangent by one exp: 1 - 2 / (1 + exp(2 x)), one thread an element.
//
// exp(2 x) overflows from 45 on, and 1 - 2 / inf is the correct 1. Near 0 two numbers cancel, so that the error is that of
// 1 and not of x: the claim names the form.
//
// /// kernel
// op     = "tanh"
// axes   = { rows = "1..65535", cols = "1..1073741824" }
// tune   = { threads = [64, 256, 1024] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// launch = [{ grid = "ceil_div(cols, threads), rows", block = "threads" }]
//
// [accuracy]
// form   = "1 - 2 / (1 + exp(2 x))"
// exp    = "expf"
// divide = "ieee"
// ///

__global__ void tanh_by_exp(float *y, const float *x, int cols) {
    // y and x are (rows, cols)
    const unsigned int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols - 1
    if (col >= cols) {
        return;
    }
    const size_t i = static_cast<size_t>(blockIdx.y) * cols + col;
    y[i] = 1.0f - 2.0f / (1.0f + expf(2.0f * x[i]));
}
