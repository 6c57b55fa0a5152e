// Cooperative groups: the grid, clusters, the block, tiles of it, and coalesced groups. Long, because it is CUDA's own
// header of that name, which kernels include.
#pragma once
#include "cuda_on_cpu.h"

namespace cooperative_groups {

namespace details {

// Where the warps of tiles larger than a warp meet: a barrier for each tile, and a value of each warp.
struct tile_memory {
  static constexpr int value_bytes = 32;
  unsigned int arrived[32], turns[32];
  alignas(16) unsigned char values[32][value_bytes];
};

}  // namespace details

// Of one size, for any block.
template <unsigned int MaxBlockSize = 1024>
struct block_tile_memory : details::tile_memory {};

class thread_block {
 public:
  explicit thread_block(details::tile_memory *memory) : memory(memory) {}
  details::tile_memory *memory;
  static unsigned int size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned int num_threads() { return size(); }
  static unsigned int thread_rank() { return static_cast<unsigned int>(cuda_on_cpu::thread_rank()); }
  static dim3 group_index() { return dim3(blockIdx); }
  static dim3 thread_index() { return dim3(threadIdx); }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
  static void sync(CUDA_ON_CPU_LINE) { cuda_on_cpu_barrier(line); }
  // Only the wait counts: what happens in between is ordered as if it came before the arrival.
  struct arrival_token {};
  static arrival_token barrier_arrive() { return {}; }
  static void barrier_wait(arrival_token &&, CUDA_ON_CPU_LINE) { cuda_on_cpu_barrier(line); }
};

static inline thread_block this_thread_block() { return thread_block(nullptr); }
template <unsigned int MaxBlockSize>
static inline thread_block this_thread_block(block_tile_memory<MaxBlockSize> &memory, CUDA_ON_CPU_LINE) {
  if (thread_block::thread_rank() < 32) memory.arrived[thread_block::thread_rank()] = memory.turns[thread_block::thread_rank()] = 0;
  cuda_on_cpu_barrier(line);
  return thread_block(&memory);
}

namespace details {

// A shuffle of any type of up to 32 bytes, which cooperative groups have but __shfl_sync has not.
template <class T>
T shuffle(unsigned int mask, T value, int source, int line) {
  static_assert(cuda_on_cpu::is_trivial<T> && sizeof(T) <= 32, "groups shuffle trivial values of up to 32 bytes");
  if constexpr (!std::is_trivially_copyable_v<T>) return cuda_on_cpu::shuffle(mask, value, source, line);
  uint64_t pieces[(sizeof(T) + 7) / 8] = {};
  __builtin_memcpy(pieces, static_cast<const void *>(&value), sizeof value);
  for (uint64_t &piece : pieces) piece = cuda_on_cpu::shuffle(mask, piece, source, line);
  __builtin_memcpy(static_cast<void *>(&value), pieces, sizeof value);
  return value;
}

// The common base of tiles and coalesced groups. Ranks number the lanes of the mask from the lowest.
class lanes {
 public:
  unsigned int lane_mask() const { return mask_; }
  unsigned int thread_rank() const { return static_cast<unsigned int>(__popc(mask_ & ((1u << cuda_on_cpu::lane()) - 1))); }
  unsigned int num_threads() const { return static_cast<unsigned int>(__popc(mask_)); }
  void sync(CUDA_ON_CPU_LINE) const { __syncwarp(mask_, line); }
  int any(int predicate, CUDA_ON_CPU_LINE) const { return __any_sync(mask_, predicate, line); }
  int all(int predicate, CUDA_ON_CPU_LINE) const { return __all_sync(mask_, predicate, line); }
  unsigned int ballot(int predicate, CUDA_ON_CPU_LINE) const { return pack(__ballot_sync(mask_, predicate, line)); }
  template <class T>
  unsigned int match_any(T value, CUDA_ON_CPU_LINE) const { return pack(__match_any_sync(mask_, value, line)); }
  template <class T>
  unsigned int match_all(T value, int &all_same, CUDA_ON_CPU_LINE) const {
    return pack(__match_all_sync(mask_, value, &all_same, line));
  }
  template <class T>
  T shfl(T value, int rank, CUDA_ON_CPU_LINE) const {
    return shuffle(mask_, value, lane_of(static_cast<unsigned int>(rank) % num_threads()), line);
  }
  template <class T>
  T shfl_up(T value, unsigned int delta, CUDA_ON_CPU_LINE) const {
    unsigned int rank = thread_rank();
    return shuffle(mask_, value, lane_of(delta <= rank ? rank - delta : rank), line);
  }
  template <class T>
  T shfl_down(T value, unsigned int delta, CUDA_ON_CPU_LINE) const {
    unsigned int rank = thread_rank();
    return shuffle(mask_, value, lane_of(delta < num_threads() - rank ? rank + delta : rank), line);
  }

