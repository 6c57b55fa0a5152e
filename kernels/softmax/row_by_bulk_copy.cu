// Softmax of each row by a block: one bulk copy (cp.async.bulk) brings the row, another takes the result away.
//
// A GPU since Hopper copies to and from shared memory by itself, as many bytes as fit: one thread asks for a whole row, and an
// mbarrier that counts bytes says when it has come. No thread computes addresses, and no register holds what passes. The
// threads write their results over the row; a fence makes them visible to the copy (the async proxy), a barrier says that all
// have written, and the block ends when the copy has read them. A copy moves multiples of 16 bytes, so rows begin at 16 bytes.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = { min = 4, max = 57344, multiple = 4 } }
// tune   = { threads = [32, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// values = { nan = "row", pos_inf = "row" }
//
// [accuracy]  # a thread's elements, the lanes of a warp, the warps
// adds     = "ceil_div(cols, threads) + ceil_log2(min(threads, 32)) + ceil_div(threads, 32)"
// rescales = 0
// exp      = "expf"
// divide   = "reciprocal"
//
// [[launch]]
// entry  = "softmax_row_by_bulk_copy<{threads}>"
// grid   = "rows"
// block  = "threads"
// shared = "4 * cols"
// ///

#include <cuda/ptx>

namespace ptx = cuda::ptx;

// Combines the threads' values in every thread; `of_warp` has room for 32.
template <int THREADS, class Combine>
__device__ float combined(float value, float *of_warp, Combine combine) {
    for (int apart = 16; apart > 0; apart /= 2) {
        value = combine(value, __shfl_xor_sync(~0u, value, apart));
    }
    if (threadIdx.x % 32 == 0) {
        of_warp[threadIdx.x / 32] = value;
    }
    __syncthreads();
    value = of_warp[0];
    for (int warp = 1; warp < THREADS / 32; warp++) {
        value = combine(value, of_warp[warp]);
    }
    return value;
}

template <int THREADS>
__global__ void __launch_bounds__(THREADS) softmax_row_by_bulk_copy(float *y, const float *x, int cols) {
    // y and x are (rows, cols); a block a row
    extern __shared__ float4 held[];  // (cols / 4)
    float *const row = reinterpret_cast<float *>(held);  // (cols)
    __shared__ float max_of_warp[32], sum_of_warp[32];
    __shared__ uint64_t has_come;
    const uint32_t bytes = cols * sizeof(float);
    x += static_cast<size_t>(blockIdx.x) * cols;
    y += static_cast<size_t>(blockIdx.x) * cols;

    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&has_come, 1);
        ptx::fence_proxy_async(ptx::space_shared);  // the copy sees the mbarrier
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &has_come, bytes);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, row, x, bytes, &has_come);
    }
    __syncthreads();  // the other threads know the mbarrier
    while (!ptx::mbarrier_try_wait_parity(&has_come, 0)) {
    }

    float max = -INFINITY;
    for (int col = threadIdx.x; col < cols; col += THREADS) {
        max = row[col] > max || isnan(row[col]) ? row[col] : max;
    }
    max = combined<THREADS>(max, max_of_warp, [](float a, float b) { return isnan(a) || a > b ? a : b; });
    float sum = 0;
    for (int col = threadIdx.x; col < cols; col += THREADS) {
        row[col] = expf(row[col] - max);
        sum += row[col];
    }
    sum = combined<THREADS>(sum, sum_of_warp, [](float a, float b) { return a + b; });
    const float scale = 1.0f / sum;
    for (int col = threadIdx.x; col < cols; col += THREADS) {
        row[col] *= scale;
    }

    ptx::fence_proxy_async(ptx::space_shared);  // the copy sees what this thread has written
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y, row, bytes);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}
