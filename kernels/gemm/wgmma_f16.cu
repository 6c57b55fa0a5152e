// C = A B + C0 + bias by the tensor cores of a warpgroup (wgmma): products of halves, sums of floats; a tile of 64 x 64.
//
// Four warps ask for a product of 64 x 64 x 16 together, and the tensor cores read both factors from shared memory, 64 deep: four
// products of one group. A descriptor says where the factors lie: in pieces of 8 lines of 16 bytes, one after the other. Those
// of A are 8 rows of 8 steps along k; those of B, which lies by rows of k, 8 steps of 8 columns, so that B is "transposed". Tiles
// are padded with zeros where they cross an edge. The threads write them as ordinary stores and so need a fence before the tensor
// cores read (the async proxy), and nothing else may be written before the group is over.
//
// /// kernel
// op      = "gemm"
// axes    = { batch = "1..65535", m = "1..4194240", n = "1..1048576", k = "1..1048576" }  # grid y: 65535 tiles
// arrays  = { a = "f16[batch, m, k] -> a", b = "f16[batch, k, n] -> b", c0 = "f32[batch, m, n] -> c0", bias = "f32[n] -> bias", c = "f32[batch, m, n] <- c" }
// scalars = { alpha = 1, beta = 1 }
// launch  = [{ grid = "ceil_div(n, 64), ceil_div(m, 64), batch", block = "128" }]
//
// [accuracy]
// form       = "bias last"
// adds       = "k"
// accumulate = "mma"
// ///

#include <cstdint>

#include <cuda_fp16.h>

constexpr int TILE = 64, THREADS = 128, LINE = 8;  // halves of 16 bytes

// A matrix in shared memory, without a swizzle: the bytes from 8 lines to the next 8 along k, and along m or n.
__device__ uint64_t descriptor(const half *start, uint64_t leading, uint64_t stride) {
    const uint64_t address = __cvta_generic_to_shared(start);
    return (address & 0x3ffff) >> 4 | leading >> 4 << 16 | stride >> 4 << 32;
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

__global__ void __launch_bounds__(THREADS) gemm_wgmma_f16(float *c, const half *a, const half *b, const float *c0, const float *bias,
                                                          int m, int n, int k) {
    // c and c0 are (batch, m, n), a is (batch, m, k), b is (batch, k, n), bias is (n); four warps a tile of c
    __shared__ alignas(128) half tile_a[TILE / LINE][TILE][LINE];  // [step along k / 8][row of c][step % 8]
    __shared__ alignas(128) half tile_b[TILE / LINE][TILE][LINE];  // [column of c / 8][step along k][column % 8]
    const size_t batch = blockIdx.z;
    const int first_row = blockIdx.y * TILE, first_col = blockIdx.x * TILE;
    a += batch * m * k;
    b += batch * k * n;

    float d[32] = {};
    for (int start = 0; start < k; start += TILE) {
        for (int i = threadIdx.x; i < TILE * TILE; i += THREADS) {
            const int line = i / TILE, place = i % TILE;  // a row of A, or a step along k; what is beside each other in memory
            const bool in_a = first_row + line < m && start + place < k, in_b = start + line < k && first_col + place < n;
            tile_a[place / LINE][line][place % LINE] = in_a ? a[static_cast<size_t>(first_row + line) * k + start + place] : half(0.0f);
            tile_b[place / LINE][line][place % LINE] = in_b ? b[static_cast<size_t>(start + line) * n + first_col + place] : half(0.0f);
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // the tensor cores see what this thread has written
        __syncthreads();
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int step = 0; step < TILE / 16; step++) {
            multiply(d, descriptor(&tile_a[2 * step][0][0], sizeof tile_a[0], 128), descriptor(&tile_b[0][16 * step][0], 128, sizeof tile_b[0]));
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();  // no warp overwrites what another one's product reads
    }

    for (int i = 0; i < 32; i++) {  // a thread has two neighbours of each eight columns, in a row and eight rows below
        const int row = first_row + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + i / 2 % 2 * 8;
        const int col = first_col + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
        if (row < m && col < n) {
            const size_t place = (batch * m + row) * n + col;
            c[place] = (d[i] + c0[place]) + bias[col];
        }
    }
}
