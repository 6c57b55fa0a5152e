// Programs of one page with mbarriers that count bytes and bulk copies. Arguments: names of cases, `wrong` before those that
// are to have their bug. Each right case prints its name if its answer is right. For nvcc: -std=c++17 -gencode arch=compute_90a,code=sm_90a.
#include <cuda.h>
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "named_cases.h"

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
constexpr int threads = 64, n = 256;  // ints of an array: 1024 bytes
enum : uint32_t { bytes = n * sizeof(int) };

__device__ void load(void *to, const void *from, uint32_t count, uint64_t *full) {
  ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, to, from, count, full);
}
__device__ void expect(uint64_t *full, uint32_t count) {
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full, count);
}
__device__ void init(uint64_t *full, int count) {
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(full, count);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
}
__device__ void store_and_wait(void *to, const void *from, uint32_t count) {
  ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, to, from, count);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}
#define COPIED(y, tile) for (int i = threadIdx.x; i < n; i += threads) (y)[i] = 2 * (tile)[i]

// Global to shared memory.
template <bool wrong>
__global__ void bytes_too_few(int *y, const int *x) {
  __shared__ alignas(128) int tile[n];
  __shared__ uint64_t full;
  init(&full, 1);
  if (threadIdx.x == 0) {
    expect(&full, wrong ? bytes / 2 : bytes);
    load(tile, x, bytes / 2, &full);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile + n / 2, x + n / 2, bytes / 2, &full);  //~ error: transaction-bytes if bytes_too_few
  }
  while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}
  COPIED(y, tile);
}
template <bool wrong>
__global__ void bytes_too_many(int *y, const int *x) {
  __shared__ alignas(128) int tile[n];
  __shared__ uint64_t full;
  init(&full, 1);
  if (threadIdx.x == 0) {
    load(tile, x, bytes, &full);  // before it is expected: the arrival is missing until then
    expect(&full, wrong ? 2 * bytes : bytes);
  }
  while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}  //~ error: transaction-bytes if bytes_too_many
  COPIED(y, tile);
}
template <bool wrong>
__global__ void wrong_parity(int *y, const int *x) {
  __shared__ alignas(128) int tile[n];
  __shared__ uint64_t full;
  init(&full, 1);
  if (threadIdx.x == 0) {
    expect(&full, bytes);
    load(tile, x, bytes, &full);
  }
  while (!ptx::mbarrier_try_wait_parity(&full, wrong ? 1 : 0)) {}
  COPIED(y, tile);  //~ error: copy-in-flight if wrong_parity
}
template <bool wrong>
__global__ void arrival_count_off_by_one(int *y, const int *x) {
  __shared__ alignas(128) int tile[n];
  __shared__ uint64_t full;
  init(&full, wrong ? threads + 1 : threads);
  if (threadIdx.x == 0) {
    ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, &full, bytes);
    load(tile, x, bytes, &full);
  }
  uint64_t state = ptx::mbarrier_arrive(&full);
  while (!ptx::mbarrier_try_wait(&full, state)) {}  //~ error: hang if arrival_count_off_by_one
  COPIED(y, tile);
}
template <bool wrong>
__global__ void init_without_barrier(int *y, const int *x) {
  __shared__ uint64_t full;
  __shared__ int sum;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full, threads);
    sum = 2 * x[0];
  }
  if (!wrong) __syncthreads();
  uint64_t state = ptx::mbarrier_arrive(&full);  //~ error: mbarrier-misuse if init_without_barrier
  while (!ptx::mbarrier_test_wait(&full, state)) {}
  for (int i = threadIdx.x; i < n; i += threads) y[i] = sum + 2 * (x[i] - x[0]);
}
template <bool wrong>
__global__ void reinit_while_live(int *y, const int *x) {
  __shared__ alignas(128) int tile[n];
  __shared__ uint64_t full;
  init(&full, 1);
  for (int half = 0; half < 2; half++) {
    if (threadIdx.x == 0) {
      expect(&full, bytes / 2);
      load(tile + half * n / 2, x + half * n / 2, bytes / 2, &full);
    }
    while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}
    __syncthreads();
    if (threadIdx.x == 0) {
      if (!wrong) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(&full))) : "memory");
      ptx::mbarrier_init(&full, 1);  //~ error: mbarrier-misuse if reinit_while_live
    }
    __syncthreads();
  }
  COPIED(y, tile);
}
template <bool wrong>
__global__ void read_before_wait(int *y, const int *x) {
  __shared__ alignas(128) int tile[n];
  __shared__ uint64_t full;
  init(&full, 1);
  if (threadIdx.x == 0) {
    expect(&full, bytes);
    load(tile, x, bytes, &full);
  }
  if (wrong) __syncthreads();  // orders threads, not the copy
  else while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}
  COPIED(y, tile);  //~ error: copy-in-flight if read_before_wait
}
// One thread waits, and tells the others by a barrier; or by nothing.
template <bool wrong>
__global__ void one_waits_for_all(int *y, const int *x) {
  __shared__ alignas(128) int tile[n];
  __shared__ uint64_t full;
  init(&full, 1);
  if (threadIdx.x == 0) {
    expect(&full, bytes);
    load(tile, x, bytes, &full);
    while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}
  }
  if (!wrong) __syncthreads();
  COPIED(y, tile);  //~ error: copy-in-flight if one_waits_for_all
}
// A ring of two stages, for four tiles of one half each.
template <bool wrong>
__global__ void stage_reused_before_empty(int *y, const int *x) {
  constexpr int stages = 2, tiles = 8, each = n / tiles;
  __shared__ alignas(128) int ring[stages][each];
  __shared__ uint64_t full[stages], empty[stages];
  if (threadIdx.x == 0)
    for (int s = 0; s < stages; s++) ptx::mbarrier_init(&full[s], 1), ptx::mbarrier_init(&empty[s], each);
  __syncthreads();
  if (threadIdx.x >= 32) {
    for (int t = 0; threadIdx.x == 32 && t < tiles; t++) {
      int s = t % stages;
      if (!wrong && t >= stages)
        while (!ptx::mbarrier_try_wait_parity(&empty[s], (t / stages - 1) & 1)) {}
      expect(&full[s], each * sizeof(int));
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, ring[s], x + t * each, each * sizeof(int), &full[s]);  //~ error: race if stage_reused_before_empty
      if (wrong) while (!ptx::mbarrier_try_wait_parity(&full[s], t / stages & 1)) {}  // that it is full, not that it is free
    }
    return;
  }
  for (int t = 0; t < tiles; t++) {
    int s = t % stages;
    while (!ptx::mbarrier_try_wait_parity(&full[s], t / stages & 1)) {}
    y[t * each + threadIdx.x] = 2 * ring[s][threadIdx.x];
    ptx::mbarrier_arrive(&empty[s]);
  }
}
template <bool wrong>
__global__ void threads_wrote_before_a_load(int *y, const int *x) {
  __shared__ alignas(128) int tile[n];
  __shared__ uint64_t full;
  for (int i = threadIdx.x; i < n; i += threads) tile[i] = 0;
  if (!wrong) ptx::fence_proxy_async(ptx::space_shared);
  init(&full, 1);
  if (threadIdx.x == 0) {
    expect(&full, bytes);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, x, bytes, &full);  //~ error: missing-proxy-fence if threads_wrote_before_a_load
  }
  while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}
  COPIED(y, tile);
}

