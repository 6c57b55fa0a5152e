// What PTX leaves open about the order of launches, copies and products, as a Hopper GPU does it:
//   nvcc -std=c++17 -gencode arch=compute_90a,code=sm_90a -o order benchmarks/tightness/gpu_hopper_order.cu && ./order
// Each line is a question and counts. Every wait ends by itself. Some kernels are wrong on purpose: they have the bug that the
// line asks for. What ptxas says of them is part of the answer.
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call) if (cudaError_t error = (call); error != cudaSuccess) { printf("line %d: %s\n", __LINE__, cudaGetErrorString(error)); exit(1); }
constexpr int blocks = 132, repeats = 2000;

__device__ uint32_t at(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ void sleep_for(long long ns) {
  long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - begin < ns);
}

// Early launches.
__global__ void writes_late(int *x, bool triggers, long long ns) {
  if (triggers) asm volatile("griddepcontrol.launch_dependents;");
  if (ns) sleep_for(ns);
  x[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
__global__ void triggers_and_never_waits() { asm volatile("griddepcontrol.launch_dependents;"); }
// How many elements are not written yet before the wait, and after it.
__global__ void reads(const int *x, unsigned *unwritten) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (x[i] == 0) atomicAdd(&unwritten[0], 1);
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (static_cast<const volatile int *>(x)[i] == 0) atomicAdd(&unwritten[1], 1);
}
template <class... Parameter, class... Argument>
void launch_early(int grid, int block, void (*kernel)(Parameter...), Argument... arguments) {
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid, config.blockDim = block, config.attrs = &early, config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, kernel, static_cast<Parameter>(arguments)...));
}
void early_launches(unsigned *counts) {
  int *x;
  CHECK(cudaMalloc(&x, 8 * blocks * 256 * sizeof *x));
  unsigned found[2], before_last[2] = {}, untriggered[2] = {};
  for (int i = 0; i < 50; i++) {
    CHECK(cudaMemset(x, 0, 32 * sizeof *x));
    CHECK(cudaMemset(counts, 0, sizeof found));
    CHECK(cudaDeviceSynchronize());
    writes_late<<<1, 32>>>(x, true, 2000000);
    launch_early(1, 32, triggers_and_never_waits);
    launch_early(1, 32, reads, x, counts);
    CHECK(cudaMemcpy(found, counts, sizeof found, cudaMemcpyDeviceToHost));
    for (int j = 0; j < 2; j++) before_last[j] += found[j];
  }
  printf("The kernel between triggers and never waits; of %d elements that the first kernel writes, the third finds unwritten: %u before its wait, %u after it\n",
         50 * 32, before_last[0], before_last[1]);
  for (int i = 0; i < repeats; i++) {
    CHECK(cudaMemset(x, 0, 8 * blocks * 256 * sizeof *x));
    CHECK(cudaMemset(counts, 0, sizeof found));
    writes_late<<<8 * blocks, 256>>>(x, false, 0);
    launch_early(8 * blocks, 256, reads, x, counts);
    CHECK(cudaMemcpy(found, counts, sizeof found, cudaMemcpyDeviceToHost));
    for (int j = 0; j < 2; j++) untriggered[j] += found[j];
  }
  printf("The kernel before never triggers; of %lld elements that it writes, the next finds unwritten: %u before its wait, %u after it\n",
         8ll * repeats * blocks * 256, untriggered[0], untriggered[1]);
  CHECK(cudaFree(x));
}

// Bytes of an mbarrier.
__device__ void init(uint64_t *barrier) { asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(barrier)) : "memory"); }
__device__ void expect(uint64_t *barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(barrier)), "r"(bytes) : "memory");
}
__device__ bool is_over(uint64_t *barrier, int parity) {
  uint32_t over;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(over) : "r"(at(barrier)), "r"(parity) : "memory");
  return over;
}
// Whether the phase ends within a millisecond.
__device__ bool ends(uint64_t *barrier, int parity) {
  for (int i = 0; i < 100; i++) {
    if (is_over(barrier, parity)) return true;
    sleep_for(10000);
  }
  return false;
}
__device__ void load(void *tile, const void *from, int bytes, uint64_t *barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(tile)), "l"(from), "r"(bytes), "r"(at(barrier))
               : "memory");
}
__global__ void counts_bytes(const int *x, unsigned *ended) {
  __shared__ alignas(128) int tile[512];
  __shared__ uint64_t few, many;
  init(&few), init(&many);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  load(tile, x, 1024, &few);  // 512 bytes too many for this phase
  expect(&few, 512);
  ended[0] = ends(&few, 0);
  sleep_for(100000);
  ended[1] = ends(&few, 1);
  expect(&few, 512);  // no copy follows
  ended[2] = ends(&few, 1);
  expect(&many, 1024);
  load(tile + 256, x, 512, &many);
  ended[3] = ends(&many, 0);
  load(tile + 256, x, 512, &many);
  ended[4] = ends(&many, 0);
}
void bytes_of_mbarriers(const int *x, unsigned *counts) {
  unsigned e[5];
  counts_bytes<<<1, 1>>>(x, counts);
  CHECK(cudaMemcpy(e, counts, sizeof e, cudaMemcpyDeviceToHost));
  printf("An mbarrier expects 512 bytes of a copy of 1024: its phase ends %u; the next one ends by itself %u; after it expects 512 bytes that nothing brings, it ends %u\n", e[0], e[1], e[2]);
  printf("An mbarrier expects 1024 bytes and 512 come: its phase ends %u; after 512 more it ends %u\n", e[3], e[4]);
}

