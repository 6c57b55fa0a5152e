// Programs of one page with mbarriers that count bytes and bulk copies. Arguments: names of cases, `wrong` before those that
// are to have their bug. Each right case prints its name if its answer is right. For nvcc: -std=c++17 -gencode arch=compute_90a,code=sm_90a.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>

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
// Thread 0 alone.
__device__ void load_all(int *tile, const int *x, uint64_t *full) {
  if (threadIdx.x) return;
  expect(full, bytes);
  load(tile, x, bytes, full);
}
__device__ void wait(uint64_t *full, int parity = 0) {
  while (!ptx::mbarrier_try_wait_parity(full, parity)) {}
}
__device__ void commit_and_wait(bool of_reads = true) {
  ptx::cp_async_bulk_commit_group();
  if (of_reads) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  else ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
}
__device__ void fill(int *tile, const int *x, int times = 1) {
  for (int i = threadIdx.x; i < n; i += threads) tile[i] = times * x[i];
}
__device__ void fill_for_copies(int *tile, const int *x, int times = 1) {
  fill(tile, x, times);
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
}
#define TILE __shared__ alignas(128) int tile[n]
#define TILE_AND_MBARRIER(count) TILE; __shared__ uint64_t full; init(&full, count)
#define COPIED(y, tile) for (int i = threadIdx.x; i < n; i += threads) (y)[i] = 2 * (tile)[i]

// Global to shared memory.
template <bool wrong> __global__ void bytes_too_few(int *y, const int *x) {
  TILE_AND_MBARRIER(1);
  if (threadIdx.x == 0) {
    expect(&full, wrong ? bytes / 2 : bytes);
    load(tile, x, bytes / 2, &full);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile + n / 2, x + n / 2, bytes / 2, &full);  //~ error: transaction-bytes if bytes_too_few
  }
  wait(&full);
  COPIED(y, tile);
}
template <bool wrong> __global__ void bytes_too_many(int *y, const int *x) {
  TILE_AND_MBARRIER(1);
  if (threadIdx.x == 0) {
    load(tile, x, bytes, &full);  // before it is expected: the arrival is missing until then
    expect(&full, wrong ? 2 * bytes : bytes);
  }
  while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}  //~ error: transaction-bytes if bytes_too_many
  COPIED(y, tile);
}
template <bool wrong> __global__ void wrong_parity(int *y, const int *x) {
  TILE_AND_MBARRIER(1);
  load_all(tile, x, &full);
  wait(&full, wrong ? 1 : 0);
  COPIED(y, tile);  //~ error: copy-in-flight if wrong_parity
}
template <bool wrong> __global__ void arrival_count_off_by_one(int *y, const int *x) {
  TILE_AND_MBARRIER(wrong ? threads + 1 : threads);
  if (threadIdx.x == 0) {
    ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, &full, bytes);
    load(tile, x, bytes, &full);
  }
  uint64_t state = ptx::mbarrier_arrive(&full);
  while (!ptx::mbarrier_try_wait(&full, state)) {}  //~ error: hang if arrival_count_off_by_one
  COPIED(y, tile);
}
template <bool wrong> __global__ void init_without_barrier(int *y, const int *x) {
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
template <bool wrong> __global__ void reinit_while_live(int *y, const int *x) {
  TILE_AND_MBARRIER(1);
  for (int half = 0; half < 2; half++) {
    if (threadIdx.x == 0) {
      expect(&full, bytes / 2);
      load(tile + half * n / 2, x + half * n / 2, bytes / 2, &full);
    }
    wait(&full);
    __syncthreads();
    if (threadIdx.x == 0) {
      if (!wrong) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(&full))) : "memory");
      ptx::mbarrier_init(&full, 1);  //~ error: mbarrier-misuse if reinit_while_live
    }
    __syncthreads();
  }
  COPIED(y, tile);
}
template <bool wrong> __global__ void read_before_wait(int *y, const int *x) {
  TILE_AND_MBARRIER(1);
  load_all(tile, x, &full);
  if (wrong) __syncthreads();  // orders threads, not the copy
  else wait(&full);
  COPIED(y, tile);  //~ error: copy-in-flight if read_before_wait
}
// One thread waits, and tells the others by a barrier; or by nothing.
template <bool wrong> __global__ void one_waits_for_all(int *y, const int *x) {
  TILE_AND_MBARRIER(1);
  load_all(tile, x, &full);
  if (threadIdx.x == 0) wait(&full);
  if (!wrong) __syncthreads();
  COPIED(y, tile);  //~ error: copy-in-flight if one_waits_for_all
}
// A ring of two stages, for four tiles of one half each.
template <bool wrong> __global__ void stage_reused_before_empty(int *y, const int *x) {
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
        wait(&empty[s], (t / stages - 1) & 1);
      expect(&full[s], each * sizeof(int));
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, ring[s], x + t * each, each * sizeof(int), &full[s]);  //~ error: race if stage_reused_before_empty
      if (wrong) wait(&full[s], t / stages & 1);  // that it is full, not that it is free
    }
    return;
  }
  for (int t = 0; t < tiles; t++) {
    int s = t % stages;
    wait(&full[s], t / stages & 1);
    y[t * each + threadIdx.x] = 2 * ring[s][threadIdx.x];
    ptx::mbarrier_arrive(&empty[s]);
  }
}
template <bool wrong> __global__ void threads_wrote_before_a_load(int *y, const int *x) {
  TILE;
  __shared__ uint64_t full;
  for (int i = threadIdx.x; i < n; i += threads) tile[i] = 0;
  if (!wrong) ptx::fence_proxy_async(ptx::space_shared);
  init(&full, 1);
  if (threadIdx.x == 0) {
    expect(&full, bytes);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, x, bytes, &full);  //~ error: missing-proxy-fence if threads_wrote_before_a_load
  }
  wait(&full);
  COPIED(y, tile);
}

