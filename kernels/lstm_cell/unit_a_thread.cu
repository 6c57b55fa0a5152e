// One step of an LSTM, one thread a unit of the new state: it reads its four rows of both weights.
//
// /// kernel
// op     = "lstm_cell"
// axes   = { rows = "1..65535", hidden = "1..4096", d = "1..4096" }
// tune   = { threads = [32, 128] }
// launch = [{ grid = "ceil_div(hidden, threads), rows", block = "threads" }]
//
// [arrays]
// x     = "f32[rows, d] -> x"
// h     = "f32[rows, hidden] -> h"
// c     = "f32[rows, hidden] -> c"
// w_ih  = "f32[4, hidden, d] -> w_ih"
// w_hh  = "f32[4, hidden, hidden] -> w_hh"
// b_ih  = "f32[4, hidden] -> b_ih"
// b_hh  = "f32[4, hidden] -> b_hh"
// new_h = "f32[rows, hidden] <- h"
// new_c = "f32[rows, hidden] <- c"
//
// [accuracy]
// adds      = "d + hidden + 1"
// exp       = "expf"
// divide    = "ieee"
// functions = { tanh = "tanhf" }
// ///

__device__ float sigmoid(float x) {
    return 1.0f / (1.0f + expf(-x));
}

__global__ void lstm_cell(float *new_h, float *new_c, const float *x, const float *h, const float *c,
                          const float *w_ih, const float *w_hh, const float *b_ih, const float *b_hh, int hidden,
                          int d) {
    // both h and c are (rows, hidden), x is (rows, d), w_ih is (4, hidden, d), w_hh is (4, hidden, hidden)
    const int unit = blockIdx.x * blockDim.x + threadIdx.x;  // may pass hidden - 1
    if (unit >= hidden) {
        return;
    }
    x += static_cast<size_t>(blockIdx.y) * d;
    h += static_cast<size_t>(blockIdx.y) * hidden;
    const size_t place = static_cast<size_t>(blockIdx.y) * hidden + unit;
    float gates[4];  // i, f, g, o
    for (int gate = 0; gate < 4; ++gate) {
        const size_t of_gate = static_cast<size_t>(gate) * hidden + unit;
        float sum = b_ih[of_gate] + b_hh[of_gate];
        for (int i = 0; i < d; ++i) {
            sum += x[i] * w_ih[of_gate * d + i];
        }
        for (int i = 0; i < hidden; ++i) {
            sum += h[i] * w_hh[of_gate * hidden + i];
        }
        gates[gate] = sum;
    }
    const float cell = sigmoid(gates[1]) * c[place] + sigmoid(gates[0]) * tanhf(gates[2]);
    new_c[place] = cell;
    new_h[place] = sigmoid(gates[3]) * tanhf(cell);
}
