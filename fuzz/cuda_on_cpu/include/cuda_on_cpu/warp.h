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

// The lane from which a shuffle reads, as in PTX's shfl; its own lane if the other one is not within its part of the warp.
enum class Shuffle { up, down, bfly, idx };
struct ShuffleSource {
  int lane;
  bool is_within;
};
template <Shuffle kind>
inline ShuffleSource shuffle_source(unsigned int by, unsigned int clamp) {
  int own = lane(), step = static_cast<int>(by & 31), mask = static_cast<int>(clamp >> 8 & 31), first = own & mask;
  int last = first | (static_cast<int>(clamp & 31) & ~mask);
  int source = kind == Shuffle::up ? own - step : kind == Shuffle::down ? own + step : kind == Shuffle::bfly ? own ^ step : first | (step & ~mask);
  bool is_within = kind == Shuffle::up ? source >= last : source <= last;
  return {is_within ? source : own, is_within};
}
// The clamp by which CUDA's functions divide a warp into parts of this width.
constexpr unsigned int clamp_of(int width, bool up = false) { return static_cast<unsigned int>(32 - width) << 8 | (up ? 0u : 31u); }

}  // namespace cuda_on_cpu

static inline void __syncwarp(unsigned int mask = ~0u, CUDA_ON_CPU_LINE) {
  cuda_on_cpu::collect(cuda_on_cpu::WarpOperation::sync, mask, 0, line);
}

#define CUDA_ON_CPU_SHUFFLE(name, kind, By, is_up)                                                          \
  template <class T>                                                                                        \
  static inline T name(unsigned int mask, T value, By by, int width = 32, CUDA_ON_CPU_LINE) {               \
    using cuda_on_cpu::Shuffle;                                                                             \
    auto from = cuda_on_cpu::shuffle_source<kind>(static_cast<unsigned int>(by), cuda_on_cpu::clamp_of(width, is_up)); \
    return cuda_on_cpu::shuffle(mask, value, from.lane, line);                                              \
  }
CUDA_ON_CPU_SHUFFLE(__shfl_sync, Shuffle::idx, int, false)
CUDA_ON_CPU_SHUFFLE(__shfl_up_sync, Shuffle::up, unsigned int, true)
CUDA_ON_CPU_SHUFFLE(__shfl_down_sync, Shuffle::down, unsigned int, false)
CUDA_ON_CPU_SHUFFLE(__shfl_xor_sync, Shuffle::bfly, int, false)
#undef CUDA_ON_CPU_SHUFFLE

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
