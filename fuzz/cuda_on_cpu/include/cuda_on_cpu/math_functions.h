// Mathematical functions that the host's <math.h> lacks, or defines differently.
//
// CUDA_ON_CPU_FUNCTION defines a function of one number for plain numbers and, in the count flavour, for numbers that count.
// Its third argument names the rule of counted.h for the trail of the result: function_of, exp_of or same_of.
//
// The fast intrinsics are computed by CUDA's own recipe (__expf is ex2.approx of the product with log2 e), within
// the errors that CUDA documents for them. Denormal results are kept, as they are on hardware without -ftz=true;
// with it, the processor flushes (runtime/denormals.h).
#pragma once
#include "../../runtime/abi.h"
#include "arithmetic.h"

// C23 has some of CUDA's names: glibc declares sinpi and cospi from 2.41 on, rsqrt from 2.42 on; then those are used.
#if defined(__GLIBC_PREREQ)
#define CUDA_ON_CPU_GLIBC(minor) __GLIBC_PREREQ(2, minor)
#else
#define CUDA_ON_CPU_GLIBC(minor) 0
#endif

namespace cuda_on_cpu {

constexpr float log2_e = 1.44269504088896340736f, log2_10 = 3.32192809488736234787f;
constexpr float ln_2 = 0.69314718055994530942f, log10_2 = 0.30102999566398119521f;

inline float fast_exp(float x) { return exp2f(x * log2_e); }
inline float fast_exp10(float x) { return exp2f(x * log2_10); }
inline float fast_log(float x) { return log2f(x) * ln_2; }
inline float fast_log10(float x) { return log2f(x) * log10_2; }
inline float fast_pow(float x, float y) { return exp2f(y * log2f(x)); }
inline float fast_tan(float x) { return sinf(x) / cosf(x); }

inline float exp10_of(float x) { return static_cast<float>(pow(10.0, static_cast<double>(x))); }

// Documented: for 2^126 < |y| < 2^128 the result is 0, and NaN for an infinite x.
inline float fast_divide(float x, float y) {
  float size = fabsf(y);
  if (size > 0x1p126f && size <= FLT_MAX) return isinf(x) || isnan(x) ? NAN : copysignf(0.0f, x) * copysignf(1.0f, y);
  return x / y;
}

}  // namespace cuda_on_cpu

#ifdef CUDA_ON_CPU_COUNT
namespace cuda_on_cpu {
template <class T>
struct Counted;
}
#define CUDA_ON_CPU_COUNTS(name, T, trail)                                                            \
  template <class C, class = std::enable_if_t<std::is_same_v<C, cuda_on_cpu::Counted<T>>>>             \
  static inline C name(const C &a) {                                                                  \
    return trail(a, name(a.value));                                                                   \
  }
#else
#define CUDA_ON_CPU_COUNTS(name, T, trail)
#endif
#define CUDA_ON_CPU_FUNCTION(name, T, trail, value)  \
  static inline T name(T x) { return value; }        \
  CUDA_ON_CPU_COUNTS(name, T, trail)

// Macros: glibc declares functions by these very names.
#define __expf(x) cuda_on_cpu::fast_exp(x)
#define __exp10f(x) cuda_on_cpu::fast_exp10(x)
#define __logf(x) cuda_on_cpu::fast_log(x)
#define __log2f(x) log2f(x)
#define __log10f(x) cuda_on_cpu::fast_log10(x)
#define __powf(x, y) cuda_on_cpu::fast_pow(x, y)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) cuda_on_cpu::fast_tan(x)
#define __tanhf(x) tanhf(x)
#define __fdividef(x, y) cuda_on_cpu::fast_divide(x, y)
static inline float fdividef(float x, float y) { return x / y; }
#define __sincosf(x, s, c) sincosf(x, s, c)

#if !CUDA_ON_CPU_GLIBC(42)
static inline float rsqrtf(float x) { return static_cast<float>(1.0 / sqrt(static_cast<double>(x))); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
#endif
CUDA_ON_CPU_FUNCTION(rcbrtf, float, function_of, 1.0f / cbrtf(x))
CUDA_ON_CPU_FUNCTION(rcbrt, double, function_of, 1.0 / cbrt(x))
static inline float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }

