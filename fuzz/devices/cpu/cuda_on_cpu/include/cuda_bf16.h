// __nv_bfloat16: the upper half of a float, rounded to nearest even.
#pragma once
#include "cuda_on_cpu.h"

struct alignas(2) __nv_bfloat16 {
  unsigned short bits;
  __nv_bfloat16() = default;
  __nv_bfloat16(float x) : bits(rounded(x)) {}
  operator float() const { return __uint_as_float(static_cast<unsigned int>(bits) << 16); }

 private:
  static unsigned short rounded(float x) {
    unsigned int u = __float_as_uint(x);
    if ((u & 0x7fffffffu) > 0x7f800000u) return 0x7fff;  // the one NaN that CUDA gives
    return static_cast<unsigned short>((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
  }
};
using nv_bfloat16 = __nv_bfloat16;

static inline __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
static inline __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
static inline float __bfloat162float(__nv_bfloat16 x) { return static_cast<float>(x); }

// Through float, which holds every sum and product of two of them closely enough that the second rounding changes
// nothing (24 >= 2 * 8 + 2 bits).
#define CUDA_ON_CPU_BFLOAT_OPERATOR(sign)                                                       \
  static inline __nv_bfloat16 operator sign(__nv_bfloat16 a, __nv_bfloat16 b) {                 \
    return __nv_bfloat16(static_cast<float>(a) sign static_cast<float>(b));                     \
  }                                                                                             \
  static inline __nv_bfloat16 &operator sign##=(__nv_bfloat16 &a, __nv_bfloat16 b) { return a = a sign b; }
CUDA_ON_CPU_BFLOAT_OPERATOR(+)
CUDA_ON_CPU_BFLOAT_OPERATOR(-)
CUDA_ON_CPU_BFLOAT_OPERATOR(*)
CUDA_ON_CPU_BFLOAT_OPERATOR(/)

struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
using nv_bfloat162 = __nv_bfloat162;
static inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {__nv_bfloat16(x), __nv_bfloat16(y)}; }
static inline float2 __bfloat1622float2(__nv_bfloat162 v) { return {static_cast<float>(v.x), static_cast<float>(v.y)}; }
