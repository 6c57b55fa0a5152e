// Softmax of rows too long for any block, in two launches: the results of the row's parts, then the output, backwards.
//
// grid_three_launches reads all of x, joins, and reads all of x again. Here the second launch begins where the
// first ended: the end of x is still in the second-level cache, which holds 50 MB of it. Each of its warps joins
// the parts of its row by itself, so that no launch is needed in between. A row has as many parts as fill the GPU.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..1073741824", cols = "1..1073741824" }
// tune   = { threads = [32, 128, 256, 512] }
// align  = 4
// values = { nan = "row", pos_inf = "row" }
//
// [let]
// parts  = "min(ceil_div(1056, rows), ceil_div(cols, 16 * threads))"
// share  = "ceil_div(ceil_div(cols / 4, parts), 8) * 8"  # vectors of a part
// rounds = "ceil_div(share, 4 * threads)"  # four vectors of a thread at a time
//
// [arrays]
// x      = "f32[rows, cols] -> x"
// y      = "f32[rows, cols] <- y"
// maxima = "f32[rows, parts]"
// sums   = "f32[rows, parts]"
//
// [accuracy]  # within four vectors, the rounds, the halvings; then the parts and their halvings
// adds     = "5 + rounds + ceil_log2(threads) + ceil_div(parts, 32) - 1 + ceil_log2(min(parts, 32))"
// rescales = "rounds + 2"
// shift    = "running max"
// exp      = "expf"
// divide   = "reciprocal"
//
// [[launch]]
// entry = "softmax_parts<float, {threads}>"
// grid  = "rows * parts"
// block = "threads"
//
// [[launch]]
// entry = "softmax_write<float, {threads}>"
// grid  = "rows * parts"
// block = "threads"
// ///

#include "four_vectors.cuh"

template <class E, int THREADS>
__global__ void __launch_bounds__(THREADS) softmax_parts(float *__restrict__ maxima, float *__restrict__ sums,
                                                         const E *__restrict__ x, int parts, int share, int cols) {
    // maxima and sums are (rows, parts), x is (rows, cols); a block a part
    __shared__ float max_of_warp[32];
    __shared__ float sum_of_warp[32];
    const int part = blockIdx.x % parts;
    const Row<E> row(x, blockIdx.x / parts, cols);
    const int begin = min(static_cast<long long>(part) * share, static_cast<long long>(row.vectors));
    const int end = min(begin + share, row.vectors);
    const int col = part == 0 ? row.edge(threadIdx.x) : -1;

    float max = row.element(col, -INFINITY);
    float sum = expf(max - finite_or_zero(max));  // 0 where there is none
    for (int i = begin + threadIdx.x; i < end; i += 4 * THREADS) {
        Vector<E> four[4];
        load_four<THREADS, KEPT>(four, row, i, end);
        take(four, max, sum);
    }
    const float of_part = block_max<THREADS>(max, max_of_warp);
    sum = block_sum<THREADS>(sum * expf(max - finite_or_zero(of_part)), sum_of_warp);
    if (threadIdx.x == 0) {
        maxima[blockIdx.x] = of_part;
        sums[blockIdx.x] = sum;
    }
}

template <class E, int THREADS>
__global__ void __launch_bounds__(THREADS)
softmax_write(E *__restrict__ y, const E *__restrict__ x, const float *__restrict__ maxima,
              const float *__restrict__ sums, int parts, int share, int cols) {
    // y and x are (rows, cols), maxima and sums are (rows, parts); a block a part, the last one first
    constexpr int width = Row<E>::width;
    const int number = gridDim.x - 1 - blockIdx.x;
    const int part = number % parts;
    const int index = number / parts;
    const Row<E> row(x, index, cols);
    y += static_cast<size_t>(index) * cols;
    maxima += static_cast<size_t>(index) * parts;
    sums += static_cast<size_t>(index) * parts;

    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    float max = -INFINITY;
    for (int i = lane; i < parts; i += 32) {
        max = fmaxf(max, maxima[i]);
    }
    max = lanes_max<32>(max);
    float sum = 0.0f;
    for (int i = lane; i < parts; i += 32) {
        sum += sums[i] * expf(maxima[i] - finite_or_zero(max));
    }
    const float scale = 1.0f / lanes_sum<32>(sum);

    const int begin = min(static_cast<long long>(part) * share, static_cast<long long>(row.vectors));
    const int end = min(begin + share, row.vectors);
    const bool is_aligned = is_placed_alike(y, row.x);
    for (int i = begin + threadIdx.x; i < end; i += 4 * THREADS) {
        Vector<E> four[4];
        load_four<THREADS, STREAMED>(four, row, i, end);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
#pragma unroll
            for (int j = 0; j < width; ++j) {
                // a row of only -inf: exp(-inf - -inf) is NaN, as it must be
                four[k].of[j] = exponential<E>(four[k].of[j] - max) * scale;
            }
            const int place = row.head + width * (i + k * THREADS);
            if (i + k * THREADS < end && is_aligned) {
                narrow<true>(y + place, four[k]);  // x shall stay in the cache, y need not
            } else if (i + k * THREADS < end) {
                store_singly(y + place, four[k]);
            }
        }
    }
    const int col = part == 0 ? row.edge(threadIdx.x) : -1;
    store_edge<true>(y, col, expf(row.template element<STREAMED>(col, -INFINITY) - max) * scale);
}
