// cub::WarpScan: each lane's value combined with those of the lanes below it, by shuffles from below.
#pragma once
#include "warp_reduce.cuh"

namespace cub {
namespace details {

// All existing lanes of a block's last warp that belong to this logical warp.
template <class T, class Operator>
T warp_inclusive_scan(T value, Operator combine, int width, int line) {
  int place = cuda_on_cpu::lane() & (width - 1), first = cuda_on_cpu::lane() - place;
  int left = static_cast<int>(blockDim.x * blockDim.y * blockDim.z) - (cuda_on_cpu::thread_rank() - place);
  int count = left < width ? left : width;
  unsigned int mask = (count == 32 ? ~0u : (1u << count) - 1) << first;
  for (int offset = 1; offset < width; offset *= 2) {
    bool is_there = place >= offset;
    T other = shuffle(mask, value, first + (is_there ? place - offset : place), line);
    if (is_there) value = combine(other, value);
  }
  return value;
}

// The value of the lane below; `before` in the lowest.
template <class T>
T warp_shifted(T value, T before, int width, int line) {
  int place = cuda_on_cpu::lane() & (width - 1), first = cuda_on_cpu::lane() - place;
  int left = static_cast<int>(blockDim.x * blockDim.y * blockDim.z) - (cuda_on_cpu::thread_rank() - place);
  int count = left < width ? left : width;
  unsigned int mask = (count == 32 ? ~0u : (1u << count) - 1) << first;
  T other = shuffle(mask, value, first + (place ? place - 1 : 0), line);
  return place ? other : before;
}

}  // namespace details

template <class T, int LogicalWarpThreads = 32, int LegacyArch = 0>
class WarpScan {
  static_assert(LogicalWarpThreads > 0 && LogicalWarpThreads <= 32 && (LogicalWarpThreads & (LogicalWarpThreads - 1)) == 0,
                "the cpu device has logical warps of 1, 2, 4, 8, 16 and 32 threads");

 public:
  struct TempStorage {};
  explicit WarpScan(TempStorage &) {}

  template <class Operator>
  void InclusiveScan(T input, T &output, Operator combine, CUDA_ON_CPU_CALLER) {
    output = details::warp_inclusive_scan(input, combine, LogicalWarpThreads, line);
  }
  template <class Operator>
  void InclusiveScan(T input, T &output, Operator combine, T &aggregate, CUDA_ON_CPU_CALLER) {
    output = details::warp_inclusive_scan(input, combine, LogicalWarpThreads, line);
    aggregate = last(output, line);
  }
  template <class Operator>
  void ExclusiveScan(T input, T &output, T initial, Operator combine, CUDA_ON_CPU_CALLER) {
    T inclusive = details::warp_inclusive_scan(input, combine, LogicalWarpThreads, line);
    T below = details::warp_shifted(inclusive, initial, LogicalWarpThreads, line);
    output = cuda_on_cpu::lane() & (LogicalWarpThreads - 1) ? combine(initial, below) : initial;
  }
  void InclusiveSum(T input, T &output, CUDA_ON_CPU_CALLER) { InclusiveScan(input, output, cub::Sum(), line); }
  void InclusiveSum(T input, T &output, T &aggregate, CUDA_ON_CPU_CALLER) { InclusiveScan(input, output, cub::Sum(), aggregate, line); }
  void ExclusiveSum(T input, T &output, CUDA_ON_CPU_CALLER) {
    T inclusive = details::warp_inclusive_scan(input, cub::Sum(), LogicalWarpThreads, line);
    output = details::warp_shifted(inclusive, T{}, LogicalWarpThreads, line);
  }
  void ExclusiveSum(T input, T &output, T &aggregate, CUDA_ON_CPU_CALLER) {
    T inclusive = details::warp_inclusive_scan(input, cub::Sum(), LogicalWarpThreads, line);
    output = details::warp_shifted(inclusive, T{}, LogicalWarpThreads, line);
    aggregate = last(inclusive, line);
  }
  T Broadcast(T input, unsigned int source, CUDA_ON_CPU_CALLER) {
    int first = cuda_on_cpu::lane() & ~(LogicalWarpThreads - 1);
    return details::shuffle(~0u, input, first + static_cast<int>(source), line);
  }

 private:
  static T last(T inclusive, int line) {
    int first = cuda_on_cpu::lane() & ~(LogicalWarpThreads - 1);
    unsigned int mask = (LogicalWarpThreads == 32 ? ~0u : (1u << (LogicalWarpThreads & 31)) - 1) << first;
    return details::shuffle(mask, inclusive, first + LogicalWarpThreads - 1, line);
  }
};

}  // namespace cub
