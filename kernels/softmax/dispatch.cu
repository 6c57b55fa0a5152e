// Softmax of each row by the method that suits its length: a warp, a block with the row cached, a block without.
//
// Up to 1024 columns a warp takes a row, in float4: no barrier, and a block holds several rows. Up to 4096
// a block takes a row and keeps it in shared memory (16 KB), so that it is read once. Above that, a block
// reads the row twice in float4, as in online_block_shuffle. A library would call this kernel. In place.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x <- y" }
// align  = 4
//
// [let]
// cached  = "1024 < cols <= 4096"
// workers = "32 if cols <= 1024 else threads"
// vectors = "ceil_div(cols, 4 * workers)"
//
// [accuracy]  # cached as cached_block says it, the others as online_block_shuffle
// adds     = "(ceil_div(cols, threads) - 1 if cached else vectors + 3) + ceil_log2(min(cols, workers))"
// rescales = "0 if cached else vectors + 2"
// shift    = "running max"
// exp      = "expf"
// divide   = "ieee"
//
// [[launch]]
// when  = "cols <= 1024"
// entry = "softmax_warp"
// grid  = "ceil_div(rows, threads / 32)"
// block = "threads"
//
// [[launch]]
// when   = "cached"
// entry  = "softmax_block_cached"
// grid   = "rows"
// block  = "threads"
// shared = "4 * cols"
//
// [[launch]]
// when  = "cols > 4096"
// entry = "softmax_online_block_shuffle"
// grid  = "rows"
// block = "threads"
// ///

#include "online_block_shuffle.cu"

__global__ void softmax_warp(float *x, int rows, int cols) {
    // x is (rows, cols); a warp a row
    const size_t index =
        (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;  // may pass rows - 1
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    if (index >= rows) {
        return;  // a whole warp returns at once, so the shuffles below see all 32 lanes
    }
    const Row row = row_of(x, index, cols);
    float max, sum;
    fold_share(max, sum, row, lane, 32);
    const float max_of_row = warp_max(max);
    const float sum_of_row = warp_sum(sum * expf(max - max_of_row));
    write_share(row, max_of_row, sum_of_row, lane, 32);
}

__global__ void softmax_block_cached(float *x, int cols) {
    // x is (rows, cols); a block a row
    extern __shared__ float cache[];  // (cols): a thread reads back only what it wrote itself
    x += static_cast<size_t>(blockIdx.x) * cols;
    float max = -INFINITY;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        max = fmaxf(max, cache[col] = x[col]);
    }
    max = block_max(max);

    float sum = 0.0f;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        sum += cache[col] = expf(cache[col] - max);
    }
    sum = block_sum(sum);

    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        x[col] = cache[col] / sum;
    }
}
