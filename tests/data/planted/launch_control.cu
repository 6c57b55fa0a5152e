// Programs of one page whose blocks take the work of blocks that have not begun (clusterlaunchcontrol). Arguments and answers as in
// bulk_copies.cu. For nvcc: -arch=sm_100a -std=c++17.
#include "named_cases.h"

constexpr int threads = 64, tiles_x = 6, tiles_y = 4;
enum Bug { none, no_look, no_wait };

__device__ uint32_t at(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ void init(uint64_t *barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(barrier)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ void expect(uint64_t *barrier) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 16;" ::"r"(at(barrier)) : "memory"); }
__device__ void wait(uint64_t *barrier, int parity) {
  asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN;\n}\n" ::"r"(at(barrier)), "r"(parity) : "memory");
}
__device__ void sync_cluster() {
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}
__device__ void count(int *y, uint32_t block_x, uint32_t block_y) { atomicAdd(&y[(block_y * tiles_x + block_x) * threads + threadIdx.x], 1); }

#define ASK asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" ::"r"(at(&answer)), "r"(at(&ready)) : "memory")
template <Bug bug>
__global__ void take_blocks(int *y) {
  __shared__ alignas(16) uint4 answer;
  __shared__ uint64_t ready;
  if (threadIdx.x == 0) init(&ready);
  __syncthreads();
  uint32_t x = blockIdx.x, row = blockIdx.y, is_taken = 1;
  for (int phase = 0; is_taken; phase ^= 1) {
    if (threadIdx.x == 0) {
      if (bug == no_look) ASK;  //~ error: launch-control if asked_after_refusal
      else ASK;
      expect(&ready);
    }
    count(y, x, row);
    if (bug != no_wait) wait(&ready, phase);
    asm volatile(
        "{\n.reg .pred p;\n.reg .b128 handle;\n"
        "ld.shared.b128 handle, [%3];\n"  //~ error: copy-in-flight if answer_read_before_wait
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, handle;\n"
        "selp.u32 %2, 1, 0, p;\n"
        "@p clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %0, handle;\n"
        "@p clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %1, handle;\n}\n"
        : "+r"(x), "+r"(row), "=r"(is_taken) : "r"(at(&answer)) : "memory");
    if (bug == no_wait) return;
    if (bug == no_look && !is_taken && phase == 0) is_taken = 1;
    __syncthreads();
  }
}

// Clusters of two, whose first block asks for both.
template <int blocks> __global__ void __cluster_dims__(blocks, 1, 1) take_clusters(int *y) {
  __shared__ alignas(16) uint4 answer;
  __shared__ uint64_t ready;
  if (threadIdx.x == 0) init(&ready);
  sync_cluster();
  const uint32_t rank = blockIdx.x % 2;
  uint32_t x = blockIdx.x - rank, row = blockIdx.y, is_taken = 1;
  for (int phase = 0; is_taken; phase ^= 1) {
    if (threadIdx.x == 0) expect(&ready);
    sync_cluster();
    if (threadIdx.x == 0 && rank == 0)
      asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [%0], [%1];" ::"r"(at(&answer)), "r"(at(&ready)) : "memory");
    count(y, x + rank, row);
    wait(&ready, phase);
    asm volatile(
        "{\n.reg .pred p;\n.reg .b128 handle;\n"
        "ld.shared.b128 handle, [%3];\n"
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, handle;\n"
        "selp.u32 %2, 1, 0, p;\n"
        "@p clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%0, %1, _, _}, handle;\n}\n"
        : "+r"(x), "+r"(row), "=r"(is_taken) : "r"(at(&answer)) : "memory");
  }
  sync_cluster();
}

template <class Launch>
bool counts_each_once(Launch launch) {
  OnDevice<int> y{std::vector<int>(tiles_x * tiles_y * threads)};
  launch(y.there);
  return y.fetch() == std::vector<int>(y.count, 1);
}
template <Bug bug>
bool blocks(bool wrong) {
  return counts_each_once([&](int *y) { (wrong ? take_blocks<bug> : take_blocks<none>)<<<dim3(tiles_x, tiles_y), threads>>>(y); });
}
bool clusters(bool) {
  return counts_each_once([](int *y) { take_clusters<2><<<dim3(tiles_x, tiles_y), threads>>>(y); });
}

#define CASE(name, has_twin) {#name, name}
#define PAIR(name, bug) {#name, blocks<bug>}
const Judged cases[] = {CASE(clusters, 0), PAIR(asked_after_refusal, no_look), PAIR(answer_read_before_wait, no_wait)};

int main(int argc, char **argv) { run_named(argc, argv, cases, run_judged); }
