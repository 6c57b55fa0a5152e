// cg::reduce over tiles and coalesced groups, and its operators.
#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
  T operator()(T a, T b) const { return a ^ b; }
};

template <unsigned int Size, class Parent, class T, class Operator>
static inline T reduce(const thread_block_tile<Size, Parent, false> &group, T value, Operator combine, CUDA_ON_CPU_LINE) {
  for (unsigned int step = Size / 2; step > 0; step /= 2) value = combine(value, group.shfl_xor(value, step, line));
  return value;
}

template <unsigned int Size, class Parent, class T, class Operator>
static inline T reduce(const thread_block_tile<Size, Parent, true> &group, T value, Operator combine, CUDA_ON_CPU_LINE) {
  auto in_warp = [combine, line](T mine) { return reduce(thread_block_tile<32>(), mine, combine, line); };
  return details::over_warps(group, value, in_warp, combine, line);
}

template <class T, class Operator>
static inline T reduce(const coalesced_group &group, T value, Operator combine, CUDA_ON_CPU_LINE) {
  T total = group.shfl(value, 0, line);
  for (unsigned int rank = 1; rank < group.num_threads(); rank++)
    total = combine(total, group.shfl(value, static_cast<int>(rank), line));
  return total;
}

}  // namespace cooperative_groups