 protected:
  explicit lanes(unsigned int mask) : mask_(mask) {}
  int lane_of(unsigned int rank) const {
    unsigned int rest = mask_;
    while (rank--) rest &= rest - 1;
    return __ffs(static_cast<int>(rest)) - 1;
  }

 private:
  unsigned int pack(unsigned int lanes) const {  // bit i: the lane of rank i
    unsigned int packed = 0;
    for (unsigned int rank = 0; rank < num_threads(); rank++) packed |= (lanes >> lane_of(rank) & 1u) << rank;
    return packed;
  }
  unsigned int mask_;
};

}  // namespace details

template <unsigned int Size, class Parent = void, bool IsLarge = (Size > 32)>
class thread_block_tile : public details::lanes {
  static_assert(Size != 0 && (Size & (Size - 1)) == 0, "the threads of a tile are a power of two");

 public:
  explicit thread_block_tile(const thread_block &) : thread_block_tile() {}
  template <class Other>
  thread_block_tile(const thread_block_tile<Size, Other> &) : thread_block_tile() {}
  thread_block_tile() : lanes((Size == 32 ? ~0u : (1u << Size % 32) - 1) << (cuda_on_cpu::lane() & ~(Size - 1))) {}
  static constexpr unsigned int size() { return Size; }
  static constexpr unsigned int num_threads() { return Size; }
  unsigned int thread_rank() const { return static_cast<unsigned int>(cuda_on_cpu::lane()) & (Size - 1); }
  unsigned int meta_group_rank() const { return thread_block::thread_rank() / Size; }
  unsigned int meta_group_size() const { return (thread_block::size() + Size - 1) / Size; }
  template <class T>
  T shfl_xor(T value, unsigned int lane_mask, CUDA_ON_CPU_LINE) const {
    return details::shuffle(this->lane_mask(), value, cuda_on_cpu::lane() ^ static_cast<int>(lane_mask % Size), line);
  }
};

// Several warps, which meet in the memory that the block has for it.
template <unsigned int Size, class Parent>
class thread_block_tile<Size, Parent, true> {
  static_assert(Size <= 1024 && (Size & (Size - 1)) == 0, "the threads of a tile are a power of two");