// Shared to global memory.
template <bool wrong>
__global__ void store_without_proxy_fence(int *y, const int *x) {
  __shared__ alignas(128) int tile[n];
  for (int i = threadIdx.x; i < n; i += threads) tile[i] = 2 * x[i];
  if (!wrong) ptx::fence_proxy_async(ptx::space_shared);
  else ptx::fence_proxy_async(ptx::space_global);  // of other memory
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y, tile, bytes);  //~ error: missing-proxy-fence if store_without_proxy_fence
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}
// The thread that asks for the copy fences, after the barrier: what it knows has passed the fence then.
template <bool wrong>
__global__ void fence_of_the_issuer(int *y, const int *x) {
  __shared__ alignas(128) int tile[n];
  for (int i = threadIdx.x; i < n; i += threads) tile[i] = 2 * x[i];
  if (wrong && threadIdx.x == 0) ptx::fence_proxy_async();  // before it knows of the others
  __syncthreads();
  if (threadIdx.x == 0) {
    if (!wrong) ptx::fence_proxy_async();
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y, tile, bytes);  //~ error: missing-proxy-fence if fence_of_the_issuer
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}
template <bool wrong>
__global__ void store_source_reused(int *y, const int *x) {
  __shared__ alignas(128) int tile[threads];
  for (int part = 0; part < n / threads; part++) {
    tile[threadIdx.x] = 2 * x[part * threads + threadIdx.x];  //~ error: copy-in-flight if store_source_reused
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
      ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y + part * threads, tile, sizeof tile);
      ptx::cp_async_bulk_commit_group();
      if (!wrong || part == n / threads - 1) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
    __syncthreads();
  }
}
template <bool wrong>
__global__ void exit_before_wait_read(int *y, const int *x) {
  __shared__ alignas(128) int tile[n];
  for (int i = threadIdx.x; i < n; i += threads) tile[i] = 2 * x[i];
  ptx::fence_proxy_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y, tile, bytes);  //~ error: copy-in-flight if exit_before_wait_read
    ptx::cp_async_bulk_commit_group();
    if (!wrong) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}
