// Softmax of eight rows by a block: boxes of a tensor map (TMA) bring the rows, others take the results away.
//
// A tensor map says where an array lies and how long its axes are. A GPU since Hopper copies boxes of it by itself, and knows the
// array's edges: what lies beyond them is read as zeros and not written, so the last block and the last box need no code of their
// own. Boxes are 8 rows by 64 columns and lie one after the other in shared memory; an mbarrier that counts bytes says when all
// have come. A warp takes a row. The threads write their results over the boxes; a fence makes them visible to the copies (the
// async proxy), a barrier says that all have written, and the block ends when the copies have read them. The driver makes the maps,
// on the host; rows begin at 16 bytes.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = { min = 4, max = 4096, multiple = 4 } }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// values = { nan = "row", pos_inf = "row" }
//
// [accuracy]  # a lane's elements, the lanes of a warp
// adds     = "ceil_div(cols, 32) + 5"
// rescales = 0
// exp      = "expf"
// divide   = "reciprocal"
//
// [host]
// entry = "softmax_rows"
// home  = { rows = 64, cols = 1024 }
// ///

#include <cuda.h>
#include <cuda/ptx>

namespace ptx = cuda::ptx;

constexpr int ROWS = 8, COLUMNS = 64, THREADS = 32 * ROWS;  // of a box
constexpr int BYTES = ROWS * COLUMNS * sizeof(float);

template <class Combine>
__device__ float combined(float value, Combine combine) {
    // all 32 lanes take part; every lane ends with the result
    for (int apart = 16; apart > 0; apart /= 2) {
        value = combine(value, __shfl_xor_sync(~0u, value, apart));
    }
    return value;
}

__global__ void __launch_bounds__(THREADS) softmax_boxes(const __grid_constant__ CUtensorMap to, const __grid_constant__ CUtensorMap from, int cols) {
    // to and from are maps of (rows, cols); a warp a row
    extern __shared__ __align__(128) float held[];  // (boxes, ROWS, COLUMNS)
    __shared__ uint64_t has_come;
    const int boxes = (cols + COLUMNS - 1) / COLUMNS, lane = threadIdx.x % 32;
    const int first_row = blockIdx.x * ROWS;
    const auto element = [&](int col) -> float & { return held[(col / COLUMNS * ROWS + threadIdx.x / 32) * COLUMNS + col % COLUMNS]; };

    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&has_come, 1);
        ptx::fence_proxy_async(ptx::space_shared);  // the copies see the mbarrier
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &has_come, boxes * BYTES);
        for (int box = 0; box < boxes; box++) {
            const int32_t corner[2] = {box * COLUMNS, first_row};
            ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, held + box * ROWS * COLUMNS, &from, corner, &has_come);
        }
    }
    __syncthreads();  // the other threads know the mbarrier
    while (!ptx::mbarrier_try_wait_parity(&has_come, 0)) {
    }

    float max = -INFINITY;
    for (int col = lane; col < cols; col += 32) {
        max = element(col) > max || isnan(element(col)) ? element(col) : max;
    }
    max = combined(max, [](float a, float b) { return isnan(a) || a > b ? a : b; });
    float sum = 0;
    for (int col = lane; col < cols; col += 32) {
        element(col) = expf(element(col) - max);
        sum += element(col);
    }
    const float scale = 1.0f / combined(sum, [](float a, float b) { return a + b; });
    for (int col = lane; col < cols; col += 32) {
        element(col) *= scale;
    }

    ptx::fence_proxy_async(ptx::space_shared);  // the copies see what this thread has written
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int box = 0; box < boxes; box++) {
            const int32_t corner[2] = {box * COLUMNS, first_row};
            ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &to, corner, held + box * ROWS * COLUMNS);
        }
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}

// A map of an array of (rows, cols), in boxes; false if the driver refuses it.
bool make_map(CUtensorMap *map, const float *array, int64_t rows, int64_t cols) {
    void *encode = nullptr;
    cudaDriverEntryPointQueryResult found;
    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found) != cudaSuccess) {
        return false;
    }
    const cuuint64_t sizes[2] = {static_cast<cuuint64_t>(cols), static_cast<cuuint64_t>(rows)}, strides[1] = {cols * sizeof(float)};
    const cuuint32_t box[2] = {COLUMNS, ROWS}, steps[2] = {1, 1};
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
               map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, const_cast<float *>(array), sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
               CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

void softmax_rows(float *y, const float *x, int64_t rows, int64_t cols) {
    alignas(64) CUtensorMap to, from;
    const int shared = (cols + COLUMNS - 1) / COLUMNS * BYTES;
    if (!make_map(&to, y, rows, cols) || !make_map(&from, x, rows, cols)) {
        return;
    }
    cudaFuncSetAttribute(softmax_boxes, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    softmax_boxes<<<(rows + ROWS - 1) / ROWS, THREADS, shared>>>(to, from, static_cast<int>(cols));
}