// Threads write, a barrier, and the async proxy reads: with the fence and without.
template <bool fences>
__global__ void stores_tiles(int *y, unsigned *stale) {
  __shared__ alignas(128) int tile[1024];
  int *own = y + blockIdx.x * 1024;
  unsigned wrong = 0;
  for (int round = 1; round <= repeats; round++) {
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) tile[i] = round;
    if (fences) asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 4096;" ::"l"(own), "r"(at(tile)) : "memory");
      asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) wrong += static_cast<volatile int *>(own)[i] != round;
    __syncthreads();
  }
  atomicAdd(stale, wrong);
}
template <bool fences>
__global__ void loads_what_threads_wrote(int *y, unsigned *stale) {
  __shared__ alignas(128) int tile[1024];
  __shared__ uint64_t full;
  int *own = y + blockIdx.x * 1024;
  unsigned wrong = 0;
  if (threadIdx.x == 0) init(&full);
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  for (int round = 1; round <= repeats; round++) {
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) own[i] = round;
    if (fences) asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) expect(&full, 4096), load(tile, own, 4096, &full);
    while (!is_over(&full, (round - 1) & 1)) {}
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) wrong += tile[i] != round;
    __syncthreads();
  }
  atomicAdd(stale, wrong);
}

// Products of 64 x 8 x 16 ones by `round`: each sum is 16 round. What goes wrong is what the template says.
enum Bug { none, no_proxy_fence, sum_read_early, no_fence, a_changed_early, overwritten_early };
__device__ uint64_t descriptor_of(const void *shared) {
  uint64_t address = at(shared);
  return (address >> 4 & 0x3fff) | uint64_t{128 >> 4} << 16 | uint64_t{128 >> 4} << 32;
}
template <Bug bug>
__global__ void products(unsigned *stale) {
  __shared__ alignas(128) uint16_t b[8 * 16];
  constexpr uint32_t one = 0x3c003c00;
  unsigned wrong = 0;
  for (int round = 1; round <= repeats; round++) {
    uint16_t half = static_cast<uint16_t>(0x3c00 + (round % 4 << 10));  // 1, 2, 4, 8
    float want = 16.0f * static_cast<float>(1 << round % 4);
    b[threadIdx.x] = half;
    if (bug != no_proxy_fence) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    float d[4] = {};
    uint32_t a[4] = {one, one, one, one};
    if (bug == no_fence) {
      asm volatile("mov.b32 %0, %1;" : "=f"(d[0]) : "f"(0.0f));
    } else {
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    }
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, 1, 1, 1, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(descriptor_of(b)) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    float early = 0;
    if (bug == sum_read_early) asm volatile("mov.b32 %0, %1;" : "=f"(early) : "f"(d[0]));
    if (bug == a_changed_early) asm volatile("mov.b32 %0, 0;\nmov.b32 %1, 0;\nmov.b32 %2, 0;\nmov.b32 %3, 0;" : "+r"(a[0]), "+r"(a[1]), "+r"(a[2]), "+r"(a[3]));
    if (bug == overwritten_early) b[threadIdx.x] = 0;
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (bug == sum_read_early) wrong += early != want;
    else for (float one_sum : d) wrong += one_sum != want;
    if (bug == a_changed_early) wrong += a[0] + a[1] + a[2] + a[3] != 0;
    __syncthreads();
  }
  atomicAdd(stale, wrong);
}

template <class Launch>
void count(const char *what, unsigned *counts, Launch launch) {
  unsigned found;
  CHECK(cudaMemset(counts, 0, sizeof found));
  launch();
  CHECK(cudaMemcpy(&found, counts, sizeof found, cudaMemcpyDeviceToHost));
  printf("%s: %u\n", what, found);
}

int main() {
  unsigned *counts;
  int *y;
  CHECK(cudaMalloc(&counts, 64));
  CHECK(cudaMalloc(&y, blocks * 4096));
  cudaDeviceProp card;
  CHECK(cudaGetDeviceProperties(&card, 0));
  printf("%s\n", card.name);
  early_launches(counts);
  bytes_of_mbarriers(y, counts);
  printf("Wrong words of %lld that threads wrote and a bulk copy reads:\n", 1ll * blocks * repeats * 1024);
  count("  stored from shared memory, fenced", counts, [&] { stores_tiles<true><<<blocks, 256>>>(y, counts); });
  count("  without the proxy fence", counts, [&] { stores_tiles<false><<<blocks, 256>>>(y, counts); });
  count("  loaded from global memory, fenced", counts, [&] { loads_what_threads_wrote<true><<<blocks, 256>>>(y, counts); });
  count("  without the proxy fence", counts, [&] { loads_what_threads_wrote<false><<<blocks, 256>>>(y, counts); });
  printf("Wrong sums of %lld by wgmma:\n", 4ll * blocks * repeats * 128);
  count("  right", counts, [&] { products<none><<<blocks, 128>>>(counts); });
  count("  without the proxy fence", counts, [&] { products<no_proxy_fence><<<blocks, 128>>>(counts); });
  count("  one sum of four read before wait_group", counts, [&] { products<sum_read_early><<<blocks, 128>>>(counts); });
  count("  without wgmma.fence", counts, [&] { products<no_fence><<<blocks, 128>>>(counts); });
  count("  registers of A changed before wait_group", counts, [&] { products<a_changed_early><<<blocks, 128>>>(counts); });
  count("  B overwritten before wait_group", counts, [&] { products<overwritten_early><<<blocks, 128>>>(counts); });
}
