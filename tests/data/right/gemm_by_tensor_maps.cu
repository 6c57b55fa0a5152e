// C = A B + C0 + bias by TMA and wgmma: one thread brings boxes of A and B by tensor maps, a warpgroup multiplies them.
//
// A box is 64 rows of 128 bytes, and TMA swizzles it as the tensor cores read it: the 16-byte pieces of a row are exchanged by the
// row's number modulo 8. Beyond a matrix's edges it brings zeros. There is room for two boxes of each factor; an mbarrier counts
// the bytes that have come to a stage, another the warps whose products are over. Both factors are read by the async proxy that
// also wrote them, so no fence is needed. The driver makes the maps, on the host; rows begin at 16 bytes.
//
// /// kernel
// op       = "gemm"
// axes     = { batch = "1..65535", m = "1..4194240", n = { min = 8, max = 1048576, multiple = 8 }, k = { min = 8, max = 1048576, multiple = 8 } }
// arrays   = { a = "f16[batch, m, k] -> a", b = "f16[batch, k, n] -> b", c0 = "f32[batch, m, n] -> c0", bias = "f32[n] -> bias", c = "f32[batch, m, n] <- c" }
// scalars  = { alpha = 1, beta = 1 }
// accuracy = { form = "bias last", adds = "k", accumulate = "mma" }
// host     = { entry = "gemm", home = { batch = 1, m = 128, n = 128, k = 256 } }
// ///

#include <cuda.h>
#include <cuda/ptx>
#include <cuda_fp16.h>

namespace ptx = cuda::ptx;

constexpr int TILE = 64, STAGES = 2, MULTIPLIERS = 128;
constexpr int BYTES = TILE * TILE * sizeof(half);  // of a box

__device__ void wait(uint64_t *barrier, uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity(barrier, parity)) {
    }
}

// A box in shared memory from a row on: lines of 128 bytes, swizzled in groups of 8, which lie 1024 bytes apart.
__device__ uint64_t descriptor(const half *start) {
    const uint64_t address = __cvta_generic_to_shared(start);
    return (address & 0x3ffff) >> 4 | uint64_t{1} << 16 | uint64_t{1024 >> 4} << 32 | uint64_t{1} << 62;
}

// d += a b, 64 x 64 x 16; b lies by rows of k.
__device__ void multiply(float (&d)[32], uint64_t a, uint64_t b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 1;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
          "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
        : "l"(a), "l"(b)
        : "memory");
}

__global__ void __launch_bounds__(MULTIPLIERS + 32) gemm_of_boxes(float *c, const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                                                                  const float *c0, const float *bias, int m, int n, int k) {
    // c and c0 are (batch, m, n), a is a map of (batch, m, k), b of (batch, k, n), bias is (n); a block a tile of c
    __shared__ alignas(1024) half tile_a[STAGES][TILE][TILE];
    __shared__ alignas(1024) half tile_b[STAGES][TILE][TILE];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    const int batch = blockIdx.z, first_row = blockIdx.y * TILE, first_col = blockIdx.x * TILE;

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; stage++) {
            ptx::mbarrier_init(&full[stage], 1);
            ptx::mbarrier_init(&empty[stage], MULTIPLIERS / 32);
        }
        ptx::fence_proxy_async(ptx::space_shared);  // the copies see the mbarriers
    }
    __syncthreads();  // the other threads know them

    if (threadIdx.x >= MULTIPLIERS) {
        for (int start = 0, round = 0; threadIdx.x == MULTIPLIERS && start < k; start += TILE, round++) {
            const int stage = round % STAGES;
            const int32_t corner_a[3] = {start, first_row, batch}, corner_b[3] = {first_col, start, batch};
            wait(&empty[stage], round / STAGES % 2 ^ 1);  // the phase before the first one is over: a stage is empty at first
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[stage], 2 * BYTES);
            ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile_a[stage], &a, corner_a, &full[stage]);
            ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile_b[stage], &b, corner_b, &full[stage]);
        }
        return;
    }

    float d[32] = {};
    for (int start = 0, round = 0; start < k; start += TILE, round++) {
        const int stage = round % STAGES;
        wait(&full[stage], round / STAGES % 2);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int step = 0; step < TILE; step += 16) {
            multiply(d, descriptor(&tile_a[stage][0][step]), descriptor(tile_b[stage][step]));
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        if (threadIdx.x % 32 == 0) {
            ptx::mbarrier_arrive(&empty[stage]);
        }
    }

    for (int i = 0; i < 32; i++) {  // a thread has two neighbours of each eight columns, in a row and eight rows below
        const int row = first_row + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + i / 2 % 2 * 8;
        const int col = first_col + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
        if (row < m && col < n) {
            const size_t place = (static_cast<size_t>(batch) * m + row) * n + col;
            c[place] = (d[i] + c0[place]) + bias[col];
        }
    }
}

// A map of matrices of (batch, rows, cols), in boxes; false if the driver refuses it.
bool make_map(CUtensorMap *map, const half *array, int64_t batch, int64_t rows, int64_t cols) {
    void *encode = nullptr;
    cudaDriverEntryPointQueryResult found;
    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found) != cudaSuccess) {
        return false;
    }
    const cuuint64_t sizes[3] = {static_cast<cuuint64_t>(cols), static_cast<cuuint64_t>(rows), static_cast<cuuint64_t>(batch)};
    const cuuint64_t strides[2] = {cols * sizeof(half), rows * cols * sizeof(half)};
    const cuuint32_t box[3] = {TILE, TILE, 1}, steps[3] = {1, 1, 1};
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
               map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3, const_cast<half *>(array), sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
               CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

void gemm(float *c, const half *a, const half *b, const float *c0, const float *bias, int64_t batch, int64_t m, int64_t n, int64_t k) {
    alignas(64) CUtensorMap of_a, of_b;
    if (!make_map(&of_a, a, batch, m, k) || !make_map(&of_b, b, batch, k, n)) {
        return;
    }
    const dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE, batch);
    gemm_of_boxes<<<grid, MULTIPLIERS + 32>>>(c, of_a, of_b, c0, bias, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k));
}