 public:
  template <class Other>
  thread_block_tile(const thread_block_tile<Size, Other, true> &other) : memory(other.memory) {}
  explicit thread_block_tile(const thread_block &block) : memory(block.memory) {}
  static constexpr unsigned int size() { return Size; }
  static constexpr unsigned int num_threads() { return Size; }
  static unsigned int thread_rank() { return thread_block::thread_rank() % Size; }
  static unsigned int meta_group_rank() { return thread_block::thread_rank() / Size; }
  static unsigned int meta_group_size() { return (thread_block::size() + Size - 1) / Size; }
  void sync(CUDA_ON_CPU_LINE) const {
    if (!memory) cuda_on_cpu_trap(line);  // this_thread_block() did not get a block_tile_memory
    unsigned int mine = meta_group_rank(), left = thread_block::size() - mine * Size;
    __threadfence_block();
    unsigned int turn = atomicAdd(&memory->turns[mine], 0u);
    if (atomicAdd(&memory->arrived[mine], 1u) + 1 == (left < Size ? left : Size)) {
      atomicExch(&memory->arrived[mine], 0u);
      __threadfence_block();
      atomicAdd(&memory->turns[mine], 1u);
    }
    while (atomicAdd(&memory->turns[mine], 0u) == turn) {}
    __threadfence_block();
  }
  int any(int predicate, CUDA_ON_CPU_LINE) const;
  int all(int predicate, CUDA_ON_CPU_LINE) const { return !any(!predicate, line); }
  details::tile_memory *memory;
};

namespace details {

// Combines the values of a large tile: each warp's own by `in_warp`, then all threads combine the warps' in order.
template <unsigned int Size, class Parent, class T, class InWarp, class Operator>
T over_warps(const thread_block_tile<Size, Parent, true> &group, T value, InWarp in_warp, Operator combine, int line) {
  static_assert(cuda_on_cpu::is_trivial<T> && sizeof(T) <= tile_memory::value_bytes,
                "tiles larger than a warp combine trivial values of up to 32 bytes");
  unsigned int first = group.meta_group_rank() * (Size / 32), warps = (thread_block::size() + 31) / 32;
  value = in_warp(value);
  if (cuda_on_cpu::lane() == 0)
    *reinterpret_cast<T *>(group.memory->values[thread_block::thread_rank() / 32]) = value;
  group.sync(line);
  T total = *reinterpret_cast<T *>(group.memory->values[first]);
  for (unsigned int warp = first + 1; warp < first + Size / 32 && warp < warps; warp++)
    total = combine(total, *reinterpret_cast<T *>(group.memory->values[warp]));
  group.sync(line);
  return total;
}

}  // namespace details

template <unsigned int Size, class Parent>
int thread_block_tile<Size, Parent, true>::any(int predicate, int line) const {
  auto in_warp = [line](int value) { return __any_sync(~0u, value, line); };
  return details::over_warps(*this, static_cast<int>(predicate != 0), in_warp, [](int a, int b) { return a | b; }, line);
}

class coalesced_group : public details::lanes {
 public:
  explicit coalesced_group(unsigned int mask) : lanes(mask) {}
  unsigned int size() const { return num_threads(); }
  static unsigned int meta_group_rank() { return 0; }
  static unsigned int meta_group_size() { return 1; }
};

static inline coalesced_group coalesced_threads(CUDA_ON_CPU_LINE) { return coalesced_group(__activemask(line)); }

template <unsigned int Size>
static inline thread_block_tile<Size, thread_block> tiled_partition(const thread_block &block) {
  return thread_block_tile<Size, thread_block>(block);
}
template <unsigned int Size, unsigned int Outer, class Parent>
static inline auto tiled_partition(const thread_block_tile<Outer, Parent> &outer) {
  using Tile = thread_block_tile<Size, thread_block_tile<Outer, Parent>>;
  if constexpr (Size > 32)
    return Tile(thread_block(outer.memory));
  else
    return Tile();
}

// All blocks of a cooperative launch.
class grid_group {
 public:
  static bool is_valid() { return true; }
  static unsigned long long size() { return num_blocks() * thread_block::size(); }
  static unsigned long long num_threads() { return size(); }
  static unsigned long long num_blocks() { return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z; }
  static unsigned long long block_rank() {
    return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  static unsigned long long thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
  static dim3 group_dim() { return gridDim; }
  static dim3 dim_blocks() { return gridDim; }
  static void sync(CUDA_ON_CPU_LINE) { cuda_on_cpu_grid_barrier(line); }
  struct arrival_token {};  // as for a block
  static arrival_token barrier_arrive() { return {}; }
  static void barrier_wait(arrival_token &&, CUDA_ON_CPU_LINE) { cuda_on_cpu_grid_barrier(line); }
};

static inline grid_group this_grid() { return {}; }

// The blocks that start together and reach each other's shared memory; in a launch without clusters, the block alone.
class cluster_group {
 public:
  struct arrival_token {};
  static dim3 dim_blocks() { return dim3(cuda_on_cpu_cluster_side(0), cuda_on_cpu_cluster_side(1), cuda_on_cpu_cluster_side(2)); }
  static dim3 block_index() {
    dim3 dim = dim_blocks();
    return dim3(blockIdx.x % dim.x, blockIdx.y % dim.y, blockIdx.z % dim.z);
  }
  static unsigned int num_blocks() { return cuda_on_cpu_cluster_side(0) * cuda_on_cpu_cluster_side(1) * cuda_on_cpu_cluster_side(2); }
  static unsigned int block_rank() { return cuda_on_cpu_cluster_rank(); }
  static unsigned int num_threads() { return num_blocks() * thread_block::size(); }
  static unsigned int size() { return num_threads(); }
  static unsigned int thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
  static dim3 dim_threads() {
    dim3 dim = dim_blocks();
    return dim3(dim.x * blockDim.x, dim.y * blockDim.y, dim.z * blockDim.z);
  }
  static dim3 thread_index() {
    dim3 index = block_index();
    return dim3(index.x * blockDim.x + threadIdx.x, index.y * blockDim.y + threadIdx.y, index.z * blockDim.z + threadIdx.z);
  }
  static void sync(CUDA_ON_CPU_LINE) { cuda_on_cpu_cluster_barrier(line); }
  static arrival_token barrier_arrive(CUDA_ON_CPU_LINE) {
    cuda_on_cpu_cluster_arrive(line);
    return {};
  }
  static void barrier_wait(CUDA_ON_CPU_LINE) { cuda_on_cpu_cluster_wait(line); }
  static void barrier_wait(arrival_token &&, CUDA_ON_CPU_LINE) { cuda_on_cpu_cluster_wait(line); }
  static unsigned int query_shared_rank(const void *p) { return cuda_on_cpu_shared_rank(p); }
  template <class T>
  static T *map_shared_rank(T *p, int rank) {
    return static_cast<T *>(cuda_on_cpu_map_shared(const_cast<const void *>(static_cast<const volatile void *>(p)), static_cast<uint32_t>(rank)));
  }
};

static inline cluster_group this_cluster() { return {}; }

// Groups whose kind only the running program knows: a whole block, or lanes of a warp.
class thread_group {
 public:
  thread_group(const thread_block &) : lanes_(0), is_block_(true) {}
  thread_group(const details::lanes &lanes) : lanes_(lanes.lane_mask()), is_block_(false) {}
  unsigned int size() const { return is_block_ ? thread_block::size() : lanes_.num_threads(); }
  unsigned int num_threads() const { return size(); }
  unsigned int thread_rank() const { return is_block_ ? thread_block::thread_rank() : lanes_.thread_rank(); }
  void sync(CUDA_ON_CPU_LINE) const {
    if (is_block_)
      cuda_on_cpu_barrier(line);
    else
      lanes_.sync(line);
  }

