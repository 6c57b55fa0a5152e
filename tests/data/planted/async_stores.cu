// Programs of one page: stores whose bytes an mbarrier counts (st.async), copies that arrive (cp.async.mbarrier.arrive), and a
// tensor map with replaced fields. Arguments and answers as in bulk_copies.cu. For nvcc: -std=c++17 -gencode arch=compute_90a,code=sm_90a.
#include "named_cases.h"

#define INLINE __device__ __forceinline__

constexpr int threads = 128;
INLINE uint32_t at(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
INLINE void init(uint64_t *barrier, int count) { asm volatile("mbarrier.init.shared.b64 [%0], %1; fence.mbarrier_init.release.cluster;" ::"r"(at(barrier)), "r"(count) : "memory"); }
INLINE void arrive(uint64_t *barrier) { asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at(barrier)) : "memory"); }
INLINE void expect(uint64_t *barrier, int bytes) { asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1; }" ::"r"(at(barrier)), "r"(bytes) : "memory"); }
INLINE void wait(uint64_t *barrier) {
  asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0; @!p bra again; }" ::"r"(at(barrier)) : "memory");
}
INLINE void cluster_sync() { asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory"); }
INLINE uint32_t in_block(uint32_t address, int rank) {
  uint32_t made;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(made) : "r"(address), "r"(rank));
  return made;
}

// The first block of a cluster stores words of each size into the second one.
template <bool waits>
__global__ void __cluster_dims__(2) stores(int *y) {
  __shared__ alignas(16) int box[7 * threads];
  __shared__ uint64_t full;
  const int t = threadIdx.x;
  if (t == 0) init(&full, 1);
  cluster_sync();
  if (blockIdx.x == 0) {
    uint32_t to = in_block(at(box), 1), barrier = in_block(at(&full), 1);
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to + 16 * t), "r"(t), "r"(t + 1), "r"(t + 2), "r"(t + 3), "r"(barrier) : "memory");
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(to + 16 * threads + 8 * t), "l"(static_cast<uint64_t>(t) << 32 | 7), "r"(barrier) : "memory");
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(to + 24 * threads + 4 * t), "r"(9 * t), "r"(barrier) : "memory");
  } else {
    if (t == 0) expect(&full, sizeof box);
    if (waits) wait(&full);
    for (int i = t; i < 7 * threads; i += threads) y[i] = box[(i + 4) % (7 * threads)];  //~ error: race if stored_async
  }
  cluster_sync();
}
bool stored_async(bool wrong) {
  int *device, host[7 * threads];
  CHECK(cudaMalloc(&device, sizeof host));
  if (wrong) stores<false><<<2, threads>>>(device);
  else stores<true><<<2, threads>>>(device);
  CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device));
  bool right = true;
  for (int i = 0; i < 7 * threads; i++) {
    int from = (i + 4) % (7 * threads), part = from / threads;
    int wanted = part < 4 ? from / 4 + from % 4 : part < 6 ? (from % 2 ? (from - 4 * threads) / 2 : 7) : 9 * (from - 6 * threads);
    right &= host[i] == wanted;
  }
  return right;
}

