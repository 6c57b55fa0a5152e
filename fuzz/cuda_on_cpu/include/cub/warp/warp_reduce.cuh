// cub::WarpReduce: the values of a warp, or of each 2, 4, 8 or 16 lanes of one, combined in the lowest lane.
//
// By shuffles from above, as in cub. The other lanes get their own partial results, not the sum.
#pragma once
#include "../operators.h"

namespace cub {
namespace details {

// A shuffle of any trivial value, in words.
template <class T>
T shuffle(unsigned int mask, const T &value, int source, int line) {
  static_assert(cuda_on_cpu::is_trivial<T>, "cub shuffles trivial values");
  if constexpr (!std::is_trivially_copyable_v<T>) return cuda_on_cpu::shuffle(mask, value, source, line);
  unsigned int words[(sizeof(T) + 3) / 4] = {};
  __builtin_memcpy(words, static_cast<const void *>(&value), sizeof value);
  for (unsigned int &word : words) word = __shfl_sync(mask, word, source, 32, line);
  T other = value;
  __builtin_memcpy(static_cast<void *>(&other), words, sizeof other);
  return other;
}

// The first `valid` lanes of each `width` combined in the lowest one; the last warp of a block may have fewer lanes.
template <class T, class Operator>
T warp_reduce(T value, Operator combine, int width, int valid, int line) {
  int place = cuda_on_cpu::lane() & (width - 1), first = cuda_on_cpu::lane() - place;
  int left = static_cast<int>(blockDim.x * blockDim.y * blockDim.z) - (cuda_on_cpu::thread_rank() - place);
  int count = left < width ? left : width;
  unsigned int mask = (count == 32 ? ~0u : (1u << count) - 1) << first;
  for (int offset = 1; offset < width; offset *= 2) {
    bool is_there = place + offset < count;
    T other = shuffle(mask, value, first + (is_there ? place + offset : place), line);
    if (is_there && place + offset < valid) value = combine(value, other);
  }
  return value;
}

template <class T, int N, class Operator>
T thread_reduce(T (&values)[N], Operator combine) {
  T total = values[0];
  for (int i = 1; i < N; i++) total = combine(total, values[i]);
  return total;
}

}  // namespace details

template <class T, int LogicalWarpThreads = 32, int LegacyArch = 0>
class WarpReduce {
  static_assert(LogicalWarpThreads > 0 && LogicalWarpThreads <= 32 && (LogicalWarpThreads & (LogicalWarpThreads - 1)) == 0,
                "the cpu device has logical warps of 1, 2, 4, 8, 16 and 32 threads");

 public:
  struct TempStorage {};
  explicit WarpReduce(TempStorage &) {}

  template <class Operator>
  T Reduce(T input, Operator combine, int valid_items = LogicalWarpThreads, CUDA_ON_CPU_LINE) {
    return details::warp_reduce(input, combine, LogicalWarpThreads, valid_items, line);
  }
  T Sum(T input, int valid_items = LogicalWarpThreads, CUDA_ON_CPU_LINE) {
    return details::warp_reduce(input, cub::Sum(), LogicalWarpThreads, valid_items, line);
  }
};

}  // namespace cub
