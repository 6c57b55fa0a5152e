// One step of a GRU, one thread a unit of the new state: it reads its three rows of both weights.
//
// The starting point, for small states. The product with the state of the third gate is kept apart, because the reset
// multiplies it, together with its bias, before it meets the product with the input.
//
// /// kernel
// op     = "gru_cell"
// axes   = { rows = "1..65535", hidden = "1..4096", d = "1..4096" }
// tune   = { threads = [32, 128] }
// arrays = { x = "f32[rows, d] -> x", h = "f32[rows, hidden] -> h", w_ih = "f32[3, hidden, d] -> w_ih", w_hh = "f32[3, hidden, hidden] -> w_hh", b_ih = "f32[3, hidden] -> b_ih", b_hh = "f32[3, hidden] -> b_hh", y = "f32[rows, hidden] <- y" }
// launch = [{ grid = "ceil_div(hidden, threads), rows", block = "threads" }]
//
// [accuracy]
// form      = "(1 - z) n + z h"
// adds      = { gates = "max(d, hidden) + 1", input = "d", state = "hidden" }
// exp       = "expf"
// divide    = "ieee"
// functions = { tanh = "tanhf" }
// ///

__device__ float with_bias(const float *x, const float *w, float bias, int n) {
    float sum = bias;
    for (int i = 0; i < n; ++i) {
        sum += x[i] * w[i];
    }
    return sum;
}

__device__ float sigmoid(float x) {
    return 1.0f / (1.0f + expf(-x));
}

__global__ void gru_cell(float *y, const float *x, const float *h, const float *w_ih, const float *w_hh,
                         const float *b_ih, const float *b_hh, int hidden, int d) {
    // y and h are (rows, hidden), x is (rows, d), w_ih is (3, hidden, d), w_hh is (3, hidden, hidden); gates r, z, n
    const int unit = blockIdx.x * blockDim.x + threadIdx.x;  // may pass hidden - 1
    if (unit >= hidden) {
        return;
    }
    const size_t row = blockIdx.y;
    float of_x[3], of_h[3];
    for (int gate = 0; gate < 3; ++gate) {
        const size_t place = static_cast<size_t>(gate) * hidden + unit;
        of_x[gate] = with_bias(x + row * d, w_ih + place * d, b_ih[place], d);
        of_h[gate] = with_bias(h + row * hidden, w_hh + place * hidden, b_hh[place], hidden);
    }
    const float r = sigmoid(of_x[0] + of_h[0]), z = sigmoid(of_x[1] + of_h[1]);
    const float n = tanhf(of_x[2] + r * of_h[2]);
    y[row * hidden + unit] = (1.0f - z) * n + z * h[row * hidden + unit];
}
