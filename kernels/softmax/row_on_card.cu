// Softmax of rows that fill a whole GPU: all multiprocessors hold a row together, and read the next while they write it.
//
// two_launches_reversed reads a row of millions of columns twice. A GPU of 132 multiprocessors has 63 MB of registers
// and shared memory: enough for a row of 8,650,752 columns, and for a third of the next. Each block keeps its share of
// a row, and all blocks meet once a row, to exchange their results. Meanwhile memory would be idle: so the next row's
// part for shared memory is requested before that, and the part for registers as soon as they are written out. Below 5
// million columns reading twice takes less time than the meeting: shorter rows are claimed for the search alone.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..1073741824", cols = "1..8650752" }
// tune   = { threads = [32, 64, 512], blocks = [1, 2, 132], registers = [4, 20] }
// where  = ["cols <= 4 * (registers + 12) * threads * blocks", "cols > 5242880 or registers * threads * blocks <= 256"]
// align  = 4
// values = { nan = "row", pos_inf = "row" }
//
// [let]
// share  = "ceil_div(ceil_div(cols / 4, blocks), 8) * 8"  # vectors of a block
// rounds = "ceil_div(share, 4 * threads)"  # four vectors of a thread at a time
//
// [arrays]
// x      = "f32[rows, cols] -> x"
// y      = "f32[rows, cols] <- y"
// maxima = "f32[rows, blocks]"
// sums   = "f32[rows, blocks]"
//
// [accuracy]  # within four vectors, the rounds, the halvings; then those of the blocks
// adds     = "5 + rounds + ceil_log2(threads) + ceil_log2(blocks)"
// rescales = "rounds + 2"
// shift    = "running max"
// exp      = "expf"
// divide   = "reciprocal"
//
// [[launch]]
// entry       = "softmax_row_on_card<{threads}, {registers}>"
// grid        = "blocks"
// cooperative = true
// block       = "threads"
// shared      = "2 * 12 * 16 * threads"
// ///

#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include "four_vectors.cuh"

// Vectors that a thread holds of a row in shared memory; in registers it holds as many as the launch says, a multiple of 4.
constexpr int IN_SHARED = 12;

struct ShareOfThread {
    // A thread's part of a row: of the vectors of its block those at t, t + THREADS,
    // and so on; of the edge an element or none. Rows from `rows` on have nothing.
    const float *first;
    int left;  // vectors from there to the end of the block's share
    int col;

    __device__ __forceinline__ ShareOfThread(const float *x, int index, int rows, int share, int cols) {
        const BlockRow<float> row(x, min(index, rows - 1), cols);
        const int begin = min(static_cast<long long>(blockIdx.x) * share, static_cast<long long>(row.vectors));
        const int tid = threadIdx.x;
        first = row.x + row.head + 4 * (begin + tid);
        left = index < rows ? min(share, row.vectors - begin) - tid : 0;
        col = blockIdx.x == 0 ? row.edge(tid) : -1;
    }
};

// Requests the part for shared memory. A thread reads back only what it has copied itself: no barrier is needed.
template <int THREADS, int IN_REGISTERS>
__device__ __forceinline__ void ask_for(float4 *held, const ShareOfThread &mine) {
#pragma unroll
    for (int k = 0; k < IN_SHARED; ++k) {
        if ((IN_REGISTERS + k) * THREADS < mine.left) {
            __pipeline_memcpy_async(&held[k * THREADS], mine.first + 4 * (IN_REGISTERS + k) * THREADS, 16);
        }
    }
    __pipeline_commit();
}

template <int THREADS>
__device__ __forceinline__ Vector<float> loaded(const ShareOfThread &mine, int k) {
    Vector<float> v = {{-INFINITY, -INFINITY, -INFINITY, -INFINITY}};
    if (k * THREADS < mine.left) {
        widen(v, kept(mine.first + 4 * k * THREADS));
    }
    return v;
}

__device__ __forceinline__ void write(float *to, const Vector<float> &v, float max, float scale, bool is_aligned) {
    // in a row of only -inf max is -inf, and exp(-inf - -inf) is NaN, as it must be
    const Vector<float> made = {{expf(v.of[0] - max) * scale, expf(v.of[1] - max) * scale,
                                 expf(v.of[2] - max) * scale, expf(v.of[3] - max) * scale}};
    if (is_aligned) {
        narrow(to, made);
    } else {
        store_singly(to, made);
    }
}

