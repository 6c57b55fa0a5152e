// PTX's instructions in which the threads of a warp or a block meet.
#pragma once
#include "../warp.h"
#include "floats.h"

CUDA_ON_CPU_IMPORT void cuda_on_cpu_named_barrier(uint32_t number, uint32_t threads, bool waits, int line);

namespace cuda_on_cpu {

template <class T, Shuffle kind, class To, class P, class A, class B, class C>
CUDA_ON_CPU_INLINE void ptx_shfl(int line, To &&to, P &&is_within, A value, B by, C clamp, uint32_t mask) {
  ShuffleSource from = shuffle_source<kind>(ptx_as<uint32_t>(by), ptx_as<uint32_t>(clamp));
  ptx_put(to, shuffle(mask, ptx_kept<T, To>(value), from.lane, line));
  ptx_put(is_within, from.is_within);
}
template <class To, class P>
CUDA_ON_CPU_INLINE void ptx_elect(int line, To &&leader, P &&is_leader, uint32_t mask) {
  auto first = static_cast<uint32_t>(__ffs(static_cast<int>(__ballot_sync(mask, 1, line))) - 1);
  ptx_put(leader, first);
  ptx_put(is_leader, first == static_cast<uint32_t>(lane()));
}
template <class To, class Predicate>
CUDA_ON_CPU_INLINE void ptx_vote_uni(int line, To &&to, Predicate is_so, uint32_t mask) {
  uint32_t those = __ballot_sync(mask, is_so, line);
  ptx_put(to, those == 0 || those == __ballot_sync(mask, 1, line));
}
template <class T, class To, class A>
CUDA_ON_CPU_INLINE void ptx_match_any(int line, To &&to, A value, uint32_t mask) {
  ptx_put(to, __match_any_sync(mask, ptx_as<T>(value), line));
}
template <class T, class To, class P, class A>
CUDA_ON_CPU_INLINE void ptx_match_all(int line, To &&to, P &&all_same, A value, uint32_t mask) {
  int same;
  ptx_put(to, __match_all_sync(mask, ptx_as<T>(value), &same, line));
  ptx_put(all_same, same != 0);
}

// The least or the greatest float of the lanes in the mask.
template <bool larger, bool keeps_nan, bool of_sizes, class To, class A>
CUDA_ON_CPU_INLINE void ptx_redux_float(int line, To &&to, A value, uint32_t mask) {
  float own = ptx_as<float>(value), made = 0;
  bool is_first = true;
  for (int i = 0; i < 32; i++) {
    if (!(mask >> i & 1)) continue;
    float other = shuffle(mask, own, i, line);
    if (of_sizes) other = std::fabs(other);
    made = is_first ? other : larger ? ptx_larger<keeps_nan, false>(made, other) : ptx_smaller<keeps_nan, false>(made, other);
    is_first = false;
  }
  ptx_put(to, made != made ? std::numeric_limits<float>::quiet_NaN() : made);
}
template <bool keeps_nan, bool of_sizes, class To, class A>
CUDA_ON_CPU_INLINE void ptx_redux_min(int line, To &&to, A value, uint32_t mask) {
  ptx_redux_float<false, keeps_nan, of_sizes>(line, to, value, mask);
}
template <bool keeps_nan, bool of_sizes, class To, class A>
CUDA_ON_CPU_INLINE void ptx_redux_max(int line, To &&to, A value, uint32_t mask) {
  ptx_redux_float<true, keeps_nan, of_sizes>(line, to, value, mask);
}

// Barriers by number, 0 to 15; without a count, for the whole block.
CUDA_ON_CPU_INLINE void ptx_barrier(int line, uint32_t number) {
  if (number == 0) return cuda_on_cpu_barrier(line);
  cuda_on_cpu_named_barrier(number, blockDim.x * blockDim.y * blockDim.z, true, line);
}
CUDA_ON_CPU_INLINE void ptx_barrier(int line, uint32_t number, uint32_t threads) { cuda_on_cpu_named_barrier(number, threads, true, line); }
CUDA_ON_CPU_INLINE void ptx_arrive(int line, uint32_t number, uint32_t threads) { cuda_on_cpu_named_barrier(number, threads, false, line); }

}  // namespace cuda_on_cpu
