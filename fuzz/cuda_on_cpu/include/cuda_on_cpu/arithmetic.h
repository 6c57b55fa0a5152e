// Comparison, conversion and arithmetic that CUDA defines differently from the host, or that the host lacks.
#pragma once
#include "bits.h"
#include "rounding.h"

namespace cuda_on_cpu {

// CUDA's fmaxf: a number beats a NaN, and +0 is greater than -0 (both as in PTX max.f32).
template <class T>
inline T max_number(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
template <class T>
inline T min_number(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

}  // namespace cuda_on_cpu

// max and min of numbers of any two types, as CUDA overloads them: in the common type, floating point like fmax.
template <class A, class B>
static inline constexpr std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>, std::common_type_t<A, B>> max(
    A a, B b) {
  using T = std::common_type_t<A, B>;
  if constexpr (std::is_floating_point_v<T>)
    return cuda_on_cpu::max_number<T>(static_cast<T>(a), static_cast<T>(b));
  else
    return static_cast<T>(a) > static_cast<T>(b) ? static_cast<T>(a) : static_cast<T>(b);
}
template <class A, class B>
static inline constexpr std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>, std::common_type_t<A, B>> min(
    A a, B b) {
  using T = std::common_type_t<A, B>;
  if constexpr (std::is_floating_point_v<T>)
    return cuda_on_cpu::min_number<T>(static_cast<T>(a), static_cast<T>(b));
  else
    return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(a) : static_cast<T>(b);
}
#ifndef CUDA_ON_CPU_COUNT  // where a float is a class
// For two of one type CUDA has functions, not templates: a call prefers them to a template of the file's own, such as cute::max.
#define CUDA_ON_CPU_CHOICES(T)                                            \
  static inline constexpr T max(T a, T b) { return max<T, T>(a, b); }     \
  static inline constexpr T min(T a, T b) { return min<T, T>(a, b); }
CUDA_ON_CPU_CHOICES(int)
CUDA_ON_CPU_CHOICES(unsigned int)
CUDA_ON_CPU_CHOICES(long)
CUDA_ON_CPU_CHOICES(unsigned long)
CUDA_ON_CPU_CHOICES(long long)
CUDA_ON_CPU_CHOICES(unsigned long long)
CUDA_ON_CPU_CHOICES(float)
CUDA_ON_CPU_CHOICES(double)
#undef CUDA_ON_CPU_CHOICES
#endif
static inline unsigned int umax(unsigned int a, unsigned int b) { return a > b ? a : b; }
static inline unsigned int umin(unsigned int a, unsigned int b) { return a < b ? a : b; }
static inline long long llmax(long long a, long long b) { return a > b ? a : b; }
static inline long long llmin(long long a, long long b) { return a < b ? a : b; }
static inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }
static inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
#ifdef CUDA_ON_CPU_COUNT
#define fmaxf(a, b) cuda_on_cpu::max_number<float>(a, b)
#define fminf(a, b) cuda_on_cpu::min_number<float>(a, b)
#else
static inline float fmaxf(float a, float b) { return cuda_on_cpu::max_number<float>(a, b); }
static inline float fminf(float a, float b) { return cuda_on_cpu::min_number<float>(a, b); }
#endif

static inline float __frsqrt_rn(float a) { return static_cast<float>(1.0 / sqrt(static_cast<double>(a))); }
static inline float __saturatef(float a) { return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f; }

// Conversions. Out of range a GPU gives the nearest integer that exists; for NaN it gives 0, or 2^63 in 64 bits. On the
// host that is undefined.
namespace cuda_on_cpu {

template <class To>
inline To saturate(double rounded) {
  constexpr double lowest = static_cast<double>(std::numeric_limits<To>::min());
  constexpr double past_highest = static_cast<double>(std::numeric_limits<To>::max() / 2 + 1) * 2.0;
  if (rounded != rounded) return sizeof(To) == 8 ? static_cast<To>(uint64_t{1} << 63) : To{0};
  if (rounded <= lowest) return std::numeric_limits<To>::min();
  if (rounded >= past_highest) return std::numeric_limits<To>::max();
  return static_cast<To>(rounded);
}

}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_CONVERSION(from, to_name, to)                                                          \
  static inline to __##from##2##to_name##_rn(from a) { return cuda_on_cpu::saturate<to>(nearbyint(a)); }   \
  static inline to __##from##2##to_name##_rz(from a) { return cuda_on_cpu::saturate<to>(trunc(a)); }       \
  static inline to __##from##2##to_name##_ru(from a) { return cuda_on_cpu::saturate<to>(ceil(a)); }        \
  static inline to __##from##2##to_name##_rd(from a) { return cuda_on_cpu::saturate<to>(floor(a)); }
CUDA_ON_CPU_CONVERSION(float, int, int)
CUDA_ON_CPU_CONVERSION(float, uint, unsigned int)
CUDA_ON_CPU_CONVERSION(float, ll, long long)
CUDA_ON_CPU_CONVERSION(float, ull, unsigned long long)
CUDA_ON_CPU_CONVERSION(double, int, int)
CUDA_ON_CPU_CONVERSION(double, uint, unsigned int)
CUDA_ON_CPU_CONVERSION(double, ll, long long)
static inline double __int2double_rn(int a) { return static_cast<double>(a); }