// The destination is written only after wait_group without .read.
template <bool wrong>
__global__ void stored_and_read_again(int *y, const int *x) {
  __shared__ alignas(128) int tile[n];
  for (int i = threadIdx.x; i < n; i += threads) tile[i] = x[i];
  ptx::fence_proxy_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y, tile, bytes);
    ptx::cp_async_bulk_commit_group();
    if (wrong) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    else ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += threads) y[i] *= 2;  //~ error: copy-in-flight if stored_and_read_again
}
// Both blocks add to one array; or both write it.
template <bool wrong>
__global__ void blocks_add_to_one_array(int *y, const int *x) {
  __shared__ alignas(128) int tile[n];
  for (int i = threadIdx.x; i < n; i += threads) tile[i] = x[i];
  ptx::fence_proxy_async();
  __syncthreads();
  if (threadIdx.x) return;
  if (wrong) ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y, tile, bytes);  //~ error: copy-in-flight if blocks_add_to_one_array
  else ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, y, tile, bytes);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
}

// Copies of threads in no group, which wait_all waits for; a bulk copy stores what they have copied.
template <bool wrong>
__global__ void copied_by_threads_in_no_group(int *y, const int *x) {
  __shared__ alignas(128) int tile[n];
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(tile + 4 * threadIdx.x))), "l"(x + 4 * threadIdx.x) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  if (!wrong) ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; i++) ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, y, tile, bytes);  //~ error: missing-proxy-fence if copied_by_threads_in_no_group
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}
template <bool wrong>
__global__ void waits_relaxed(int *y, const int *x) {
  __shared__ int tile[n];
  __shared__ uint64_t full;
  init(&full, threads);
  for (int i = threadIdx.x; i < n; i += threads) tile[i] = x[i];
  ptx::mbarrier_arrive(&full);
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&full));
  for (unsigned done = 0; !done;)
    if (wrong) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at) : "memory");
    else asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at) : "memory");
  for (int i = threadIdx.x; i < n; i += threads) y[n - 1 - i] = 2 * tile[n - 1 - i];  //~ error: race if waits_relaxed
}

// Two blocks, and a flag that the second one waits for and takes back with a plain store.
__device__ int box[n], flag;
__device__ void raise_flag() {
  __syncthreads();
  if (threadIdx.x == 0) asm volatile("fence.acq_rel.gpu; st.relaxed.gpu.u32 [%0], %1;" ::"l"(&flag), "r"(1) : "memory");
}
__device__ void take_flag() {
  if (threadIdx.x == 0) {
    int raised;
    do asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(raised) : "l"(&flag) : "memory");
    while (!raised);
    flag = 0;
  }
  __syncthreads();
}
template <bool wrong>
__global__ void stored_for_another_block(int *y, const int *x) {
  __shared__ alignas(128) int tile[n];
  if (blockIdx.x == 0) {
    for (int i = threadIdx.x; i < n; i += threads) tile[i] = x[i];
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
      ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, box, tile, bytes);
      ptx::cp_async_bulk_commit_group();
      if (wrong) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
      else ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
    raise_flag();
  } else {
    take_flag();
    COPIED(y, box);  //~ error: copy-in-flight if stored_for_another_block
  }
}
template <bool wrong>
__global__ void written_by_another_block(int *y, const int *x) {
  __shared__ alignas(128) int tile[n];
  __shared__ uint64_t full;
  init(&full, 1);
  if (blockIdx.x == 0) {
    for (int i = threadIdx.x; i < n; i += threads) box[i] = x[i];
    raise_flag();
  } else {
    take_flag();
    if (threadIdx.x == 0) {
      if (!wrong) ptx::fence_proxy_async(ptx::space_global);
      expect(&full, bytes);
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, box, bytes, &full);  //~ error: missing-proxy-fence if written_by_another_block
    }
    while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}
    COPIED(y, tile);
  }
}