// Shared to global memory.
template <bool wrong> __global__ void store_without_proxy_fence(int *y, const int *x) {
  TILE;
  fill(tile, x, 2);
  if (!wrong) ptx::fence_proxy_async(ptx::space_shared);
  else ptx::fence_proxy_async(ptx::space_global);  // of other memory
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y, tile, bytes);  //~ error: missing-proxy-fence if store_without_proxy_fence
    commit_and_wait();
  }
}
// The thread that asks for the copy fences, after the barrier: what it knows has passed the fence then.
template <bool wrong> __global__ void fence_of_the_issuer(int *y, const int *x) {
  TILE;
  fill(tile, x, 2);
  if (wrong && threadIdx.x == 0) ptx::fence_proxy_async();  // before it knows of the others
  __syncthreads();
  if (threadIdx.x == 0) {
    if (!wrong) ptx::fence_proxy_async();
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y, tile, bytes);  //~ error: missing-proxy-fence if fence_of_the_issuer
    commit_and_wait();
  }
}
template <bool wrong> __global__ void store_source_reused(int *y, const int *x) {
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
template <bool wrong> __global__ void exit_before_wait_read(int *y, const int *x) {
  TILE;
  fill_for_copies(tile, x, 2);
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y, tile, bytes);  //~ error: copy-in-flight if exit_before_wait_read
    ptx::cp_async_bulk_commit_group();
    if (!wrong) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}
// The destination is written only after wait_group without .read.
template <bool wrong> __global__ void stored_and_read_again(int *y, const int *x) {
  TILE;
  fill_for_copies(tile, x);
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y, tile, bytes);
    commit_and_wait(wrong);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += threads) y[i] *= 2;  //~ error: copy-in-flight if stored_and_read_again
}
// Both blocks add to one array; or both write it, and one element is not the same.
template <bool wrong> __global__ void blocks_add_to_one_array(int *y, const int *x) {
  TILE;
  fill(tile, x);
  if (wrong && threadIdx.x == threads - 1) tile[n - 1] += blockIdx.x;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x) return;
  if (wrong) ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y, tile, bytes);  //~ error: copy-in-flight if blocks_add_to_one_array
  else ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, y, tile, bytes);
  commit_and_wait(false);
}

// Copies of threads in no group, which wait_all waits for; a bulk copy stores what they have copied.
template <bool wrong> __global__ void copied_by_threads_in_no_group(int *y, const int *x) {
  TILE;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(tile + 4 * threadIdx.x))), "l"(x + 4 * threadIdx.x) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  if (!wrong) ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; i++) ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, y, tile, bytes);  //~ error: missing-proxy-fence if copied_by_threads_in_no_group
    commit_and_wait();
  }
}
template <bool wrong> __global__ void waits_relaxed(int *y, const int *x) {
  __shared__ int tile[n];
  __shared__ uint64_t full;
  init(&full, threads);
  fill(tile, x);
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
template <bool wrong> __global__ void stored_for_another_block(int *y, const int *x) {
  TILE;
  if (blockIdx.x == 0) {
    fill_for_copies(tile, x);
    if (threadIdx.x == 0) {
      ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, box, tile, bytes);
      commit_and_wait(wrong);
    }
    raise_flag();
  } else {
    take_flag();
    COPIED(y, box);  //~ error: copy-in-flight if stored_for_another_block
  }
}
template <bool wrong> __global__ void written_by_another_block(int *y, const int *x) {
  TILE_AND_MBARRIER(1);
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
    wait(&full);
    COPIED(y, tile);
  }
}

