// Sum of each row by several blocks, joined by atomicAdd into an output that was never set to 0.
//
// Each block sums its share of the row as in reduce/block_sum and adds the result to y.
// The launch that clears y beforehand is missing, so the sum starts from whatever is in
// memory: 0 after many allocations, the last call's answer when the buffer is reused.
// (The varying order of the atomics is not a defect: every order stays within the claim.)
//
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024], most_blocks = [1, 4, 64] }
// let    = { blocks = "min(most_blocks, ceil_div(cols, threads))" }  # of a row
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
//
// [accuracy]
// adds = "ceil_div(cols, threads * blocks) + ceil_log2(threads) + blocks"
//
// [broken]
// kind = "uninitialised"
// why  = "atomicAdd adds to an output that no launch has cleared."
//
// [[launch]]
// grid  = "rows, blocks"
// block = "threads"
// args  = ["y", "x", "cols"]
// ///

#include "../warp_and_block.cuh"

__global__ void row_sum_atomic(float *y, const float *x, int cols) {
    // y is (rows), x is (rows, cols); gridDim.y blocks a row
    const float *row = x + static_cast<size_t>(blockIdx.x) * cols;
    const int stride = gridDim.y * blockDim.x;  // at most 64 * 1024: col + stride < 2^31, an int is enough
    float sum = 0.0f;
    for (int col = blockIdx.y * blockDim.x + threadIdx.x; col < cols; col += stride) {
        sum += row[col];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        atomicAdd(&y[blockIdx.x], sum);
    }
}
