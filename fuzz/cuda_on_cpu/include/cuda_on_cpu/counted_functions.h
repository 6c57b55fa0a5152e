// Mathematical functions, vectors and atomics of numbers that count (counted.h), and the calls from Python.
#pragma once
#include "counted.h"

namespace cuda_on_cpu {

// The fast functions, by CUDA's own formulas in float.
#define CUDA_ON_CPU_COUNTED_FAST(name, result)                              \
  template <class T>                                                        \
  Counted<T> name(Counted<T> a) {                                           \
    return result(a, static_cast<T>(name(static_cast<float>(a.value))));    \
  }
CUDA_ON_CPU_COUNTED_FAST(fast_exp, exp_of)
CUDA_ON_CPU_COUNTED_FAST(fast_exp10, exp_of)
CUDA_ON_CPU_COUNTED_FAST(exp10_of, exp_of)
CUDA_ON_CPU_COUNTED_FAST(fast_log, function_of)
CUDA_ON_CPU_COUNTED_FAST(fast_log10, function_of)
CUDA_ON_CPU_COUNTED_FAST(fast_tan, function_of)
#undef CUDA_ON_CPU_COUNTED_FAST
template <class A, class B>
std::enable_if_t<are_numbers<A, B>, counted_float> fast_pow(A a, B b) {
  counted_float x = a, y = b;
  return power_of(x, y, fast_pow(x.value, y.value));
}
template <class A, class B>
std::enable_if_t<are_numbers<A, B>, counted_float> fast_divide(A a, B b) {
  counted_float x = a, y = b;
  return quotient_of(x, y, fast_divide(x.value, y.value), is_fast);
}

}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_COUNTED_FUNCTION(name, result, T)                                          \
  static inline cuda_on_cpu::Counted<T> name(cuda_on_cpu::Counted<T> a) {                      \
    return cuda_on_cpu::result(a, static_cast<T>(name(a.value)));                              \
  }
