// Intrinsics on a word that holds two numbers of 16 bits or four of 8: dot products, and lane by lane.
#pragma once
#include "bits.h"

namespace cuda_on_cpu {

// Functions below return auto: so the precompiled header has their bodies. With a type, each compilation makes them again.

template <class Lane>
constexpr int lanes = static_cast<int>(4 / sizeof(Lane));

template <class Lane>
inline auto lane(unsigned int word, int i) {
  return static_cast<long>(static_cast<Lane>(word >> i * 8 * static_cast<int>(sizeof(Lane))));
}

// The result for each pair of lanes, cut to a lane's width.
template <class Lane, class Of>
inline auto lane_by_lane(unsigned int a, unsigned int b, Of of) {
  constexpr int width = 8 * static_cast<int>(sizeof(Lane));
  unsigned int r = 0;
  for (int i = 0; i < lanes<Lane>; i++)
    r |= (static_cast<unsigned int>(of(lane<Lane>(a, i), lane<Lane>(b, i))) & (0xffffffffu >> (32 - width))) << i * width;
  return r;
}

template <class Lane, class Of>
inline auto sum_over_lanes(unsigned int a, unsigned int b, Of of) {
  unsigned int sum = 0;
  for (int i = 0; i < lanes<Lane>; i++) sum += static_cast<unsigned int>(of(lane<Lane>(a, i), lane<Lane>(b, i)));
  return sum;
}

template <class Lane>
inline auto saturated(long x) {
  constexpr long least = std::numeric_limits<Lane>::min(), most = std::numeric_limits<Lane>::max();
  return x < least ? least : x > most ? most : x;
}

template <class A, class B>
inline auto dot4(A a, B b, unsigned int sum) {
  using Left = std::conditional_t<std::is_signed_v<A>, int8_t, uint8_t>;
  using Right = std::conditional_t<std::is_signed_v<B>, int8_t, uint8_t>;
  for (int i = 0; i < 4; i++) sum += static_cast<unsigned int>(lane<Left>(static_cast<unsigned int>(a), i) * lane<Right>(static_cast<unsigned int>(b), i));
  return sum;
}

// Two numbers of 16 bits times the two lower, or upper, of four of 8.
template <class A, class B>
inline auto dot2(A a, B b, unsigned int sum, int first) {
  using Left = std::conditional_t<std::is_signed_v<A>, int16_t, uint16_t>;
  using Right = std::conditional_t<std::is_signed_v<B>, int8_t, uint8_t>;
  for (int i = 0; i < 2; i++) sum += static_cast<unsigned int>(lane<Left>(static_cast<unsigned int>(a), i) * lane<Right>(static_cast<unsigned int>(b), first + i));
  return sum;
}

}  // namespace cuda_on_cpu

static inline int __dp4a(int a, int b, int c) { return static_cast<int>(cuda_on_cpu::dot4(a, b, static_cast<unsigned int>(c))); }
static inline unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) { return cuda_on_cpu::dot4(a, b, c); }
static inline int __dp2a_lo(int a, int b, int c) { return static_cast<int>(cuda_on_cpu::dot2(a, b, static_cast<unsigned int>(c), 0)); }
static inline int __dp2a_hi(int a, int b, int c) { return static_cast<int>(cuda_on_cpu::dot2(a, b, static_cast<unsigned int>(c), 2)); }
static inline unsigned int __dp2a_lo(unsigned int a, unsigned int b, unsigned int c) { return cuda_on_cpu::dot2(a, b, c, 0); }
static inline unsigned int __dp2a_hi(unsigned int a, unsigned int b, unsigned int c) { return cuda_on_cpu::dot2(a, b, c, 2); }

// Defines name 2 of halves and 4 of bytes, with signed or unsigned lanes; `value` is a formula in their numbers x and
// y.
#define CUDA_ON_CPU_LANES(name, signed_or_not, value)                                             \
  static inline unsigned int name##2(unsigned int a, unsigned int b) {                            \
    using Lane = signed_or_not##16_t;                                                             \
    return cuda_on_cpu::lane_by_lane<Lane>(a, b, [](long x, long y) -> long { return value; });   \
  }                                                                                               \
  static inline unsigned int name##4(unsigned int a, unsigned int b) {                            \
    using Lane = signed_or_not##8_t;                                                              \
    return cuda_on_cpu::lane_by_lane<Lane>(a, b, [](long x, long y) -> long { return value; });   \
  }
