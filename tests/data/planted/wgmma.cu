// Programs of one page that multiply by warpgroups (wgmma). Arguments and answers as in bulk_copies.cu. Right cases cover types,
// swizzles, both orders of both factors, factors in registers, signs and sums that are not added to: boxes of tensors bring the
// factors, small integers, and the host multiplies too. For nvcc: -std=c++17 -gencode arch=compute_90a,code=sm_90a.
#include <cuda/barrier>
#include <cuda/ptx>

#include "named_cases.h"

namespace ptx = cuda::ptx;

constexpr int rows = 64, columns = 16, depth_bytes = 128, threads = 128;
enum Kind { f16, bf16, tf32, e4m3, s8, f16_sums };
enum Source { shared, registers };
enum Sums { added, replaced, negated };
__host__ __device__ constexpr int bytes_of(Kind kind) { return kind == tf32 ? 4 : kind == e4m3 || kind == s8 ? 1 : 2; }

// A factor: 128 bytes of k, in boxes as wide as the swizzle (16 bytes without one), along k or along m and n.
struct Factor {
  int span, lines, boxes;  // of a box: bytes along, and how many lines; boxes of one factor
  bool by_depth;
  __host__ __device__ int box_bytes() const { return span * lines; }
  __device__ int offset(int step, int element) const {  // of one instruction's part
    if (!by_depth) return step * (32 / element) * span;
    return span == 16 ? 2 * step * box_bytes() : 32 * step / span * box_bytes() + 32 * step % span;
  }
  __device__ uint64_t descriptor(const void *p) const {
    uint64_t leading = span == 16 && !by_depth ? 128 : box_bytes(), stride = span == 16 && !by_depth ? box_bytes() : 8 * span;
    uint64_t swizzle = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0, address = __cvta_generic_to_shared(p);
    return (address & 0x3ffff) >> 4 | (leading & 0x3ffff) >> 4 << 16 | (stride & 0x3ffff) >> 4 << 32 | swizzle << 62;
  }
};

__device__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int but>
__device__ void wait_group() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(but) : "memory"); }

#define ADDS_BY_10 "{ .reg .pred p; setp.ne.b32 p, %10, 0;\nwgmma.mma_async.sync.aligned.m64n16"
#define FROM_SHARED " {%0,%1,%2,%3,%4,%5,%6,%7}, %8, %9, p"
#define ADDS_BY_13 "{ .reg .pred p; setp.ne.b32 p, %13, 0;\nwgmma.mma_async.sync.aligned.m64n16"
#define FROM_REGISTERS " {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9,%10,%11}, %12, p"

template <Kind kind, int sign, int a_order, int b_order>
__device__ void multiply(float (&d)[8], uint64_t a, uint64_t b, int adds) {
  if constexpr (kind == f16)
    asm volatile(ADDS_BY_10 "k16.f32.f16.f16" FROM_SHARED ", %11, 1, %12, %13; }" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]) : "l"(a), "l"(b), "r"(adds), "n"(sign), "n"(a_order), "n"(b_order) : "memory");
  else if constexpr (kind == bf16)
    asm volatile(ADDS_BY_10 "k16.f32.bf16.bf16" FROM_SHARED ", 1, %11, %12, %13; }" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]) : "l"(a), "l"(b), "r"(adds), "n"(sign), "n"(a_order), "n"(b_order) : "memory");
  else if constexpr (kind == tf32)
    asm volatile(ADDS_BY_10 "k8.f32.tf32.tf32" FROM_SHARED ", %11, 1; }" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]) : "l"(a), "l"(b), "r"(adds), "n"(sign) : "memory");
  else if constexpr (kind == e4m3)
    asm volatile(ADDS_BY_10 "k32.f32.e4m3.e4m3" FROM_SHARED ", %11, 1; }" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]) : "l"(a), "l"(b), "r"(adds), "n"(sign) : "memory");
}
template <Kind kind, int sign>
__device__ void multiply(float (&d)[8], const uint32_t (&a)[4], uint64_t b, int adds) {
  if constexpr (kind == f16)
    asm volatile(ADDS_BY_13 "k16.f32.f16.f16" FROM_REGISTERS ", %14, 1, 0; }" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds), "n"(sign) : "memory");
  else if constexpr (kind == tf32)
    asm volatile(ADDS_BY_13 "k8.f32.tf32.tf32" FROM_REGISTERS ", %14, 1; }" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds), "n"(sign) : "memory");
  else if constexpr (kind == e4m3)
    asm volatile(ADDS_BY_13 "k32.f32.e4m3.e4m3" FROM_REGISTERS ", %14, 1; }" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds), "n"(sign) : "memory");
}
__device__ void multiply_integers(int (&d)[8], uint64_t a, uint64_t b, int adds) {
  asm volatile(ADDS_BY_10 "k32.s32.s8.s8" FROM_SHARED "; }" : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]) : "l"(a), "l"(b), "r"(adds) : "memory");
}
__device__ void multiply_halves(uint32_t (&d)[4], uint64_t a, uint64_t b, int adds) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0;\nwgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 {%0,%1,%2,%3}, %4, %5, p, 1, 1, 0, 0; }"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "l"(a), "l"(b), "r"(adds) : "memory");
}