// Clusters of two blocks.
template <bool wrong> __global__ void multicast_to_an_ended_block(int *y, const int *x) {
  TILE;
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
  wait(&full);
  if (cluster.block_rank() == 1 || wrong) COPIED(y, tile);
  if (!wrong) cluster.sync();
}
template <bool wrong> __global__ void remote_arrive_before_init_known(int *y, const int *x) {
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
template <bool wrong> __global__ void cluster_arrive_relaxed(int *y, const int *x) {
  __shared__ int tile[n];
  cg::cluster_group cluster = cg::this_cluster();
  fill(tile, x);
  if (wrong) ptx::barrier_cluster_arrive(ptx::sem_relaxed);
  else ptx::barrier_cluster_arrive(ptx::sem_release);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
  int *other = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
  if (cluster.block_rank() == 0) COPIED(y, other);  //~ error: race if cluster_arrive_relaxed
  cluster.sync();
}
// Two copies of the same values: the first may be under way when the second is asked for; or both blocks make them.
template <bool wrong> __global__ void threads_store_the_same(int *y, const int *x) {
  TILE;
  fill_for_copies(tile, x, 2);
  if (threadIdx.x % (wrong ? 32 : threads)) return;
  ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y, tile, bytes);  //~ warning: race if threads_store_the_same
  commit_and_wait(false);
}
template <bool wrong> __global__ void blocks_store_the_same(int *y, const int *x) {
  TILE;
  fill_for_copies(tile, x, 2);
  if (threadIdx.x || (!wrong && blockIdx.x)) return;
  ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y, tile, bytes);  //~ warning: race if blocks_store_the_same
  commit_and_wait(false);
}

// Initialised, fenced and told by a relaxed arrival: enough for the mbarrier, and for nothing else.
template <bool wrong> __global__ void init_told_by_a_relaxed_arrival(int *y, const int *x) {
  __shared__ alignas(128) int tile[n], theirs[n];
  __shared__ uint64_t full;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full, 1);
    if (!wrong) ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  fill_for_copies(tile, x);
  if (threadIdx.x == 0) expect(&full, bytes);
  ptx::barrier_cluster_arrive(ptx::sem_relaxed);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
  if (threadIdx.x == 0) {
    unsigned rank = cluster.block_rank() ^ 1;
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, cluster.map_shared_rank(theirs, rank), tile, bytes, cluster.map_shared_rank(&full, rank));  //~ error: mbarrier-misuse if init_told_by_a_relaxed_arrival
  }
  wait(&full);
  if (cluster.block_rank() == 0) COPIED(y, theirs);
  cluster.sync();
}

struct Case {
  const char *name;
  void (*kernel[2])(int *, const int *);  // right and wrong
  int blocks, of_a_cluster;
};
#define CASE(name, ...) {#name, {name<false>, name<true>}, __VA_ARGS__}
const Case cases[] = {
    CASE(bytes_too_few, 1), CASE(bytes_too_many, 1), CASE(wrong_parity, 1), CASE(arrival_count_off_by_one, 1), CASE(init_without_barrier, 1),
    CASE(reinit_while_live, 1), CASE(read_before_wait, 1), CASE(one_waits_for_all, 1), CASE(stage_reused_before_empty, 1), CASE(threads_wrote_before_a_load, 1),
    CASE(store_without_proxy_fence, 1), CASE(fence_of_the_issuer, 1), CASE(store_source_reused, 1), CASE(exit_before_wait_read, 1), CASE(stored_and_read_again, 1),
    CASE(blocks_add_to_one_array, 2), CASE(multicast_to_an_ended_block, 2, 2), CASE(remote_arrive_before_init_known, 2, 2), CASE(cluster_arrive_relaxed, 2, 2),
    CASE(init_told_by_a_relaxed_arrival, 2, 2), CASE(copied_by_threads_in_no_group, 1), CASE(waits_relaxed, 1), CASE(stored_for_another_block, 2),
    CASE(written_by_another_block, 2), CASE(threads_store_the_same, 1), CASE(blocks_store_the_same, 2),
};

void run(const Case &one, bool wrong) {
  auto launch = [&](int *y, const int *x) { launch_clusters(one.blocks, threads, one.of_a_cluster, one.kernel[wrong], y, x); };
  report(one.name, wrong, doubles(n, launch));
}

int main(int argc, char **argv) { run_named(argc, argv, cases, run); }