// Copies that arrive when they have landed: instead of their thread, or beside its own arrival. A thread reads another's.
template <bool counts, bool waits>
__global__ void copies(int *y, const int *x) {
  __shared__ alignas(16) int box[4 * threads];
  __shared__ uint64_t full;
  const int t = threadIdx.x;
  if (t == 0) init(&full, threads);
  __syncthreads();
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at(box + 4 * t)), "l"(x + 4 * t) : "memory");
  if (counts) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(at(&full)) : "memory");
  } else {
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(at(&full)) : "memory");
    arrive(&full);
  }
  if (waits) wait(&full);
  for (int i = 0; i < 4; i++) y[4 * t + i] = box[4 * (threads - 1 - t) + i];  //~ error: race if copies_that_arrive
}
template <bool counts>
bool arrives(bool wrong) {
  int *x, *y, host[4 * threads];
  for (int i = 0; i < 4 * threads; i++) host[i] = i * i;
  CHECK(cudaMalloc(&x, sizeof host));
  CHECK(cudaMalloc(&y, sizeof host));
  CHECK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
  if (wrong) copies<counts, false><<<1, threads>>>(y, x);
  else copies<counts, true><<<1, threads>>>(y, x);
  CHECK(cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
  bool right = true;
  for (int i = 0; i < 4 * threads; i++) right &= host[i] == (4 * (threads - 1 - i / 4) + i % 4) * (4 * (threads - 1 - i / 4) + i % 4);
  return right;
}
bool copies_that_arrive(bool wrong) { return arrives<true>(wrong); }
bool copies_beside_an_arrival(bool wrong) { return arrives<false>(wrong); }

// A map of one array becomes that of another, which is smaller: a warp replaces its fields in shared memory and publishes it.
constexpr int width = 16, height = 8;
template <bool fences, int words>
__global__ void replaced(const __grid_constant__ CUtensorMap map, CUtensorMap *there, const int *array, int *y) {
  __shared__ alignas(128) CUtensorMap own;
  __shared__ alignas(128) int box[width * height];
  __shared__ uint64_t full;
  const int t = threadIdx.x;
  if (t == 0) {
    init(&full, 1);
    for (int i = 0; i < words; i++) reinterpret_cast<uint64_t *>(&own)[i] = reinterpret_cast<const uint64_t *>(&map)[i];
    asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(at(&own)), "l"(array) : "memory");  //~ error: tensor-map if half_a_map_replaced
    asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(at(&own)), "r"(height - 2) : "memory");
    asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %1;" ::"r"(at(&own)), "l"(uint64_t{2 * width * sizeof(int)}) : "memory");
  }
  __syncthreads();
  if (t < 32) asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(there), "r"(at(&own)) : "memory");
  __syncthreads();
  if (t == 0) {
    if (fences) asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(there) : "memory");
    expect(&full, sizeof box);
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(at(box)), "l"(there), "r"(0), "r"(0), "r"(at(&full)) : "memory");  //~ error: missing-proxy-fence if map_replaced
  }
  wait(&full);
  for (int i = t; i < width * height; i += threads) y[i] = box[i];
}
bool is_replaced(void (*kernel)(CUtensorMap, CUtensorMap *, const int *, int *)) {
  int *first, *second, *y, host[2 * width * height];
  CUtensorMap *there;
  for (int i = 0; i < 2 * width * height; i++) host[i] = i + 1;
  CHECK(cudaMalloc(&first, sizeof host));
  CHECK(cudaMalloc(&second, sizeof host));
  CHECK(cudaMalloc(&y, width * height * sizeof *y));
  CHECK(cudaMalloc(&there, sizeof *there));
  CHECK(cudaMemcpy(second, host, sizeof host, cudaMemcpyHostToDevice));
  void *function = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found));
  alignas(64) CUtensorMap map;
  const uint64_t sizes[] = {width, height}, strides[] = {width * sizeof(int)};
  const uint32_t box[] = {width, height}, steps[] = {1, 1};
  reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function)(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, first, reinterpret_cast<const cuuint64_t *>(sizes), reinterpret_cast<const cuuint64_t *>(strides), box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  kernel<<<1, threads>>>(map, there, second, y);
  CHECK(cudaMemcpy(host, y, width * height * sizeof *y, cudaMemcpyDeviceToHost));
  for (void *one : {static_cast<void *>(first), static_cast<void *>(second), static_cast<void *>(y), static_cast<void *>(there)}) CHECK(cudaFree(one));
  bool right = true;
  for (int i = 0; i < width * height; i++) right &= host[i] == (i / width < height - 2 ? i / width * 2 * width + i % width + 1 : 0);
  return right;
}
bool map_replaced(bool wrong) { return is_replaced(wrong ? replaced<false, 16> : replaced<true, 16>); }
// A GPU keeps all of a map in its first half.
bool half_a_map_replaced(bool wrong) { return is_replaced(wrong ? replaced<true, 6> : replaced<true, 8>); }

#define CASE(name, has_twin) {#name, name}
const Judged cases[] = {CASE(stored_async, 1), CASE(copies_that_arrive, 1), CASE(copies_beside_an_arrival, 0), CASE(map_replaced, 1), CASE(half_a_map_replaced, 1)};

int main(int argc, char **argv) { run_named(argc, argv, cases, run_judged); }