template <int THREADS, int IN_REGISTERS>
__global__ void __launch_bounds__(THREADS, 1)
softmax_row_on_card(float *__restrict__ y, const float *__restrict__ x, float *maxima, float *sums, int rows, int share,
                    int cols) {
    // y and x are (rows, cols), maxima and sums are (rows, blocks); all blocks a row, one row after the other.
    extern __shared__ float4 held[];  // (2, IN_SHARED, THREADS)
    __shared__ float max_of_warp[32];
    __shared__ float sum_of_warp[32];
    __shared__ float max_of_blocks[32];
    __shared__ float sum_of_blocks[32];
    const int tid = threadIdx.x;  // ranges [0, THREADS)
    const int blocks = gridDim.x;  // ranges [1, THREADS]
    const bool is_aligned = is_placed_alike(y, x);

    ShareOfThread mine(x, 0, rows, share, cols);
    ask_for<THREADS, IN_REGISTERS>(held + tid, mine);
    Vector<float> in_registers[IN_REGISTERS];
#pragma unroll
    for (int k = 0; k < IN_REGISTERS; ++k) {
        in_registers[k] = loaded<THREADS>(mine, k);
    }
    for (int index = 0; index < rows; ++index) {
        float4 *const here = held + index % 2 * IN_SHARED * THREADS + tid;
        const float edge = mine.col >= 0 ? x[static_cast<size_t>(index) * cols + mine.col] : -INFINITY;
        float max = edge;
        float sum = expf(max - finite_or_zero(max));  // 0 where there is none
        __pipeline_wait_prior(0);
#pragma unroll
        for (int k = 0; k < IN_SHARED; k += 4) {
            Vector<float> four[4];
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                four[j] = {{-INFINITY, -INFINITY, -INFINITY, -INFINITY}};
                if ((IN_REGISTERS + k + j) * THREADS < mine.left) {
                    widen(four[j], reinterpret_cast<const float *>(here + (k + j) * THREADS));
                }
            }
            take(four, max, sum);
        }
        const ShareOfThread next(x, index + 1, rows, share, cols);
        ask_for<THREADS, IN_REGISTERS>(held + (index + 1) % 2 * IN_SHARED * THREADS + tid, next);
#pragma unroll
        for (int k = 0; k < IN_REGISTERS; k += 4) {
            const Vector<float> four[4] = {in_registers[k], in_registers[k + 1], in_registers[k + 2], in_registers[k + 3]};
            take(four, max, sum);
        }
        const float of_block = block_max<THREADS>(max, max_of_warp);
        sum = block_sum<THREADS>(sum * expf(max - finite_or_zero(of_block)), sum_of_warp);
        const size_t of_row = static_cast<size_t>(index) * blocks;
        if (tid == 0) {
            maxima[of_row + blockIdx.x] = of_block;
            sums[of_row + blockIdx.x] = sum;
        }
        cooperative_groups::this_grid().sync();
        const float of_other = tid < blocks ? maxima[of_row + tid] : -INFINITY;
        sum = tid < blocks ? sums[of_row + tid] : 0.0f;
        max = block_max<THREADS>(of_other, max_of_blocks);
        const float scale = 1.0f / block_sum<THREADS>(sum * expf(of_other - finite_or_zero(max)), sum_of_blocks);

        float *const to = y + (mine.first - x);
#pragma unroll
        for (int k = 0; k < IN_REGISTERS; ++k) {
            if (k * THREADS < mine.left) {
                write(to + 4 * k * THREADS, in_registers[k], max, scale, is_aligned);
            }
            in_registers[k] = loaded<THREADS>(next, k);
        }
#pragma unroll
        for (int k = 0; k < IN_SHARED; ++k) {
            if ((IN_REGISTERS + k) * THREADS < mine.left) {
                Vector<float> v;
                widen(v, reinterpret_cast<const float *>(here + k * THREADS));
                write(to + 4 * (IN_REGISTERS + k) * THREADS, v, max, scale, is_aligned);
            }
        }
        store_edge(y + static_cast<size_t>(index) * cols, mine.col, expf(edge - max) * scale);
        mine = next;
    }
}
