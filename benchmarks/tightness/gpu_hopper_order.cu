// What PTX leaves open about the order of launches, copies and products, as a Hopper GPU does it:
//   nvcc -std=c++17 -gencode arch=compute_90a,code=sm_90a -o order benchmarks/tightness/gpu_hopper_order.cu && ./order
// Each line is a question and counts. Every wait ends by itself. Some kernels are wrong on purpose: they have the bug that the
// line asks for; so each question has a process of its own, and an error of the GPU is an answer. What ptxas says is one, too.
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

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
void print_unwritten(const char *what, long long of, const unsigned *found) {
  printf("%s; of %lld elements that are not written yet, the last kernel finds %u before its wait and %u after it\n", what, of, found[0], found[1]);
}
void kernel_between_never_waits(unsigned *counts, int *) {
  constexpr int trials = 50;
  int *x;
  CHECK(cudaMalloc(&x, 32 * sizeof *x));
  unsigned found[2];
  for (int i = 0; i < trials; i++) {
    CHECK(cudaMemset(x, 0, 32 * sizeof *x));
    CHECK(cudaDeviceSynchronize());
    writes_late<<<1, 32>>>(x, true, 2000000);
    launch_early(1, 32, triggers_and_never_waits);
    launch_early(1, 32, reads, x, counts);
    CHECK(cudaDeviceSynchronize());
  }
  CHECK(cudaMemcpy(found, counts, sizeof found, cudaMemcpyDeviceToHost));
  print_unwritten("The kernel between triggers and never waits", trials * 32, found);
}
void kernel_before_never_triggers(unsigned *counts, int *) {
  constexpr int grid = 8 * blocks;
  int *x;
  CHECK(cudaMalloc(&x, grid * 256 * sizeof *x));
  unsigned found[2];
  for (int i = 0; i < repeats; i++) {
    CHECK(cudaMemset(x, 0, grid * 256 * sizeof *x));
    writes_late<<<grid, 256>>>(x, false, 0);
    launch_early(grid, 256, reads, x, counts);
  }
  CHECK(cudaMemcpy(found, counts, sizeof found, cudaMemcpyDeviceToHost));
  print_unwritten("The kernel before never triggers", 1ll * repeats * grid * 256, found);
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
enum Bytes { expected_after, too_few_in_one_copy, too_few_in_two_copies, below_zero_and_then_expected, too_many };
__global__ void counts_bytes(Bytes what, const int *x, unsigned *ended) {
  __shared__ alignas(128) int tile[512];
  __shared__ uint64_t full;
  init(&full);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  if (what == expected_after) {
    load(tile, x, 1024, &full);
    sleep_for(100000);
    expect(&full, 1024);
  } else if (what == too_few_in_one_copy) {
    expect(&full, 512);
    load(tile, x, 1024, &full);
  } else {
    expect(&full, what == too_many ? 1024 : 512);
    load(tile, x, 512, &full);
    if (what != too_many) load(tile + 128, x, 512, &full);
  }
  ended[0] = ends(&full, 0);
  sleep_for(100000);
  if (what == too_many) load(tile + 128, x, 512, &full);
  ended[1] = ends(&full, what == too_many ? 0 : 1);
  if (what != below_zero_and_then_expected) return;
  expect(&full, 512);  // no copy follows
  ended[2] = ends(&full, 1);
}
template <Bytes what>
void bytes_of_mbarriers(unsigned *counts, int *x) {
  const char *const words[] = {
      "1024 bytes come before they are expected", "512 bytes are expected, and a copy of 1024 comes", "512 bytes are expected, and two copies of 512 come",
      "the same; then 512 bytes are expected that no copy brings", "1024 bytes are expected, and 512 come; then 512 more"};
  unsigned e[3];
  counts_bytes<<<1, 1>>>(what, x, counts);
  CHECK(cudaMemcpy(e, counts, sizeof e, cudaMemcpyDeviceToHost));
  printf("mbarrier: %s: the phase ends %u; %s %u, %u\n", words[what], e[0], what == too_many ? "after more" : "the next one", e[1], e[2]);
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
enum Bug { none, no_proxy_fence, sum_stored_early, no_fence, a_loaded_early, overwritten_early };
__device__ uint64_t descriptor_of(const void *shared) {
  uint64_t address = at(shared);
  return (address >> 4 & 0x3fff) | uint64_t{128 >> 4} << 16 | uint64_t{128 >> 4} << 32;
}
template <Bug bug>
__global__ void products(unsigned *stale) {
  __shared__ alignas(128) uint16_t b[8 * 16];
  __shared__ uint32_t rows[2][4 * 128];
  __shared__ float sums[128];
  unsigned wrong = 0;
  for (int i = 0; i < 4; i++) rows[0][4 * threadIdx.x + i] = 0x3c003c00, rows[1][4 * threadIdx.x + i] = 0x40004000;  // 1 and 2
  uint32_t a[4];
#pragma unroll
  for (int i = 0; i < 4; i++) a[i] = 0x3c003c00;
#pragma unroll 1
  for (int round = 1; round <= repeats; round++) {
    int shift = round % 4;
    uint16_t half = static_cast<uint16_t>(0x3c00 + (shift << 10));  // 1, 2, 4, 8
    float want = 16.0f * static_cast<float>(1 << shift) * (bug == a_loaded_early && round % 2 == 0 ? 2 : 1);
    b[threadIdx.x] = half;
    if (bug != no_proxy_fence) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    float d[4] = {};
    if (bug != no_fence) asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, 1, 1, 1, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(descriptor_of(b)) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    if (bug == sum_stored_early) asm volatile("st.shared.f32 [%0], %1;" ::"r"(at(&sums[threadIdx.x])), "f"(d[0]) : "memory");
    if (bug == a_loaded_early) asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(at(&rows[(round + 1) % 2 == 0][4 * threadIdx.x])) : "memory");
    if (bug == overwritten_early) b[threadIdx.x] = 0;
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (bug == sum_stored_early) wrong += sums[threadIdx.x] != want;
    else for (float one : d) wrong += one != want;
    __syncthreads();
  }
  atomicAdd(stale, wrong);
}

template <class Launch>
void count(const char *what, long long of, unsigned *counts, Launch launch) {
  unsigned found;
  launch();
  CHECK(cudaMemcpy(&found, counts, sizeof found, cudaMemcpyDeviceToHost));
  printf("%s: wrong %u of %lld\n", what, found, of);
}
constexpr long long words_copied = 1ll * blocks * repeats * 1024, sums_made = 4ll * blocks * repeats * 128;
template <bool fences>
void stores(unsigned *counts, int *y) {
  count(fences ? "stored by a bulk copy, fenced" : "stored by a bulk copy, without the proxy fence", words_copied, counts, [&] { stores_tiles<fences><<<blocks, 256>>>(y, counts); });
}
template <bool fences>
void loads(unsigned *counts, int *y) {
  count(fences ? "loaded by a bulk copy, fenced" : "loaded by a bulk copy, without the proxy fence", words_copied, counts, [&] { loads_what_threads_wrote<fences><<<blocks, 256>>>(y, counts); });
}
template <Bug bug>
void multiply(unsigned *counts, int *) {
  const char *const words[] = {"right", "without the proxy fence", "sums stored before wait_group (one of four)", "without wgmma.fence",
                               "registers of A loaded before wait_group", "B overwritten before wait_group"};
  count((std::string("wgmma, ") + words[bug]).c_str(), sums_made / (bug == sum_stored_early ? 4 : 1), counts, [&] { products<bug><<<blocks, 128>>>(counts); });
}

int main(int argc, char **argv) {
  void (*const questions[])(unsigned *, int *) = {
      kernel_between_never_waits, kernel_before_never_triggers, bytes_of_mbarriers<expected_after>, bytes_of_mbarriers<too_few_in_one_copy>,
      bytes_of_mbarriers<too_few_in_two_copies>, bytes_of_mbarriers<below_zero_and_then_expected>, bytes_of_mbarriers<too_many>, stores<true>, stores<false>,
      loads<true>, loads<false>, multiply<none>, multiply<no_proxy_fence>, multiply<sum_stored_early>, multiply<no_fence>, multiply<a_loaded_early>,
      multiply<overwritten_early>};
  if (argc == 1) {
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
      printf("%zu. ", i);
      fflush(stdout);
      if (system((std::string("timeout 30 ") + argv[0] + " " + std::to_string(i)).c_str())) printf("   question %zu ends with an error\n", i);
    }
    return 0;
  }
  unsigned *counts;
  int *y;
  CHECK(cudaMalloc(&counts, 64));
  CHECK(cudaMemset(counts, 0, 64));
  CHECK(cudaMalloc(&y, blocks * 4096));
  questions[atoi(argv[1])](counts, y);
}