#define CUDA_ON_CPU_COUNTED_FUNCTIONS(name, result)        \
  CUDA_ON_CPU_COUNTED_FUNCTION(name##f, result, float)     \
  CUDA_ON_CPU_COUNTED_FUNCTION(name, result, double)       \
  CUDA_ON_CPU_COUNTED_FUNCTION(name, result, float)
#ifdef expf  // -use_fast_math
static inline cuda_on_cpu::Counted<double> exp(cuda_on_cpu::Counted<double> a) {
  return cuda_on_cpu::exp_of(a, exp(a.value));
}
#else
CUDA_ON_CPU_COUNTED_FUNCTIONS(exp, exp_of)
#endif
CUDA_ON_CPU_COUNTED_FUNCTIONS(exp2, exp_of)
#ifndef logf  // -use_fast_math
CUDA_ON_CPU_COUNTED_FUNCTIONS(log, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(log10, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(tan, function_of)
#endif
CUDA_ON_CPU_COUNTED_FUNCTIONS(log2, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(log1p, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(expm1, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(sqrt, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(rsqrt, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(cbrt, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(tanh, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(sinh, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(cosh, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(erf, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(erfc, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(sin, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(cos, function_of)
CUDA_ON_CPU_COUNTED_FUNCTION(__fsqrt_rn, function_of, float)
CUDA_ON_CPU_COUNTED_FUNCTION(__frsqrt_rn, function_of, float)
CUDA_ON_CPU_COUNTED_FUNCTIONS(fabs, same_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(floor, same_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(ceil, same_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(trunc, same_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(round, same_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(rint, same_of)
#undef CUDA_ON_CPU_COUNTED_FUNCTIONS
#undef CUDA_ON_CPU_COUNTED_FUNCTION

namespace cuda_on_cpu {

template <class A, class B>
Both<A, B> power(A a, B b) {
  using T = Common<A, B>;
  Counted<T> x = a, y = b;
  return power_of(x, y, static_cast<T>(pow(x.value, y.value)));
}

}  // namespace cuda_on_cpu

#ifndef powf  // -use_fast_math
template <class A, class B>
static inline cuda_on_cpu::Both<A, B> powf(A a, B b) { return cuda_on_cpu::power(a, b); }
#endif
template <class A, class B>
static inline cuda_on_cpu::Both<A, B> pow(A a, B b) { return cuda_on_cpu::power(a, b); }

#define CUDA_ON_CPU_COUNTED_TEST(name)                                    \
  template <class T>                                                      \
  static inline bool name(cuda_on_cpu::Counted<T> a) {                    \
    return std::name(a.value);                                            \
  }
CUDA_ON_CPU_COUNTED_TEST(isnan)
CUDA_ON_CPU_COUNTED_TEST(isinf)
CUDA_ON_CPU_COUNTED_TEST(isfinite)
CUDA_ON_CPU_COUNTED_TEST(signbit)
#undef CUDA_ON_CPU_COUNTED_TEST

// In another direction an operation rounds as often.
#define CUDA_ON_CPU_COUNTED_TOWARD(mode, letter, fma, T)                                                                \
  static inline cuda_on_cpu::Counted<T> __##letter##add_##mode(cuda_on_cpu::Counted<T> a, cuda_on_cpu::Counted<T> b) {  \
    return cuda_on_cpu::sum_of(a, b, __##letter##add_##mode(a.value, b.value));                                         \
  }                                                                                                                     \
  static inline cuda_on_cpu::Counted<T> __##letter##sub_##mode(cuda_on_cpu::Counted<T> a, cuda_on_cpu::Counted<T> b) {  \
    return cuda_on_cpu::difference_of(a, b, __##letter##sub_##mode(a.value, b.value));                                  \
  }                                                                                                                     \
  static inline cuda_on_cpu::Counted<T> __##letter##mul_##mode(cuda_on_cpu::Counted<T> a, cuda_on_cpu::Counted<T> b) {  \
    return cuda_on_cpu::product_of(a, b, __##letter##mul_##mode(a.value, b.value));                                     \
  }                                                                                                                     \
  static inline cuda_on_cpu::Counted<T> __##letter##div_##mode(cuda_on_cpu::Counted<T> a, cuda_on_cpu::Counted<T> b) {  \
    return cuda_on_cpu::quotient_of(a, b, __##letter##div_##mode(a.value, b.value));                                    \
  }                                                                                                                     \
  static inline cuda_on_cpu::Counted<T> __##letter##rcp_##mode(cuda_on_cpu::Counted<T> a) {                             \
    return cuda_on_cpu::quotient_of(cuda_on_cpu::Counted<T>(1), a, __##letter##rcp_##mode(a.value));                    \
  }                                                                                                                     \
  static inline cuda_on_cpu::Counted<T> __##letter##sqrt_##mode(cuda_on_cpu::Counted<T> a) {                            \
    return cuda_on_cpu::function_of(a, __##letter##sqrt_##mode(a.value));                                               \
  }                                                                                                                     \
  static inline cuda_on_cpu::Counted<T> fma##_##mode(cuda_on_cpu::Counted<T> a, cuda_on_cpu::Counted<T> b,              \
                                                     cuda_on_cpu::Counted<T> c) {                                       \
    return cuda_on_cpu::sum_of(cuda_on_cpu::product_of(a, b, a.value * b.value), c, fma##_##mode(a.value, b.value, c.value)); \
  }
CUDA_ON_CPU_COUNTED_TOWARD(rz, f, __fmaf, float)
CUDA_ON_CPU_COUNTED_TOWARD(ru, f, __fmaf, float)
CUDA_ON_CPU_COUNTED_TOWARD(rd, f, __fmaf, float)
CUDA_ON_CPU_COUNTED_TOWARD(rz, d, __fma, double)
CUDA_ON_CPU_COUNTED_TOWARD(ru, d, __fma, double)
CUDA_ON_CPU_COUNTED_TOWARD(rd, d, __fma, double)
#undef CUDA_ON_CPU_COUNTED_TOWARD
static inline cuda_on_cpu::counted_float __saturatef(cuda_on_cpu::counted_float a) {
  return cuda_on_cpu::same_of(a, __saturatef(a.value));
}

#define CUDA_ON_CPU_COUNTED_ROUNDED(letter, T)                                                                       \
  static inline cuda_on_cpu::Counted<T> __##letter##add_rn(cuda_on_cpu::Counted<T> a, cuda_on_cpu::Counted<T> b) { return a + b; } \
  static inline cuda_on_cpu::Counted<T> __##letter##sub_rn(cuda_on_cpu::Counted<T> a, cuda_on_cpu::Counted<T> b) { return a - b; } \
  static inline cuda_on_cpu::Counted<T> __##letter##mul_rn(cuda_on_cpu::Counted<T> a, cuda_on_cpu::Counted<T> b) { return a * b; } \
  static inline cuda_on_cpu::Counted<T> __##letter##div_rn(cuda_on_cpu::Counted<T> a, cuda_on_cpu::Counted<T> b) { return a / b; } \
  static inline cuda_on_cpu::Counted<T> __##letter##rcp_rn(cuda_on_cpu::Counted<T> a) { return T(1) / a; }
CUDA_ON_CPU_COUNTED_ROUNDED(f, float)
CUDA_ON_CPU_COUNTED_ROUNDED(d, double)
#undef CUDA_ON_CPU_COUNTED_ROUNDED

namespace cuda_on_cpu {

template <class T>
Counted<T> fused(Counted<T> a, Counted<T> b, Counted<T> c) {
  Counted<T> product = product_of(a, b, a.value * b.value);
  return sum_of(product, c, static_cast<T>(std::fma(a.value, b.value, c.value)));
}

}  // namespace cuda_on_cpu

static inline cuda_on_cpu::counted_float fmaf(cuda_on_cpu::counted_float a, cuda_on_cpu::counted_float b,
                                              cuda_on_cpu::counted_float c) {
  return cuda_on_cpu::fused(a, b, c);
}
static inline cuda_on_cpu::counted_double fma(cuda_on_cpu::counted_double a, cuda_on_cpu::counted_double b,
                                              cuda_on_cpu::counted_double c) {
  return cuda_on_cpu::fused(a, b, c);
}
static inline cuda_on_cpu::counted_float __fmaf_rn(cuda_on_cpu::counted_float a, cuda_on_cpu::counted_float b,
                                                   cuda_on_cpu::counted_float c) {
  return cuda_on_cpu::fused(a, b, c);
}
template <class A, class B>
static inline cuda_on_cpu::Both<A, B> max(A a, B b) {
  return a > b ? cuda_on_cpu::Both<A, B>(a) : cuda_on_cpu::Both<A, B>(b);
}
template <class A, class B>
static inline cuda_on_cpu::Both<A, B> min(A a, B b) {
  return a < b ? cuda_on_cpu::Both<A, B>(a) : cuda_on_cpu::Both<A, B>(b);
}
template <class A, class B>
static inline cuda_on_cpu::Both<A, B> fmax(A a, B b) { return max(a, b); }

#define CUDA_ON_CPU_COUNTED_ATOMIC(name, now)                                                              \
  template <class T, class B>                                                                              \
  static inline cuda_on_cpu::Counted<T> name(cuda_on_cpu::Counted<T> *p, B value) {                        \
    cuda_on_cpu::Counted<T> old = *p;                                                                      \
    *p = now;                                                                                              \
    return old;                                                                                            \
  }
CUDA_ON_CPU_COUNTED_ATOMIC(atomicAdd, old + value)
CUDA_ON_CPU_COUNTED_ATOMIC(atomicAdd_block, old + value)
CUDA_ON_CPU_COUNTED_ATOMIC(atomicAdd_system, old + value)
CUDA_ON_CPU_COUNTED_ATOMIC(atomicExch, value)
#undef CUDA_ON_CPU_COUNTED_ATOMIC

namespace cuda_on_cpu {
CUDA_ON_CPU_VECTOR(counted_float, counted_float, 8, 16)
CUDA_ON_CPU_VECTOR(counted_double, counted_double, 16, 16)

inline int counted_float_as_int(counted_float a) { return static_cast<int>(as_bits(a)); }
inline unsigned int counted_float_as_uint(counted_float a) { return static_cast<unsigned int>(as_bits(a)); }
inline counted_float counted_int_as_float(int bits) { return of_bits<float>(static_cast<unsigned int>(bits)); }
inline counted_float counted_uint_as_float(unsigned int bits) { return of_bits<float>(bits); }
inline long long counted_double_as_longlong(counted_double a) { return static_cast<long long>(as_bits(a)); }
inline counted_double counted_longlong_as_double(long long bits) { return of_bits<double>(static_cast<uint64_t>(bits)); }
}  // namespace cuda_on_cpu

template <>
struct std::numeric_limits<cuda_on_cpu::counted_float> : std::numeric_limits<float> {};
template <>
struct std::numeric_limits<cuda_on_cpu::counted_double> : std::numeric_limits<double> {};

// From Python, around a run: clear what was recorded; the trails of a number of values in a row; the tally.
CUDA_ON_CPU_IMPORT void cuda_on_cpu_count_begin() {
  cuda_on_cpu::Tables &tables = cuda_on_cpu::tables;
  if (tables.run == cuda_on_cpu::at_load) tables.trails_at_load = tables.trail_count;
  tables.run++;
  tables.trail_count = tables.trails_at_load;
  tables.noted_count = tables.next_moved = 0;
  cuda_on_cpu::tally = {};
}
CUDA_ON_CPU_IMPORT void cuda_on_cpu_trails_of(const char *first, uint64_t count, uint64_t step, cuda_on_cpu::Trail *out) {
  for (uint64_t i = 0; i < count; i++) {
    const cuda_on_cpu::Noted *one = cuda_on_cpu::find(first + i * step);
    bool is_lost = cuda_on_cpu::is_current(one->run) && one->trail == cuda_on_cpu::lost_trail;
    if (is_lost) cuda_on_cpu::tally.lost++;
    out[i] = cuda_on_cpu::is_current(one->run) && !is_lost ? cuda_on_cpu::tables.trails[one->trail] : cuda_on_cpu::Trail{};
  }
}
CUDA_ON_CPU_IMPORT void cuda_on_cpu_tally(cuda_on_cpu::Tally *out) { *out = cuda_on_cpu::tally; }
