// Mathematical functions that the host's <math.h> lacks, or has with another meaning.
//
// The fast intrinsics are computed by CUDA's own recipe (__expf is ex2.approx of the product with log2 e), within
// the errors that CUDA documents for them. Denormal results are kept, as they are on hardware without -ftz=true;
// with it, the processor flushes (runtime/denormals.h).
#pragma once
#include "arithmetic.h"

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

static inline float rsqrtf(float x) { return static_cast<float>(1.0 / sqrt(static_cast<double>(x))); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
static inline float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
static inline float norm3df(float x, float y, float z) { return sqrtf(x * x + y * y + z * z); }
#define exp10f(x) cuda_on_cpu::exp10_of(x)
static inline float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678118654752440f); }
static inline float erfcxf(float x) { return static_cast<float>(exp(static_cast<double>(x) * x) * erfc(static_cast<double>(x))); }
static inline float sinpif(float x) { return static_cast<float>(sin(3.14159265358979323846 * fmod(static_cast<double>(x), 2.0))); }
static inline float cospif(float x) { return static_cast<float>(cos(3.14159265358979323846 * fmod(static_cast<double>(x), 2.0))); }

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