__device__ void load_boxes(unsigned char *to, const CUtensorMap *map, const Factor &f, uint64_t *full) {
  for (int i = 0; i < f.boxes; i++) {
    const int32_t at[2] = {i * f.span, 0};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to + i * f.box_bytes(), map, at, full);
  }
}

// d (64, 16) = a (64, k) b (16, k) transposed; by the way of `sums`, twice that, or its negative.
template <Kind kind, Source source, Sums sums, int a_order, int b_order>
__global__ void product(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, Factor a, Factor b, const unsigned char *rows_of_a, float *out) {
  __shared__ alignas(1024) unsigned char a_tile[rows * depth_bytes], b_tile[columns * depth_bytes];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, (rows + columns) * depth_bytes);
    load_boxes(a_tile, &a_map, a, &full);
    load_boxes(b_tile, &b_map, b, &full);
  }
  while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}
  float d[8] = {};
  int integers[8] = {};
  uint32_t halves[4] = {};
  constexpr int steps = depth_bytes / 32, element = bytes_of(kind), sign = sums == negated ? -1 : 1;
  if (sums == replaced) for (float &one : d) one = 1e30f;
  uint32_t words[steps][4];  // of A: row t / 4 and eight below it, four lanes side by side
  const int top = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
  for (int step = 0; source == registers && step < steps; step++)
    for (int i = 0; i < 4; i++) memcpy(&words[step][i], rows_of_a + (top + i % 2 * 8) * depth_bytes + 32 * step + i / 2 * 16 + threadIdx.x % 4 * 4, 4);
  fence();
  for (int step = 0; step < steps; step++) {
    uint64_t of_a = a.descriptor(a_tile + a.offset(step, element)), of_b = b.descriptor(b_tile + b.offset(step, element));
    int adds = step > 0 || sums != replaced;
    if constexpr (kind == s8) multiply_integers(integers, of_a, of_b, adds);
    else if constexpr (kind == f16_sums) multiply_halves(halves, of_a, of_b, adds);
    else if constexpr (source == registers) multiply<kind, sign>(d, words[step], of_b, adds);
    else multiply<kind, sign, a_order, b_order>(d, of_a, of_b, adds);
    commit();
    if (step == 1) wait_group<1>();
  }
  wait_group<0>();
  for (int i = 0; i < 8; i++) {
    float sum = d[i];
    if (kind == s8) sum = static_cast<float>(integers[i]);
    if (kind == f16_sums) asm("cvt.f32.f16 %0, %1;" : "=f"(sum) : "h"(static_cast<uint16_t>(halves[i / 2] >> (i % 2 * 16))));
    out[(top + i / 2 % 2 * 8) * columns + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2] = sum;
  }
}

CUtensorMap map_of(unsigned char *array, const Factor &f, int line_bytes) {
  CUtensorMap map;
  cuuint64_t size[2] = {static_cast<cuuint64_t>(line_bytes), static_cast<cuuint64_t>(f.lines)}, stride[2] = {size[0], size[0] * size[1]};
  cuuint32_t box[2] = {static_cast<cuuint32_t>(f.span), static_cast<cuuint32_t>(f.lines)}, step[2] = {1, 1};
  CUtensorMapSwizzle swizzle = f.span == 128 ? CU_TENSOR_MAP_SWIZZLE_128B : f.span == 64 ? CU_TENSOR_MAP_SWIZZLE_64B : f.span == 32 ? CU_TENSOR_MAP_SWIZZLE_32B : CU_TENSOR_MAP_SWIZZLE_NONE;
  if (find_encode()(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, array, size, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                    CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)) printf("refused\n"), exit(1);
  return map;
}

