// Sum of each row, one block a row, in float4: all warps but the first end as soon as they have left their sums.
//
// At a barrier for all (block_sum_vec4) each warp waits for the slowest one, and reads what the first alone needs. Here the
// others only arrive at the barrier (bar.arrive), and their registers are free for the next block: 1.00 of a copy for 1024 x 4096
// on an H100 instead of .98, in 7.2 us, of which the loads alone take 6.8. `flight` of a thread's vectors are requested together,
// without a test for each.
//
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024], flight = [2, 4] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
// align  = 4
// values = { nan = "ieee", pos_inf = "ieee" }
//
// [accuracy]  # a thread's vectors, two adds of its four sums, its element of the edge; then the halvings
// adds = "ceil_div(cols, 4 * threads) + 2 + ceil_log2(min(threads, min(cols, max(6, cols / 4))))"
//
// [[launch]]
// entry = "block_sum_first_warp<{threads}, {flight}>"
// grid  = "rows"
// block = "threads"
// ///

#include "../row.cuh"

template <int THREADS, int FLIGHT>
__global__ void __launch_bounds__(THREADS)
block_sum_first_warp(float *__restrict__ y, const float *__restrict__ x, int cols) {
    // y is (rows), x is (rows, cols); a block a row
    constexpr int WARPS = THREADS / 32;
    __shared__ float of_warp[WARPS];
    const Row<float> row(x, blockIdx.x, cols);
    float parts[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    int i = threadIdx.x;
    for (; i + (FLIGHT - 1) * THREADS < row.vectors; i += FLIGHT * THREADS) {
        Vector<float> some[FLIGHT];
#pragma unroll
        for (int k = 0; k < FLIGHT; ++k) {
            some[k] = row.load<STREAMED>(i, k * THREADS);
        }
#pragma unroll
        for (int k = 0; k < 4 * FLIGHT; ++k) {
            parts[k % 4] += some[k / 4].of[k % 4];
        }
    }
    for (; i < row.vectors; i += THREADS) {
        const Vector<float> one = row.load<STREAMED>(i);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            parts[k] += one.of[k];
        }
    }
    const float edge = row.element<STREAMED>(row.edge(threadIdx.x), 0.0f);
    float sum = lanes_sum<32>(((parts[0] + parts[1]) + (parts[2] + parts[3])) + edge);
    if constexpr (WARPS > 1) {
        if (threadIdx.x % 32 == 0) {
            of_warp[threadIdx.x / 32] = sum;
        }
        if (threadIdx.x >= 32) {
            asm volatile("bar.arrive 1, %0;" ::"n"(THREADS) : "memory");
            return;
        }
        asm volatile("bar.sync 1, %0;" ::"n"(THREADS) : "memory");
        sum = lanes_sum<WARPS>(of_warp[threadIdx.x % WARPS]);
    }
    if (threadIdx.x == 0) {
        y[blockIdx.x] = sum;
    }
}
