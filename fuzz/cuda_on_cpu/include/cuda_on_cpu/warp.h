// Warp collectives. The lane arithmetic is that of PTX shfl; in runtime/warp.cpp the lanes meet.
#pragma once
#include "../../runtime/warp_operations.h"
#include "bits.h"
#include "threads.h"

CUDA_ON_CPU_IMPORT uint64_t cuda_on_cpu_warp(cuda_on_cpu::WarpOperation operation, uint32_t mask, uint64_t value,
                                             int source, int line);

namespace cuda_on_cpu {

template <class T>
inline T shuffle(unsigned int mask, T value, int source, int line) {
  return from_bits<T>(cuda_on_cpu_warp(WarpOperation::shuffle, mask, to_bits(value), source, line));
}

inline unsigned int collect(WarpOperation operation, unsigned int mask, uint64_t value, int line) {
  return static_cast<unsigned int>(cuda_on_cpu_warp(operation, mask, value, 0, line));
}

}  // namespace cuda_on_cpu

static inline void __syncwarp(unsigned int mask = ~0u, CUDA_ON_CPU_LINE) {
  cuda_on_cpu::collect(cuda_on_cpu::WarpOperation::sync, mask, 0, line);
}

template <class T>
static inline T __shfl_sync(unsigned int mask, T value, int source, int width = 32, CUDA_ON_CPU_LINE) {
  return cuda_on_cpu::shuffle(mask, value, (cuda_on_cpu::lane() & ~(width - 1)) | (source & (width - 1)), line);
}

template <class T>
static inline T __shfl_up_sync(unsigned int mask, T value, unsigned int delta, int width = 32, CUDA_ON_CPU_LINE) {
  int lane = cuda_on_cpu::lane(), step = static_cast<int>(delta & 31);
  return cuda_on_cpu::shuffle(mask, value, (lane & (width - 1)) >= step ? lane - step : lane, line);
}

template <class T>
static inline T __shfl_down_sync(unsigned int mask, T value, unsigned int delta, int width = 32, CUDA_ON_CPU_LINE) {
  int lane = cuda_on_cpu::lane(), step = static_cast<int>(delta & 31);
  return cuda_on_cpu::shuffle(mask, value, (lane & (width - 1)) + step < width ? lane + step : lane, line);
}

template <class T>
static inline T __shfl_xor_sync(unsigned int mask, T value, int lane_mask, int width = 32, CUDA_ON_CPU_LINE) {
  int lane = cuda_on_cpu::lane(), source = lane ^ (lane_mask & 31);
  return cuda_on_cpu::shuffle(mask, value, source <= (lane | (width - 1)) ? source : lane, line);
}

static inline unsigned int __ballot_sync(unsigned int mask, int predicate, CUDA_ON_CPU_LINE) {
  return cuda_on_cpu::collect(cuda_on_cpu::WarpOperation::ballot, mask, predicate != 0, line);
}
static inline int __any_sync(unsigned int mask, int predicate, CUDA_ON_CPU_LINE) {
  return cuda_on_cpu::collect(cuda_on_cpu::WarpOperation::ballot, mask, predicate != 0, line) != 0;
}
static inline int __all_sync(unsigned int mask, int predicate, CUDA_ON_CPU_LINE) {
  return cuda_on_cpu::collect(cuda_on_cpu::WarpOperation::ballot, mask, predicate == 0, line) == 0;
}
static inline unsigned int __activemask(CUDA_ON_CPU_LINE) {
  return cuda_on_cpu::collect(cuda_on_cpu::WarpOperation::converge, ~0u, 0, line);
}

template <class T>
static inline unsigned int __match_any_sync(unsigned int mask, T value, CUDA_ON_CPU_LINE) {
  return cuda_on_cpu::collect(cuda_on_cpu::WarpOperation::match, mask, cuda_on_cpu::to_bits(value), line);
}
template <class T>
static inline unsigned int __match_all_sync(unsigned int mask, T value, int *all_same, CUDA_ON_CPU_LINE) {
  unsigned int same = cuda_on_cpu::collect(cuda_on_cpu::WarpOperation::match_all, mask, cuda_on_cpu::to_bits(value), line);
  *all_same = same != 0;
  return same;
}

#define CUDA_ON_CPU_REDUCE(type, name, operation)                                              \
  static inline type __reduce_##name##_sync(unsigned int mask, type value, CUDA_ON_CPU_LINE) { \
    return static_cast<type>(cuda_on_cpu::collect(cuda_on_cpu::WarpOperation::operation, mask, \
                                                  static_cast<unsigned int>(value), line));    \
  }
CUDA_ON_CPU_REDUCE(unsigned int, add, add)
CUDA_ON_CPU_REDUCE(int, add, add)
CUDA_ON_CPU_REDUCE(unsigned int, min, min_unsigned)
CUDA_ON_CPU_REDUCE(int, min, min_signed)
CUDA_ON_CPU_REDUCE(unsigned int, max, max_unsigned)
CUDA_ON_CPU_REDUCE(int, max, max_signed)
CUDA_ON_CPU_REDUCE(unsigned int, and, bit_and)
CUDA_ON_CPU_REDUCE(unsigned int, or, bit_or)
CUDA_ON_CPU_REDUCE(unsigned int, xor, bit_xor)
