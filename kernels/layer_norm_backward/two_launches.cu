// The gradients of a layer norm from its saved mean and rstd: first dx, a warp a row; then dw and db, a thread a column.
//
// A column is added up over all rows by one thread, in their order. Neighbours read neighbours, and two runs give the same
// bits; only a matrix of few columns leaves the GPU idle.
//
// /// kernel
// op     = "layer_norm_backward"
// axes   = { rows = "1..1073741824", cols = "1..1048576" }
// tune   = { threads = [32, 128, 512] }
// claims = { deterministic = true }
//
// [arrays]
// x    = "f32[rows, cols] -> x"
// mean = "f32[rows] -> mean"
// rstd = "f32[rows] -> rstd"
// w    = "f32[cols] -> w"
// g    = "f32[rows, cols] -> g"
// dx   = "f32[rows, cols] <- dx"
// dw   = "f32[cols] <- dw"
// db   = "f32[cols] <- db"
//
// [accuracy]
// form = "means"
// adds = { dw = "rows - 1", db = "rows - 1", dx = 2, "*" = "ceil_div(cols, 32) - 1 + ceil_log2(min(cols, 32))" }
//
// [[launch]]
// entry = "layer_norm_backward_dx"
// grid  = "ceil_div(rows, threads / 32)"
// block = "threads"
//
// [[launch]]
// entry = "layer_norm_backward_dw_db"
// grid  = "ceil_div(cols, threads)"
// block = "threads"
// ///

#include "../warp_and_block.cuh"

__global__ void layer_norm_backward_dx(float *dx, const float *x, const float *mean, const float *rstd, const float *w,
                                       const float *g, int rows, int cols) {
    // dx, x and g are (rows, cols), mean and rstd are (rows), w is (cols); a warp a row
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const size_t row = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;  // may pass rows - 1
    if (row >= rows) {
        return;  // the whole warp together, so that no shuffle misses a lane
    }
    x += row * cols;
    g += row * cols;
    const float m = mean[row], r = rstd[row];
    float of_g = 0.0f, of_gn = 0.0f;
    for (int col = lane; col < cols; col += 32) {
        const float gw = g[col] * w[col];
        of_g += gw;
        of_gn += gw * ((x[col] - m) * r);
    }
    of_g = warp_sum(of_g) / cols;
    of_gn = warp_sum(of_gn) / cols;
    for (int col = lane; col < cols; col += 32) {
        dx[row * cols + col] = (g[col] * w[col] - of_g - (x[col] - m) * r * of_gn) * r;
    }
}

__global__ void layer_norm_backward_dw_db(float *dw, float *db, const float *x, const float *mean, const float *rstd,
                                          const float *g, int rows, int cols) {
    // dw and db are (cols), x and g are (rows, cols), mean and rstd are (rows); a thread a column
    const int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols - 1
    if (col >= cols) {
        return;
    }
    float of_w = 0.0f, of_b = 0.0f;
    for (int row = 0; row < rows; ++row) {
        const size_t i = static_cast<size_t>(row) * cols + col;
        of_w += g[i] * ((x[i] - mean[row]) * rstd[row]);
        of_b += g[i];
    }
    dw[col] = of_w;
    db[col] = of_b;
}
