// __half and __half2: IEEE binary16 with the compiler's own _Float16. Arithmetic rounds once, as on a GPU.
#pragma once
#include "cuda_on_cpu.h"

#ifndef __FLT16_MAX__
#error "cuda_fp16.h needs a compiler with _Float16 in C++: g++ 13 or newer, or clang; set CXX to one"
#endif

struct __half_raw {
  unsigned short x;
};

struct alignas(2) __half {
  _Float16 number;
  __half() = default;
  __half(__half_raw raw) { __builtin_memcpy(&number, &raw.x, sizeof number); }
  __half(float x) : number(static_cast<_Float16>(x)) {}
  __half(double x) : number(static_cast<_Float16>(x)) {}
  __half(int x) : number(static_cast<_Float16>(x)) {}
  __half(unsigned int x) : number(static_cast<_Float16>(x)) {}
  operator float() const { return static_cast<float>(number); }
};
using half = __half;

namespace cuda_on_cpu {
inline __half as_half(_Float16 x) {
  __half h;
  h.number = x;
  return h;
}
}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_HALF_OPERATOR(sign)                                                                      \
  static inline __half operator sign(__half a, __half b) { return cuda_on_cpu::as_half(a.number sign b.number); } \
  static inline __half &operator sign##=(__half &a, __half b) { return a = a sign b; }
CUDA_ON_CPU_HALF_OPERATOR(+)
CUDA_ON_CPU_HALF_OPERATOR(-)
CUDA_ON_CPU_HALF_OPERATOR(*)
CUDA_ON_CPU_HALF_OPERATOR(/)
#define CUDA_ON_CPU_HALF_COMPARISON(sign) \
  static inline bool operator sign(__half a, __half b) { return a.number sign b.number; }
CUDA_ON_CPU_HALF_COMPARISON(==)
CUDA_ON_CPU_HALF_COMPARISON(!=)
CUDA_ON_CPU_HALF_COMPARISON(<)
CUDA_ON_CPU_HALF_COMPARISON(>)
CUDA_ON_CPU_HALF_COMPARISON(<=)
CUDA_ON_CPU_HALF_COMPARISON(>=)
static inline __half operator-(__half a) { return cuda_on_cpu::as_half(-a.number); }

static inline __half __float2half(float x) { return __half(x); }
static inline __half __float2half_rn(float x) { return __half(x); }
static inline float __half2float(__half x) { return static_cast<float>(x.number); }
static inline __half __int2half_rn(int x) { return __half(x); }
static inline unsigned short __half_as_ushort(__half x) { return cuda_on_cpu::from_bits<unsigned short>(cuda_on_cpu::to_bits(x)); }
static inline __half __ushort_as_half(unsigned short x) { return __half(__half_raw{x}); }
static inline __half __hadd(__half a, __half b) { return a + b; }
static inline __half __hsub(__half a, __half b) { return a - b; }
static inline __half __hmul(__half a, __half b) { return a * b; }
static inline __half __hdiv(__half a, __half b) { return a / b; }
static inline __half __hneg(__half a) { return -a; }
static inline __half __habs(__half a) { return cuda_on_cpu::as_half(static_cast<_Float16>(fabsf(a))); }
static inline __half __hfma(__half a, __half b, __half c) {  // exact in double, then rounded once: 22 + 11 bits in 53
  return cuda_on_cpu::as_half(static_cast<_Float16>(static_cast<double>(a.number) * static_cast<double>(b.number) + static_cast<double>(c.number)));
}
static inline __half __hmax(__half a, __half b) { return __half(fmaxf(static_cast<float>(a), static_cast<float>(b))); }
static inline __half __hmin(__half a, __half b) { return __half(fminf(static_cast<float>(a), static_cast<float>(b))); }
static inline bool __hgt(__half a, __half b) { return a > b; }
static inline bool __hge(__half a, __half b) { return a >= b; }
static inline bool __hlt(__half a, __half b) { return a < b; }
static inline bool __hle(__half a, __half b) { return a <= b; }
static inline bool __heq(__half a, __half b) { return a == b; }
static inline bool __hisnan(__half a) { return a.number != a.number; }
static inline __half hexp(__half x) { return __half(expf(static_cast<float>(x))); }
static inline __half hsqrt(__half x) { return __half(sqrtf(static_cast<float>(x))); }
static inline __half hrcp(__half x) { return __half(1.0f / static_cast<float>(x)); }

struct alignas(4) __half2 {
  __half x, y;
};
using half2 = __half2;
static inline __half2 make_half2(__half x, __half y) { return {x, y}; }
static inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
static inline __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
static inline __half2 __float22half2_rn(float2 v) { return {__half(v.x), __half(v.y)}; }
static inline __half2 __float2half2_rn(float x) { return {__half(x), __half(x)}; }
static inline __half2 __half2half2(__half x) { return {x, x}; }
static inline float2 __half22float2(__half2 v) { return {__half2float(v.x), __half2float(v.y)}; }
static inline __half __low2half(__half2 v) { return v.x; }
static inline __half __high2half(__half2 v) { return v.y; }
static inline float __low2float(__half2 v) { return __half2float(v.x); }
static inline float __high2float(__half2 v) { return __half2float(v.y); }
static inline __half2 __hadd2(__half2 a, __half2 b) { return {a.x + b.x, a.y + b.y}; }
static inline __half2 __hsub2(__half2 a, __half2 b) { return {a.x - b.x, a.y - b.y}; }
static inline __half2 __hmul2(__half2 a, __half2 b) { return {a.x * b.x, a.y * b.y}; }
static inline __half2 __hfma2(__half2 a, __half2 b, __half2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }
static inline __half2 __hmax2(__half2 a, __half2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
