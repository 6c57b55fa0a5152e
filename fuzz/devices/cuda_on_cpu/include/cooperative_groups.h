// Cooperative groups: the block, tiles of up to a warp, and coalesced groups.
#pragma once
#include "cuda_on_cpu.h"

namespace cooperative_groups {

class thread_block {
 public:
  static unsigned int size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned int num_threads() { return size(); }
  static unsigned int thread_rank() { return static_cast<unsigned int>(cuda_on_cpu::thread_rank()); }
  static dim3 group_index() { return dim3(blockIdx); }
  static dim3 thread_index() { return dim3(threadIdx); }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
  static void sync(CUDA_ON_CPU_LINE) { cuda_on_cpu_barrier(line); }
};

static inline thread_block this_thread_block() { return {}; }

namespace details {

// What tiles and coalesced groups share. Ranks number the lanes of the mask from the lowest.
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
  unsigned int match_any(T value, CUDA_ON_CPU_LINE) const {
    return pack(__match_any_sync(mask_, value, line));
  }
  template <class T>
  unsigned int match_all(T value, int &all_same, CUDA_ON_CPU_LINE) const {
    return pack(__match_all_sync(mask_, value, &all_same, line));
  }
  template <class T>
  T shfl(T value, int rank, CUDA_ON_CPU_LINE) const {
    return cuda_on_cpu::shuffle(mask_, value, lane_of(static_cast<unsigned int>(rank) % num_threads()), line);
  }
  template <class T>
  T shfl_up(T value, unsigned int delta, CUDA_ON_CPU_LINE) const {
    unsigned int rank = thread_rank();
    return cuda_on_cpu::shuffle(mask_, value, lane_of(delta <= rank ? rank - delta : rank), line);
  }
  template <class T>
  T shfl_down(T value, unsigned int delta, CUDA_ON_CPU_LINE) const {
    unsigned int rank = thread_rank();
    return cuda_on_cpu::shuffle(mask_, value, lane_of(delta < num_threads() - rank ? rank + delta : rank), line);
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

template <unsigned int Size, class Parent = void>
class thread_block_tile : public details::lanes {
  static_assert(Size != 0 && Size <= 32 && (Size & (Size - 1)) == 0,
                "the cpu device has tiles of 1, 2, 4, 8, 16 and 32 threads");

 public:
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
    return __shfl_xor_sync(this->lane_mask(), value, static_cast<int>(lane_mask), Size, line);
  }
};

class coalesced_group : public details::lanes {
 public:
  explicit coalesced_group(unsigned int mask) : lanes(mask) {}
  unsigned int size() const { return num_threads(); }
};

static inline coalesced_group coalesced_threads(CUDA_ON_CPU_LINE) { return coalesced_group(__activemask(line)); }

template <unsigned int Size, class Group>
static inline thread_block_tile<Size, Group> tiled_partition(const Group &) {
  return {};
}

static inline void sync(const thread_block &, CUDA_ON_CPU_LINE) { cuda_on_cpu_barrier(line); }
template <class Group>
static inline void sync(const Group &group, CUDA_ON_CPU_LINE) {
  group.sync(line);
}
template <class Group>
static inline unsigned int thread_rank(const Group &group) {
  return group.thread_rank();
}

}  // namespace cooperative_groups
