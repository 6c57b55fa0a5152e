// cg::inclusive_scan and cg::exclusive_scan over tiles and coalesced groups.
#pragma once
#include "reduce.h"

namespace cooperative_groups {

template <class Group, class T, class Operator>
static inline T inclusive_scan(const Group &group, T value, Operator combine, CUDA_ON_CPU_LINE) {
  for (unsigned int step = 1; step < group.num_threads(); step *= 2) {
    T before = group.shfl_up(value, step, line);
    if (group.thread_rank() >= step) value = combine(before, value);
  }
  return value;
}
template <class Group, class T>
static inline T inclusive_scan(const Group &group, T value, CUDA_ON_CPU_LINE) {
  return inclusive_scan(group, value, plus<T>(), line);
}

// The first thread's result is T(), where CUDA leaves it open but for sums.
template <class Group, class T, class Operator>
static inline T exclusive_scan(const Group &group, T value, Operator combine, CUDA_ON_CPU_LINE) {
  T before = group.shfl_up(inclusive_scan(group, value, combine, line), 1, line);
  return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class T>
static inline T exclusive_scan(const Group &group, T value, CUDA_ON_CPU_LINE) {
  return exclusive_scan(group, value, plus<T>(), line);
}

}  // namespace cooperative_groups