CUDA_ON_CPU_LANES(__vadd, int, x + y)
CUDA_ON_CPU_LANES(__vsub, int, x - y)
CUDA_ON_CPU_LANES(__vaddss, int, cuda_on_cpu::saturated<Lane>(x + y))
CUDA_ON_CPU_LANES(__vaddus, uint, cuda_on_cpu::saturated<Lane>(x + y))
CUDA_ON_CPU_LANES(__vsubss, int, cuda_on_cpu::saturated<Lane>(x - y))
CUDA_ON_CPU_LANES(__vsubus, uint, cuda_on_cpu::saturated<Lane>(x - y))
CUDA_ON_CPU_LANES(__vmaxs, int, x > y ? x : y)
CUDA_ON_CPU_LANES(__vmaxu, uint, x > y ? x : y)
CUDA_ON_CPU_LANES(__vmins, int, x < y ? x : y)
CUDA_ON_CPU_LANES(__vminu, uint, x < y ? x : y)
CUDA_ON_CPU_LANES(__vabsdiffs, int, x > y ? x - y : y - x)
CUDA_ON_CPU_LANES(__vabsdiffu, uint, x > y ? x - y : y - x)
CUDA_ON_CPU_LANES(__vavgu, uint, (x + y + 1) >> 1)
CUDA_ON_CPU_LANES(__vhaddu, uint, (x + y) >> 1)
#define CUDA_ON_CPU_COMPARED(name, signed_or_not, is_so)         \
  CUDA_ON_CPU_LANES(__vcmp##name, signed_or_not, is_so ? -1 : 0) \
  CUDA_ON_CPU_LANES(__vset##name, signed_or_not, is_so ? 1 : 0)
CUDA_ON_CPU_COMPARED(eq, uint, x == y)
CUDA_ON_CPU_COMPARED(ne, uint, x != y)
CUDA_ON_CPU_COMPARED(ges, int, x >= y)
CUDA_ON_CPU_COMPARED(geu, uint, x >= y)
CUDA_ON_CPU_COMPARED(gts, int, x > y)
CUDA_ON_CPU_COMPARED(gtu, uint, x > y)
CUDA_ON_CPU_COMPARED(les, int, x <= y)
CUDA_ON_CPU_COMPARED(leu, uint, x <= y)
CUDA_ON_CPU_COMPARED(lts, int, x < y)
CUDA_ON_CPU_COMPARED(ltu, uint, x < y)

// For one operand; the smallest number has no counterpart, and stays or, saturated, becomes the largest.
#define CUDA_ON_CPU_LANES_OF_ONE(name, value)                                                          \
  static inline unsigned int name##2(unsigned int a) {                                                 \
    using Lane = int16_t;                                                                              \
    return cuda_on_cpu::lane_by_lane<Lane>(a, 0, [](long x, long) -> long { return value; });          \
  }                                                                                                    \
  static inline unsigned int name##4(unsigned int a) {                                                 \
    using Lane = int8_t;                                                                               \
    return cuda_on_cpu::lane_by_lane<Lane>(a, 0, [](long x, long) -> long { return value; });          \
  }
CUDA_ON_CPU_LANES_OF_ONE(__vabs, x < 0 ? -x : x)
CUDA_ON_CPU_LANES_OF_ONE(__vneg, -x)
CUDA_ON_CPU_LANES_OF_ONE(__vabsss, cuda_on_cpu::saturated<Lane>(x < 0 ? -x : x))
CUDA_ON_CPU_LANES_OF_ONE(__vnegss, cuda_on_cpu::saturated<Lane>(-x))

#define CUDA_ON_CPU_SUM_OF_LANES(name, signed_or_not)                                                                               \
  static inline unsigned int name##2(unsigned int a, unsigned int b) {                                                              \
    return cuda_on_cpu::sum_over_lanes<signed_or_not##16_t>(a, b, [](long x, long y) { return x > y ? x - y : y - x; });            \
  }                                                                                                                                 \
  static inline unsigned int name##4(unsigned int a, unsigned int b) {                                                              \
    return cuda_on_cpu::sum_over_lanes<signed_or_not##8_t>(a, b, [](long x, long y) { return x > y ? x - y : y - x; });             \
  }
CUDA_ON_CPU_SUM_OF_LANES(__vsads, int)
CUDA_ON_CPU_SUM_OF_LANES(__vsadu, uint)
