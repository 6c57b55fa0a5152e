// Sum of each row, one block a row, in float4, with four of a thread's vectors in flight at a time.
//
// block_sum reads an element at a time, and each load waits for the one before. Here a thread requests
// four vectors of 16 bytes before it needs the first. A row may begin anywhere: the elements before
// its first vector and after its last are the row's edge, one for each thread. The identity is 0.
//
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
// align  = 4
// values = { nan = "ieee", pos_inf = "ieee" }
//
// [accuracy]  # a thread's vectors, two adds of its four sums, its element of the edge; then the halvings
// adds = "ceil_div(cols, 4 * threads) + 2 + ceil_log2(min(threads, min(cols, max(6, cols / 4))))"
//
// [[launch]]
// entry = "block_sum_vec4<{threads}>"
// grid  = "rows"
// block = "threads"
// ///

#include "../row.cuh"

template <int THREADS>
__global__ void __launch_bounds__(THREADS)
block_sum_vec4(float *__restrict__ y, const float *__restrict__ x, int cols) {
    // y is (rows), x is (rows, cols); a block a row
    __shared__ float of_warp[32];
    const Row<float> row(x, blockIdx.x, cols);
    float parts[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int i = threadIdx.x; i < row.vectors; i += 4 * THREADS) {
        Vector<float> four[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            four[k] = {{0.0f, 0.0f, 0.0f, 0.0f}};
            if (i + k * THREADS < row.vectors) {
                four[k] = row.load<STREAMED>(i, k * THREADS);
            }
        }
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            parts[k % 4] += four[k / 4].of[k % 4];
        }
    }
    const int col = row.edge(threadIdx.x);
    const float edge = row.element<STREAMED>(col, 0.0f);
    const float of_row = block_sum<THREADS>(((parts[0] + parts[1]) + (parts[2] + parts[3])) + edge, of_warp);
    if (threadIdx.x == 0) {
        y[blockIdx.x] = of_row;
    }
}
