// One sum of products for each case, by mma.sync or by wgmma: element (0, 0) of D = A B + C, where row 0 of A and column 0
// of B hold the case's factors, and all else is 0. One instruction takes 32 bytes of factors, of any type. A program of its
// own: wgmma needs sm_90a.
//
//   gpu_hopper_tensor_cores UNIT < cases > sums      cases: count, then a[count][32], b[count][32] bytes, c[count] words
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int BYTES = 32;

#define MMA_F32(NAME, SHAPE, A, B)                                                                                             \
    struct NAME {                                                                                                       \
        static __device__ void add(uint32_t *d, const uint32_t *a, const uint32_t *b) {                                 \
            float *s = reinterpret_cast<float *>(d);                                                                    \
            asm volatile("mma.sync.aligned." SHAPE ".row.col.f32." A "." B ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, " \
                         "{%0,%1,%2,%3};"                                                                               \
                         : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])                                               \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                           \
        }                                                                                                               \
        static constexpr bool is_group = false;                                                                         \
    };
MMA_F32(MmaE4m3, "m16n8k32", "e4m3", "e4m3")
MMA_F32(MmaE5m2, "m16n8k32", "e5m2", "e5m2")
MMA_F32(MmaE4m3E5m2, "m16n8k32", "e4m3", "e5m2")
MMA_F32(MmaE5m2E4m3, "m16n8k32", "e5m2", "e4m3")
MMA_F32(MmaF16, "m16n8k16", "f16", "f16")
MMA_F32(MmaBf16, "m16n8k16", "bf16", "bf16")
MMA_F32(MmaTf32, "m16n8k8", "tf32", "tf32")

struct MmaS8 {
    static __device__ void add(uint32_t *d, const uint32_t *a, const uint32_t *b) {
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
    static constexpr bool is_group = false;
};

#ifdef WITH_F16_SUMS
struct MmaE4m3F16 {
    static __device__ void add(uint32_t *d, const uint32_t *a, const uint32_t *b) {
        asm volatile("mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
                     : "+r"(d[0]), "+r"(d[1])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
    static constexpr bool is_group = false;
};
#endif

#define WGMMA_F32(NAME, SHAPE, A, B, MORE)                                                                                           \
    struct NAME {                                                                                                       \
        static __device__ void add(uint32_t *d, const uint32_t *a, uint64_t b) {                                        \
            float *s = reinterpret_cast<float *>(d);                                                                    \
            asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0;\n"                                                        \
                         "wgmma.mma_async.sync.aligned." SHAPE ".f32." A "." B " {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, p, 1, 1" MORE ";}" \
                         : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])                                               \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                                         \
        }                                                                                                               \
        static constexpr bool is_group = true;                                                                          \
    };
WGMMA_F32(WgmmaE4m3, "m64n8k32", "e4m3", "e4m3", "")
WGMMA_F32(WgmmaE5m2, "m64n8k32", "e5m2", "e5m2", "")
WGMMA_F32(WgmmaE4m3E5m2, "m64n8k32", "e4m3", "e5m2", "")
WGMMA_F32(WgmmaE5m2E4m3, "m64n8k32", "e5m2", "e4m3", "")

WGMMA_F32(WgmmaF16, "m64n8k16", "f16", "f16", ", 0")  // B by k
WGMMA_F32(WgmmaBf16, "m64n8k16", "bf16", "bf16", ", 0")
WGMMA_F32(WgmmaTf32, "m64n8k8", "tf32", "tf32", "")

struct WgmmaF16F16 {
    static __device__ void add(uint32_t *d, const uint32_t *a, uint64_t b) {
        asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0;\n"
                     "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, %6, p, 1, 1, 0;}"
                     : "+r"(d[0]), "+r"(d[1])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
    }
    static constexpr bool is_group = true;
};

struct WgmmaE4m3F16 {
    static __device__ void add(uint32_t *d, const uint32_t *a, uint64_t b) {
        asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0;\n"
                     "wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e4m3 {%0,%1}, {%2,%3,%4,%5}, %6, p, 1, 1;}"
                     : "+r"(d[0]), "+r"(d[1])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
    }
    static constexpr bool is_group = true;
};

struct WgmmaS8 {
    static __device__ void add(uint32_t *d, const uint32_t *a, uint64_t b) {
        asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0;\n"
                     "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, p;}"
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
    }
    static constexpr bool is_group = true;
};

// 8 columns of 32 bytes without a swizzle: two core matrices of 8 rows of 16 bytes, 128 bytes apart.
__device__ uint64_t descriptor_of(const void *shared) {
    uint64_t address = __cvta_generic_to_shared(shared);
    return (address >> 4 & 0x3fff) | uint64_t{128 >> 4} << 16 | uint64_t{128 >> 4} << 32;
}

// a, b (cases, 32) codes; c, d (cases) words. A warp a case, or for wgmma four warps: row 0 lies in the first one.
template <class Unit>
__global__ void sums_of_products(uint32_t *d, const uint8_t *a, const uint8_t *b, const uint32_t *c) {
    __shared__ __align__(128) uint8_t columns[2 * 128];
    const uint8_t *left = a + size_t{blockIdx.x} * BYTES, *right = b + size_t{blockIdx.x} * BYTES;
    const int lane = threadIdx.x % 32;
    const bool has_row = threadIdx.x < 4;  // row 0 belongs to lanes 0 to 3 of the first warp, column 0 to lanes 0 to 3
    uint32_t rows[4] = {0, 0, 0, 0}, cols[2] = {0, 0}, sums[4] = {0, 0, 0, 0};
    if (has_row) {
        memcpy(&rows[0], left + 4 * lane, 4);
        memcpy(&rows[2], left + 16 + 4 * lane, 4);
    }
    if (threadIdx.x == 0) sums[0] = c[blockIdx.x];
    if constexpr (Unit::is_group) {
        for (int i = threadIdx.x; i < 2 * 128; i += blockDim.x) columns[i] = 0;
        __syncthreads();
        if (threadIdx.x < BYTES) columns[threadIdx.x / 16 * 128 + threadIdx.x % 16] = right[threadIdx.x];  // column 0
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        Unit::add(sums, rows, descriptor_of(columns));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    } else {
        if (lane < 4) {
            memcpy(&cols[0], right + 4 * lane, 4);
            memcpy(&cols[1], right + 16 + 4 * lane, 4);
        }
        Unit::add(sums, rows, cols);
    }
    if (threadIdx.x == 0) d[blockIdx.x] = sums[0];
}

static void check(cudaError_t error) {
    if (error != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(error));
        exit(1);
    }
}

template <class T>
static T *on_gpu(const std::vector<T> &held) {
    T *made;
    check(cudaMalloc(&made, held.size() * sizeof(T)));
    check(cudaMemcpy(made, held.data(), held.size() * sizeof(T), cudaMemcpyHostToDevice));
    return made;
}

template <class Unit>
static void run(uint32_t *d, const uint8_t *a, const uint8_t *b, const uint32_t *c, uint32_t count) {
    sums_of_products<Unit><<<count, Unit::is_group ? 128 : 32>>>(d, a, b, c);
}

int main(int, char **words) {
    uint32_t count;
    if (fread(&count, 4, 1, stdin) != 1) return 2;
    std::vector<uint8_t> a(size_t{count} * BYTES), b(size_t{count} * BYTES);
    std::vector<uint32_t> c(count), d(count);
    if (fread(a.data(), 1, a.size(), stdin) != a.size() || fread(b.data(), 1, b.size(), stdin) != b.size()) return 2;
    if (fread(c.data(), 4, count, stdin) != count) return 2;
    uint8_t *left = on_gpu(a), *right = on_gpu(b);
    uint32_t *starts = on_gpu(c), *sums = on_gpu(d);
    struct {
        const char *name;
        void (*run)(uint32_t *, const uint8_t *, const uint8_t *, const uint32_t *, uint32_t);
    } const units[] = {
        {"mma e4m3 e4m3 f32", run<MmaE4m3>}, {"mma e5m2 e5m2 f32", run<MmaE5m2>}, {"mma e4m3 e5m2 f32", run<MmaE4m3E5m2>},
        {"mma e5m2 e4m3 f32", run<MmaE5m2E4m3>}, {"mma i8 i8 i32", run<MmaS8>},
#ifdef WITH_F16_SUMS
        {"mma e4m3 e4m3 f16", run<MmaE4m3F16>},
#endif
        {"mma f16 f16 f32", run<MmaF16>}, {"mma bf16 bf16 f32", run<MmaBf16>}, {"mma tf32 tf32 f32", run<MmaTf32>},
        {"wgmma f16 f16 f32", run<WgmmaF16>}, {"wgmma bf16 bf16 f32", run<WgmmaBf16>},
        {"wgmma tf32 tf32 f32", run<WgmmaTf32>}, {"wgmma f16 f16 f16", run<WgmmaF16F16>},
        {"wgmma e4m3 e4m3 f32", run<WgmmaE4m3>}, {"wgmma e5m2 e5m2 f32", run<WgmmaE5m2>},
        {"wgmma e4m3 e5m2 f32", run<WgmmaE4m3E5m2>}, {"wgmma e5m2 e4m3 f32", run<WgmmaE5m2E4m3>},
        {"wgmma e4m3 e4m3 f16", run<WgmmaE4m3F16>}, {"wgmma i8 i8 i32", run<WgmmaS8>},
    };
    for (const auto &unit : units) {
        if (strcmp(unit.name, words[1]) != 0) continue;
        unit.run(sums, left, right, starts, count);
        check(cudaGetLastError());
        check(cudaDeviceSynchronize());
        check(cudaMemcpy(d.data(), sums, size_t{count} * 4, cudaMemcpyDeviceToHost));
        fwrite(d.data(), 4, count, stdout);
        return 0;
    }
    fprintf(stderr, "no unit '%s'\n", words[1]);
    return 2;
}