// -3 to 3 in each type.
void put(unsigned char *to, Kind kind, int value) {
  const unsigned char sizes8[4] = {0, 0x38, 0x40, 0x44};
  const uint16_t sizes16[4] = {0, 0x3c00, 0x4000, 0x4200};
  float number = static_cast<float>(value);
  uint32_t bits;
  memcpy(&bits, &number, 4);
  uint32_t minus = value < 0;
  if (kind == s8) bits = static_cast<uint32_t>(value);
  if (kind == e4m3) bits = sizes8[abs(value)] | minus << 7;
  if (kind == f16 || kind == f16_sums) bits = sizes16[abs(value)] | minus << 15;
  if (kind == bf16) bits >>= 16;
  memcpy(to, &bits, bytes_of(kind));
}

using Product = void (*)(const CUtensorMap, const CUtensorMap, Factor, Factor, const unsigned char *, float *);
bool is_right(Product product, Kind kind, Sums sums, bool a_by_depth, bool b_by_depth, int a_span, int b_span) {
  const int element = bytes_of(kind), depth = depth_bytes / element;
  std::vector<int> a(rows * depth), b(columns * depth);
  std::vector<unsigned char> a_bytes(rows * depth_bytes), b_bytes(columns * depth_bytes);
  for (int k = 0; k < depth; k++) {
    for (int i = 0; i < rows; i++) put(&a_bytes[element * (a_by_depth ? i * depth + k : k * rows + i)], kind, a[i * depth + k] = (i * 5 + k * 3 + i * k) % 7 - 3);
    for (int j = 0; j < columns; j++) put(&b_bytes[element * (b_by_depth ? j * depth + k : k * columns + j)], kind, b[j * depth + k] = (j * 3 + k * 2 + j * k) % 5 - 2);
  }
  unsigned char *a_there, *b_there;
  float *out;
  CHECK(cudaMalloc(&a_there, a_bytes.size()));
  CHECK(cudaMalloc(&b_there, b_bytes.size()));
  CHECK(cudaMalloc(&out, rows * columns * sizeof *out));
  CHECK(cudaMemcpy(a_there, a_bytes.data(), a_bytes.size(), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(b_there, b_bytes.data(), b_bytes.size(), cudaMemcpyHostToDevice));
  int a_line = a_by_depth ? depth_bytes : rows * element, b_line = b_by_depth ? depth_bytes : columns * element;
  Factor fa = {a_span, a_by_depth ? rows : depth, a_line / a_span, a_by_depth}, fb = {b_span, b_by_depth ? columns : depth, b_line / b_span, b_by_depth};
  product<<<1, threads>>>(map_of(a_there, fa, a_line), map_of(b_there, fb, b_line), fa, fb, a_there, out);
  std::vector<float> got(rows * columns);
  CHECK(cudaMemcpy(got.data(), out, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(a_there)); CHECK(cudaFree(b_there)); CHECK(cudaFree(out));
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) {
      int sum = 0;
      for (int k = 0; k < depth; k++) sum += a[i * depth + k] * b[j * depth + k];
      if (got[i * columns + j] != static_cast<float>(sums == negated ? -sum : sum)) return false;
    }
  return true;
}
template <Kind kind, Source source = shared, Sums sums = added, bool a_by_depth = true, bool b_by_depth = true>
bool is_right(int a_span, int b_span) {
  return is_right(product<kind, source, sums, !a_by_depth, !b_by_depth>, kind, sums, a_by_depth, b_by_depth, a_span, b_span);
}

bool swizzles(bool) { return is_right<f16>(16, 16) && is_right<f16>(32, 128) && is_right<f16>(64, 32) && is_right<f16>(128, 64); }
bool by_rows_of_k(bool) {
  return is_right<f16, shared, added, false, false>(128, 32) && is_right<f16, shared, added, false, true>(64, 128) && is_right<bf16, shared, added, false, false>(32, 16) &&
         is_right<bf16, shared, added, true, false>(64, 16) && is_right<f16, shared, added, false, false>(16, 32);
}
bool types(bool) { return is_right<bf16>(128, 128) && is_right<tf32>(128, 64) && is_right<e4m3>(128, 32) && is_right<s8>(64, 128) && is_right<f16_sums>(128, 128); }
bool factors_in_registers(bool) { return is_right<f16, registers>(128, 128) && is_right<tf32, registers>(128, 128) && is_right<e4m3, registers>(128, 128); }
bool signs_and_starts(bool) { return is_right<f16, shared, replaced>(128, 128) && is_right<bf16, shared, negated>(128, 128) && is_right<f16, registers, negated>(128, 128); }

// Each of these has one bug: 64 x 8 sums of 16 products of ones and b, twice.
enum Bug { none, no_proxy_fence, no_barrier, sum_read_early, a_changed_early, no_fence, no_commit, overwritten_early, copied_over_early, stride_wrong, three_warps };
#define PRODUCT(d, a, b) asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, 1, 1, 1, 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b) : "memory")
template <Bug bug>
__global__ void two_products(float *out, const float *x) {
  __shared__ alignas(128) uint16_t b[128];
  __shared__ uint64_t full;
  float d[4] = {};
  uint32_t a[4];
  for (uint32_t &word : a) word = 0x3c003c00;
  if (threadIdx.x == 0) ptx::mbarrier_init(&full, 1);
  b[threadIdx.x] = 0x3c00;
  if (bug != no_proxy_fence) ptx::fence_proxy_async(ptx::space_shared);
  if (bug != no_barrier) __syncthreads();
  Factor f = {16, bug == stride_wrong ? 16 : 8, 2, true};
  if (bug != no_fence) fence();
  if (bug == three_warps && threadIdx.x >= 96) return;
  if (bug == no_proxy_fence) PRODUCT(d, a, f.descriptor(b));  //~ error: missing-proxy-fence if generic_write_then_wgmma_without_proxy_fence
  else if (bug == no_barrier) PRODUCT(d, a, f.descriptor(b));  //~ error: race if no_barrier_before_wgmma
  else if (bug == no_fence) PRODUCT(d, a, f.descriptor(b));  //~ warning: product-in-flight if no_wgmma_fence
  else if (bug == three_warps) PRODUCT(d, a, f.descriptor(b));  //~ error: divergent-barrier if three_warps_of_four
  else if (bug == stride_wrong) PRODUCT(d, a, f.descriptor(b));  //~ error: out-of-bounds if descriptor_stride_wrong
  else PRODUCT(d, a, f.descriptor(b));
  PRODUCT(d, a, f.descriptor(b));
  if (bug != no_commit) commit();
  if (bug == sum_read_early) d[0] += x[0];  //~ warning: product-in-flight if sum_read_before_wait_group
  if (bug == a_changed_early) a[0] = __float_as_uint(x[0]);  //~ warning: product-in-flight if a_registers_reused
  if (bug == overwritten_early) b[threadIdx.x] = 0;  //~ error: product-in-flight if shared_memory_overwritten
  if (bug == copied_over_early && threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, 256);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, b, x, 256, &full);  //~ error: product-in-flight if copied_over_before_wait_group
  }
  if (bug == copied_over_early) while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}
  wait_group<0>();
  if (bug == no_commit) d[1] += x[1];  //~ warning: product-in-flight if no_commit_group
  if (bug == a_changed_early) d[2] += __uint_as_float(a[0]);
  for (int i = 0; i < 4; i++) out[4 * threadIdx.x + i] = d[i];
}
template <Bug bug>
bool has_right_sums(bool wrong) {
  float *out, *x, got[512];
  CHECK(cudaMalloc(&out, sizeof got));
  CHECK(cudaMalloc(&x, 256));
  CHECK(cudaMemset(x, 0, 256));
  if (wrong) two_products<bug><<<1, threads>>>(out, x);
  else two_products<none><<<1, threads>>>(out, x);
  CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(out)); CHECK(cudaFree(x));
  for (float one : got)
    if (one != 32) return false;
  return true;
}

#define CASE(name, has_twin) {#name, name}
#define PAIR(name, bug) {#name, has_right_sums<bug>}
const Judged cases[] = {
    CASE(swizzles, 0), CASE(by_rows_of_k, 0), CASE(types, 0), CASE(factors_in_registers, 0), CASE(signs_and_starts, 0),
    PAIR(generic_write_then_wgmma_without_proxy_fence, no_proxy_fence), PAIR(no_barrier_before_wgmma, no_barrier), PAIR(no_wgmma_fence, no_fence),
    PAIR(three_warps_of_four, three_warps), PAIR(descriptor_stride_wrong, stride_wrong), PAIR(sum_read_before_wait_group, sum_read_early),
    PAIR(a_registers_reused, a_changed_early), PAIR(shared_memory_overwritten, overwritten_early), PAIR(copied_over_before_wait_group, copied_over_early),
    PAIR(no_commit_group, no_commit),
};

int main(int argc, char **argv) { run_named(argc, argv, cases, run_judged); }
