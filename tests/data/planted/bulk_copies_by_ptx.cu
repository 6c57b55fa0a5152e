// What bulk_copies.cu and tensor_maps.cu do by cuda::ptx, as inline PTX. Arguments and answers as there. A ring of stages, with
// one thread that copies; loads and stores of boxes, reductions, multicast and arrivals in clusters.
// For nvcc: -std=c++17 -gencode arch=compute_90a,code=sm_90a.
#include "named_cases.h"

constexpr int threads = 64, n = 1024;

__device__ uint32_t at(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ void init(uint64_t *barrier, int count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(barrier)), "r"(count)); }
__device__ void expect(uint64_t *barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(barrier)), "r"(bytes) : "memory");
}
__device__ void arrive(uint64_t *barrier, int count = 1) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(at(barrier)), "r"(count) : "memory");
}
__device__ void wait(uint64_t *barrier, int parity) {
  asm volatile("{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra DONE;\nbra LAB_WAIT;\nDONE:\n}\n" ::"r"(at(barrier)), "r"(parity) : "memory");
}
__device__ void sync_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ void fence_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void commit_and_wait_read() {
  asm volatile("cp.async.bulk.commit_group;");
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(0) : "memory");
}

// A ring of stages: the second warp copies, the first doubles what has come and stores it by bulk copies.
template <bool wrong> __global__ void ring_of_stages(int *y, const int *x) {
  constexpr int stages = 3, each = 32, tiles = n / each;
  __shared__ alignas(128) int ring[stages][each], out[each];
  __shared__ uint64_t full[stages], empty[stages];
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; s++) init(&full[s], 1), init(&empty[s], each);
    fence_shared();
  }
  __syncthreads();
  if (threadIdx.x == 32) {
    for (int t = 0; t < tiles; t++) {
      int s = t % stages;
      if (t >= stages) wait(&empty[s], (t / stages - 1) & 1);
      expect(&full[s], each * 4);
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(ring[s])),
                   "l"(x + t * each), "r"(each * 4), "r"(at(&full[s])) : "memory");
    }
  }
  if (threadIdx.x >= 32) return;
  for (int t = 0; t < tiles; t++) {
    int s = t % stages;
    wait(&full[s], t / stages & 1);
    int doubled = 2 * ring[s][threadIdx.x];
    arrive(&empty[s]);
    out[threadIdx.x] = doubled;
    if (!wrong) fence_shared();
    __syncwarp();
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(y + t * each), "r"(at(out)), "r"(each * 4) : "memory");  //~ error: missing-proxy-fence if ring_of_stages
      commit_and_wait_read();
    }
    __syncwarp();
  }
}
// Every block adds its part of x to the sums; the sums are its first quarter.
template <bool wrong> __global__ void reductions(int *y, const int *x) {
  __shared__ alignas(128) int tile[n / 4];
  for (int part = 0; part < 4; part++) {
    for (int i = threadIdx.x; i < n / 4; i += threads) tile[i] = 2 * x[part * n / 4 + i];  //~ error: copy-in-flight if reductions
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;" ::"l"(y + part * n / 4), "r"(at(tile)), "r"(n) : "memory");
      asm volatile("cp.async.bulk.commit_group;");
      if (!wrong) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
// Rank 0 of a cluster of two copies to both blocks; each writes its half.
template <bool wrong> __global__ void multicast(int *y, const int *x) {
  __shared__ alignas(128) int tile[n];
  __shared__ uint64_t full;
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    init(&full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;");
    expect(&full, n * 4);
  }
  __syncthreads();
  asm volatile("barrier.cluster.arrive.relaxed.aligned;");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  if (threadIdx.x == 0 && rank == 0)
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(at(tile)),
                 "l"(x), "r"(n * 4), "r"(at(&full)), "h"(static_cast<uint16_t>(3)) : "memory");
  if (!wrong || rank == 0) wait(&full, 0);
  for (int i = threadIdx.x; i < n / 2; i += threads) y[rank * n / 2 + i] = 2 * tile[rank * n / 2 + i];  //~ error: copy-in-flight if multicast
  sync_cluster();
}
// Each block tells the other that its half has been written to the other's shared memory, by an arrival there.
template <bool wrong> __global__ void arrives_in_the_other_block(int *y, const int *x) {
  __shared__ int theirs[n / 2];
  __shared__ uint64_t full;
  uint32_t rank, there, words;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) init(&full, threads);
  sync_cluster();
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at(&full)), "r"(rank ^ 1));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(words) : "r"(at(theirs)), "r"(rank ^ 1));
  for (int i = threadIdx.x; i < n / 2; i += threads)
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(words + 4 * i), "r"(x[(rank ^ 1) * n / 2 + i]) : "memory");
  if (wrong) asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
  else asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
  wait(&full, 0);
  for (int i = threadIdx.x; i < n / 2; i += threads) y[rank * n / 2 + i] = 2 * theirs[i];  //~ error: race if arrives_in_the_other_block
  sync_cluster();
}
// Boxes of 32 x 8 of a tensor of 32 x 32: one is loaded, doubled and stored; then the next.
template <bool wrong> __global__ void boxes(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to) {
  __shared__ alignas(128) int box[8 * 32];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&from) : "memory");
    init(&full, 1);
  }
  __syncthreads();
  for (int y = 0; y < 32; y += 8) {
    if (threadIdx.x == 0) {
      expect(&full, sizeof box);
      asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(at(box)),
                   "l"(&from), "r"(at(&full)), "r"(0), "r"(y) : "memory");
    }
    wait(&full, wrong ? 0 : y / 8 & 1);
    for (int i = threadIdx.x; i < 8 * 32; i += threads) box[i] *= 2;  //~ error: copy-in-flight if boxes
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&to), "r"(at(box)), "r"(0), "r"(y) : "memory");
      commit_and_wait_read();
    }
    __syncthreads();
  }
}

CUtensorMap map_of(int *array) {
  CUtensorMap map;
  cuuint64_t size[] = {32, 32}, stride[] = {128};
  cuuint32_t box[] = {32, 8}, step[] = {1, 1};
  CUresult error = find_encode()(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, array, size, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                 CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (error) printf("refused: %d\n", error), exit(1);
  return map;
}
template <bool wrong> void launch_boxes(int *y, int *x) { boxes<wrong><<<1, threads>>>(map_of(x), map_of(y)); }

template <void (*kernel)(int *, const int *), int blocks> void launch(int *y, int *x) {
  launch_clusters(blocks, threads, blocks, kernel, y, static_cast<const int *>(x));
}
struct Case {
  const char *name;
  void (*launch[2])(int *, int *);
};
#define CASE(name, blocks) {#name, {launch<name<false>, blocks>, launch<name<true>, blocks>}}
const Case cases[] = {CASE(ring_of_stages, 1), CASE(reductions, 1), CASE(multicast, 2), CASE(arrives_in_the_other_block, 2), {"boxes", {launch_boxes<false>, launch_boxes<true>}}};
void run(const Case &one, bool wrong) { report(one.name, wrong, doubles(n, one.launch[wrong])); }

int main(int argc, char **argv) { run_named(argc, argv, cases, run); }