 private:
  coalesced_group lanes_;
  bool is_block_;
};

// A tile of 1, 2, 4, 8, 16 or 32 threads.
static inline thread_group tiled_partition(const thread_group &, unsigned int size) {
  return coalesced_group((size == 32 ? ~0u : (1u << size % 32) - 1) << (cuda_on_cpu::lane() & ~static_cast<int>(size - 1)));
}
static inline thread_group this_thread() { return coalesced_group(1u << cuda_on_cpu::lane()); }

template <class Group, class Label>
static inline coalesced_group labeled_partition(const Group &group, Label label, CUDA_ON_CPU_LINE) {
  return coalesced_group(__match_any_sync(group.lane_mask(), label, line));
}
template <class Group>
static inline coalesced_group binary_partition(const Group &group, bool side, CUDA_ON_CPU_LINE) {
  unsigned int chosen = __ballot_sync(group.lane_mask(), side, line);
  return coalesced_group(side ? chosen : group.lane_mask() & ~chosen);
}
template <class Group, class Function, class... Argument>
static inline void invoke_one(const Group &group, Function &&function, Argument &&...arguments) {
  if (group.thread_rank() == 0) function(static_cast<Argument &&>(arguments)...);
}

template <class Group, class Function, class... Argument>
static inline auto invoke_one_broadcast(const Group &group, Function &&function, Argument &&...arguments) {
  decltype(function(static_cast<Argument &&>(arguments)...)) result{};
  if (group.thread_rank() == 0) result = function(static_cast<Argument &&>(arguments)...);
  return group.shfl(result, 0);
}

static inline void sync(const thread_block &, CUDA_ON_CPU_LINE) { cuda_on_cpu_barrier(line); }
template <class Group>
static inline void sync(const Group &group, CUDA_ON_CPU_LINE) { group.sync(line); }
template <class Group>
static inline unsigned int thread_rank(const Group &group) { return group.thread_rank(); }

}  // namespace cooperative_groups