// Clusters of two blocks.
template <bool wrong>
__global__ void multicast_to_an_ended_block(int *y, const int *x) {
  __shared__ alignas(128) int tile[n];
  __shared__ uint64_t full;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    expect(&full, bytes);
  }
  cluster.sync();
  if (wrong && cluster.block_rank() == 1) return;
  if (threadIdx.x == 0 && cluster.block_rank() == 0)
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, x, bytes, &full, uint16_t{3});  //~ error: race if multicast_to_an_ended_block
  while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}
  if (cluster.block_rank() == 1 || wrong) COPIED(y, tile);
  if (!wrong) cluster.sync();
}
template <bool wrong>
__global__ void remote_arrive_before_init_known(int *y, const int *x) {
  __shared__ uint64_t full;
  cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  if (threadIdx.x == 0) ptx::mbarrier_init(&full, 2 * threads);
  if (!wrong) cluster.sync();
  else __syncthreads();
  uint64_t *other = cluster.map_shared_rank(&full, cluster.block_rank() ^ 1);
  ptx::mbarrier_arrive(&full);
  ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster, other);  //~ error: mbarrier-misuse if remote_arrive_before_init_known
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &full, 0)) {}
  if (cluster.block_rank() == 0) COPIED(y, x);
  cluster.sync();
}
template <bool wrong>
__global__ void cluster_arrive_relaxed(int *y, const int *x) {
  __shared__ int tile[n];
  cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < n; i += threads) tile[i] = x[i];
  if (wrong) ptx::barrier_cluster_arrive(ptx::sem_relaxed);
  else ptx::barrier_cluster_arrive(ptx::sem_release);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
  int *other = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
  if (cluster.block_rank() == 0) COPIED(y, other);  //~ error: race if cluster_arrive_relaxed
  cluster.sync();
}
// Initialised, fenced and told by a relaxed arrival: enough for the mbarrier, and for nothing else.
template <bool wrong>
__global__ void init_told_by_a_relaxed_arrival(int *y, const int *x) {
  __shared__ alignas(128) int tile[n], theirs[n];
  __shared__ uint64_t full;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full, 1);
    if (!wrong) ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  for (int i = threadIdx.x; i < n; i += threads) tile[i] = x[i];
  ptx::fence_proxy_async();
  __syncthreads();
  if (threadIdx.x == 0) expect(&full, bytes);
  ptx::barrier_cluster_arrive(ptx::sem_relaxed);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
  if (threadIdx.x == 0) {
    unsigned rank = cluster.block_rank() ^ 1;
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, cluster.map_shared_rank(theirs, rank), tile, bytes, cluster.map_shared_rank(&full, rank));  //~ error: mbarrier-misuse if init_told_by_a_relaxed_arrival
  }
  while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}
  if (cluster.block_rank() == 0) COPIED(y, theirs);
  cluster.sync();
}

#define CHECK(call) if (cudaError_t error = (call); error != cudaSuccess) { printf("line %d: %s\n", __LINE__, cudaGetErrorString(error)); exit(1); }
using Kernel = void (*)(int *, const int *);
struct Case {
  const char *name;
  Kernel kernel[2];  // right and wrong
  int blocks;
  bool is_cluster;
};
#define CASE(name, blocks, is_cluster) {#name, {name<false>, name<true>}, blocks, is_cluster}
const Case cases[] = {
    CASE(bytes_too_few, 1, false), CASE(bytes_too_many, 1, false), CASE(wrong_parity, 1, false), CASE(arrival_count_off_by_one, 1, false), CASE(init_without_barrier, 1, false),
    CASE(reinit_while_live, 1, false), CASE(read_before_wait, 1, false), CASE(one_waits_for_all, 1, false), CASE(stage_reused_before_empty, 1, false),
    CASE(threads_wrote_before_a_load, 1, false), CASE(store_without_proxy_fence, 1, false), CASE(fence_of_the_issuer, 1, false), CASE(store_source_reused, 1, false),
    CASE(exit_before_wait_read, 1, false), CASE(stored_and_read_again, 1, false), CASE(blocks_add_to_one_array, 2, false), CASE(multicast_to_an_ended_block, 2, true),
    CASE(remote_arrive_before_init_known, 2, true), CASE(cluster_arrive_relaxed, 2, true), CASE(init_told_by_a_relaxed_arrival, 2, true),
    CASE(copied_by_threads_in_no_group, 1, false), CASE(waits_relaxed, 1, false), CASE(stored_for_another_block, 2, false), CASE(written_by_another_block, 2, false),
};

void run(const Case &one, bool wrong) {
  int x[n], y[n], *in, *out;
  for (int i = 0; i < n; i++) x[i] = 3 * i + 1;
  CHECK(cudaMalloc(&in, bytes));
  CHECK(cudaMalloc(&out, bytes));
  CHECK(cudaMemcpy(in, x, bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(out, 0, bytes));
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = 2, cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = one.blocks, config.blockDim = threads;
  config.attrs = &cluster, config.numAttrs = one.is_cluster;
  const int *from = in;
  CHECK(cudaLaunchKernelEx(&config, one.kernel[wrong], out, from));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(y, out, bytes, cudaMemcpyDeviceToHost));
  int right = 0;
  for (int i = 0; i < n; i++) right += y[i] == 2 * x[i];
  if (!wrong || right == n) printf("%s%s\n", one.name, right == n ? "" : ": wrong answer");
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
}

int main(int argc, char **argv) { run_named(argc, argv, cases, run); }