// Lengths do not overflow on the way: squares of floats are added in double, those of doubles after a division.
static inline float norm3df(float x, float y, float z) {
  double a = x, b = y, c = z;
  return static_cast<float>(sqrt(a * a + b * b + c * c));
}
static inline float norm4df(float x, float y, float z, float w) {
  double a = x, b = y, c = z, d = w;
  return static_cast<float>(sqrt(a * a + b * b + c * c + d * d));
}
static inline float rnorm3df(float x, float y, float z) {
  double a = x, b = y, c = z;
  return static_cast<float>(1.0 / sqrt(a * a + b * b + c * c));
}
static inline float rnorm4df(float x, float y, float z, float w) {
  double a = x, b = y, c = z, d = w;
  return static_cast<float>(1.0 / sqrt(a * a + b * b + c * c + d * d));
}
CUDA_ON_CPU_INLINE float normf(int n, const float *p) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += static_cast<double>(p[i]) * static_cast<double>(p[i]);
  return static_cast<float>(sqrt(sum));
}
CUDA_ON_CPU_INLINE float rnormf(int n, const float *p) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += static_cast<double>(p[i]) * static_cast<double>(p[i]);
  return static_cast<float>(1.0 / sqrt(sum));
}
CUDA_ON_CPU_INLINE double norm(int n, const double *p) {
  double length = 0;
  for (int i = 0; i < n; i++) length = hypot(length, p[i]);
  return length;
}
CUDA_ON_CPU_INLINE double rnorm(int n, const double *p) { return 1.0 / norm(n, p); }
#define exp10f(x) cuda_on_cpu::exp10_of(x)
CUDA_ON_CPU_FUNCTION(normcdff, float, function_of, 0.5f * erfcf(-x * 0.70710678118654752440f))
CUDA_ON_CPU_FUNCTION(normcdf, double, function_of, 0.5 * erfc(-x * 0.70710678118654752440))

// exp(x^2) erfc(x) where the two factors leave the range: its continued fraction, which is exact enough from 25 on.
static inline double erfcx(double x) {
  if (x < 25) return exp(x * x) * erfc(x);
  double q = 0.5 / (x * x);
  return 0.56418958354775628695 / x * (1 - q * (1 - 3 * q * (1 - 5 * q)));
}

namespace cuda_on_cpu {

// The x at which erf is y, or erfc is y: a first guess (Winitzki), then Newton's steps on the one that is well
// conditioned.
inline double inverse_erfc(double y) {
  if (!(y >= 0 && y <= 2)) return NAN;
  if (y == 0 || y == 2) return y == 0 ? INFINITY : -INFINITY;
  if (y > 1) return -inverse_erfc(2 - y);
  double log_of = log(y * (2 - y)), a = 4.3307467508 + log_of / 2;
  double x = sqrt(sqrt(a * a - log_of / 0.147) - a);
  for (int i = 0; i < 8; i++) {
    double slope = -1.12837916709551257390 * exp(-x * x);
    double step = (erfc(x) - y) / slope;
    x -= step / (1 + x * step);
  }
  return x;
}
inline double inverse_erf(double y) {
  if (fabs(y) > 0.5) return y > 0 ? inverse_erfc(1 - y) : -inverse_erfc(1 + y);
  double x = 0.88622692545275801365 * y;
  for (int i = 0; i < 6; i++) x -= (erf(x) - y) * 0.88622692545275801365 * exp(x * x);
  return x;
}

}  // namespace cuda_on_cpu

static inline double erfinv(double x) { return cuda_on_cpu::inverse_erf(x); }
static inline double erfcinv(double x) { return cuda_on_cpu::inverse_erfc(x); }
static inline double normcdfinv(double x) { return -1.41421356237309504880 * cuda_on_cpu::inverse_erfc(2 * x); }
static inline float erfinvf(float x) { return static_cast<float>(erfinv(x)); }
static inline float erfcinvf(float x) { return static_cast<float>(erfcinv(x)); }
static inline float normcdfinvf(float x) { return static_cast<float>(normcdfinv(x)); }
CUDA_ON_CPU_API double cuda_on_cpu_bessel_i(int order, double x);  // x is not negative
static inline double cyl_bessel_i0(double x) { return cuda_on_cpu_bessel_i(0, fabs(x)); }
static inline double cyl_bessel_i1(double x) { return copysign(cuda_on_cpu_bessel_i(1, fabs(x)), x); }
static inline float cyl_bessel_i0f(float x) { return static_cast<float>(cyl_bessel_i0(x)); }
static inline float cyl_bessel_i1f(float x) { return static_cast<float>(cyl_bessel_i1(x)); }
#if !CUDA_ON_CPU_GLIBC(41)
static inline double sinpi(double x) { return sin(3.14159265358979323846 * fmod(x, 2.0)); }
static inline double cospi(double x) { return cos(3.14159265358979323846 * fmod(x, 2.0)); }
static inline float sinpif(float x) { return static_cast<float>(sinpi(static_cast<double>(x))); }
static inline float cospif(float x) { return static_cast<float>(cospi(static_cast<double>(x))); }
#endif
static inline void sincospi(double x, double *s, double *c) { *s = sinpi(x), *c = cospi(x); }
static inline float erfcxf(float x) { return static_cast<float>(erfcx(x)); }
static inline void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }

using std::isfinite;
using std::isinf;
using std::isnan;
using std::signbit;

// -use_fast_math, as nvcc defines it: these names mean the intrinsics.
#ifdef CUDA_ON_CPU_FAST_MATH
#define expf(x) __expf(x)
#undef exp10f
#define exp10f(x) __exp10f(x)
#define logf(x) __logf(x)
#define log10f(x) __log10f(x)
#define powf(x, y) __powf(x, y)
#define tanf(x) __tanf(x)
#undef CUDA_ON_CPU_FAST_MATH
#endif
