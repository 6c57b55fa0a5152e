// C = A B + C0 + bias by tcgen05.mma: products of halves, sums of floats in tensor memory; a tile of 128 x 64.
//
// Four warps write tiles of A and B into one of two stages, and one thread multiplies from there while they write the other. An
// mbarrier for each stage says that the products that read it are over; one more, that all are. Then each warp reads the sums of
// its 32 rows. For nvcc: -arch=sm_100a. How these tensor cores add is not measured: the claim takes them for Hopper's.
//
// /// kernel
// op       = "gemm"
// axes     = { batch = "1..65535", m = "1..8388480", n = "1..1048576", k = "1..1048576" }  # grid y: 65535 tiles
// arrays   = { a = "f16[batch, m, k] -> a", b = "f16[batch, k, n] -> b", c0 = "f32[batch, m, n] -> c0", bias = "f32[n] -> bias", c = "f32[batch, m, n] <- c" }
// scalars  = { alpha = 1, beta = 1 }
// accuracy = { form = "bias last", adds = "k", accumulate = "mma" }
// launch   = [{ entry = "gemm_tcgen05", grid = "ceil_div(n, 64), ceil_div(m, 128), batch", block = "128" }]
// ///

#include <cstdint>

#include <cuda_fp16.h>

constexpr int ROWS = 128, COLS = 64, DEPTH = 32, STAGES = 2, THREADS = 128, LINE = 8;  // halves of 16 bytes

struct Stage {
    half a[DEPTH / LINE][ROWS][LINE];  // [step along k / 8][row of c][step % 8]
    half b[COLS / LINE][DEPTH][LINE];  // [column of c / 8][step along k][column % 8]
};

__device__ uint32_t address_of(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

// A matrix in shared memory, without a swizzle: the bytes from 8 lines to the next 8 along k, and along m or n.
__device__ uint64_t descriptor(const half *start, uint64_t leading, uint64_t stride) {
    return (address_of(start) & 0x3ffff) >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | uint64_t{1} << 46;
}

// c += a b, 128 x 64 x 16; b lies by rows of k.
__device__ void multiply(uint32_t c, uint64_t a, uint64_t b, int adds) {
    constexpr uint32_t shape = 1u << 4 | 1u << 16 | COLS / 8 << 17 | ROWS / 16 << 24;  // sums of floats; B is transposed
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }" ::"r"(c), "l"(a), "l"(b),
                 "r"(shape), "r"(adds)
                 : "memory");
}

// The barrier has an arrival when all products until now are over.
__device__ void commit(uint64_t *barrier) {
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(address_of(barrier)) : "memory");
}

__device__ void wait(uint64_t *barrier, int parity) {
    asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN;\n}\n" ::"r"(address_of(barrier)),
                 "r"(parity)
                 : "memory");
}

__global__ void __launch_bounds__(THREADS) gemm_tcgen05(float *c, const half *a, const half *b, const float *c0, const float *bias, int m,
                                                        int n, int k) {
    // c and c0 are (batch, m, n), a is (batch, m, k), b is (batch, k, n), bias is (n); four warps a tile of c
    __shared__ alignas(128) Stage stages[STAGES];
    __shared__ uint64_t is_free[STAGES], over;
    __shared__ uint32_t sums;
    const int thread = threadIdx.x, warp = thread / 32;
    const size_t batch = blockIdx.z;
    const int first_row = blockIdx.y * ROWS, first_col = blockIdx.x * COLS;
    a += batch * m * k;
    b += batch * k * n;

    if (warp == 0) asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(address_of(&sums)), "r"(COLS) : "memory");
    if (thread == 0) {
        for (uint64_t *one : {&is_free[0], &is_free[1], &over})
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address_of(one)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");

    const int tiles = (k + DEPTH - 1) / DEPTH;
    for (int tile = 0; tile < tiles; tile++) {
        Stage &stage = stages[tile % STAGES];
        if (tile >= STAGES) wait(&is_free[tile % STAGES], tile / STAGES - 1 & 1);
        for (int i = thread; i < ROWS * DEPTH; i += THREADS) {
            const int row = i / DEPTH, step = i % DEPTH, x = tile * DEPTH + step;
            const bool is_inside = first_row + row < m && x < k;
            stage.a[step / LINE][row][step % LINE] = is_inside ? a[static_cast<size_t>(first_row + row) * k + x] : half(0.0f);
        }
        for (int i = thread; i < DEPTH * COLS; i += THREADS) {
            const int step = i / COLS, col = i % COLS, x = tile * DEPTH + step;
            const bool is_inside = x < k && first_col + col < n;
            stage.b[col / LINE][step][col % LINE] = is_inside ? b[static_cast<size_t>(x) * n + first_col + col] : half(0.0f);
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // the tensor cores see what this thread has written
        __syncthreads();
        if (thread == 0) {
            for (int step = 0; step < DEPTH; step += 16) {
                const uint64_t of_a = descriptor(&stage.a[step / LINE][0][0], sizeof stage.a[0], 128);
                const uint64_t of_b = descriptor(&stage.b[0][step][0], 128, sizeof stage.b[0]);
                multiply(sums, of_a, of_b, tile + step > 0);
            }
            commit(&is_free[tile % STAGES]);
            if (tile == tiles - 1) commit(&over);
        }
    }

    wait(&over, 0);
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    const int row = first_row + thread;
    for (int start = 0; start < COLS; start += 8) {
        float d[8];
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                     : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7])
                     : "r"(sums + (warp * 32 << 16) + start));
        asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
        for (int i = 0; i < 8; i++) {
            const int col = first_col + start + i;
            if (row >= m || col >= n) continue;
            const size_t place = (batch * m + row) * n + col;
            c[place] = (d[i] + c0[place]) + bias[col];
        }
    }
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
    if (warp == 0) {
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(sums), "r"(COLS));
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    }
}
