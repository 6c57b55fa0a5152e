// A type of 16 bits with all that CUDA offers for it: cuda_fp16.h and cuda_bf16.h include this once each, after
//   CUDA_ON_CPU_T, CUDA_ON_CPU_T2        the names of the type and of a pair of them
//   CUDA_ON_CPU_RAW, CUDA_ON_CPU_RAW2    the same for their bits
//   CUDA_ON_CPU_NAME                     what functions call it: half in __float2half_rn
//   CUDA_ON_CPU_DIGITS                   the digits of its significand
// An operation is float's, rounded once more: for +, -, *, / and the square root that changes nothing, since a float
// has 24 digits, at least twice as many and two. All of it is inlined: the caller decides whether an access is checked,
// and an atomic addition checks none. No #pragma once.
#define CUDA_ON_CPU_PASTED(a, b, c) a##b##c
#define CUDA_ON_CPU_PASTE(a, b, c) CUDA_ON_CPU_PASTED(a, b, c)
#define CUDA_ON_CPU_NAME2 CUDA_ON_CPU_PASTE(CUDA_ON_CPU_NAME, 2, )

struct CUDA_ON_CPU_RAW {
  unsigned short x;
};
struct alignas(4) CUDA_ON_CPU_RAW2 {
  unsigned short x, y;
};

struct alignas(2) CUDA_ON_CPU_T {
  using Kind = cuda_on_cpu::Narrow<CUDA_ON_CPU_DIGITS>;
  unsigned short __x;

  CUDA_ON_CPU_T() = default;
  __forceinline__ constexpr CUDA_ON_CPU_T(CUDA_ON_CPU_RAW raw) : __x(raw.x) {}
  template <class A, class = std::enable_if_t<std::is_arithmetic_v<A>>>
  __forceinline__ CUDA_ON_CPU_T(A value) : __x(Kind::of(value)) {}
  __forceinline__ operator float() const { return Kind::widened(__x); }
  __forceinline__ operator CUDA_ON_CPU_RAW() const { return {__x}; }
};

struct alignas(4) CUDA_ON_CPU_T2 {
  CUDA_ON_CPU_T x, y;
  CUDA_ON_CPU_T2() = default;
  __forceinline__ constexpr CUDA_ON_CPU_T2(CUDA_ON_CPU_T x, CUDA_ON_CPU_T y) : x(x), y(y) {}
  __forceinline__ constexpr CUDA_ON_CPU_T2(CUDA_ON_CPU_RAW2 raw) : x(CUDA_ON_CPU_RAW{raw.x}), y(CUDA_ON_CPU_RAW{raw.y}) {}
  __forceinline__ operator CUDA_ON_CPU_RAW2() const { return {x.__x, y.__x}; }
};

// An operation on both halves of a pair, under the name of the operation on one.
#define CUDA_ON_CPU_OF_PAIR(pair, one) \
  CUDA_ON_CPU_INLINE CUDA_ON_CPU_T2 pair(CUDA_ON_CPU_T2 a) { return {one(a.x), one(a.y)}; }
#define CUDA_ON_CPU_OF_PAIRS(pair, one) \
  CUDA_ON_CPU_INLINE CUDA_ON_CPU_T2 pair(CUDA_ON_CPU_T2 a, CUDA_ON_CPU_T2 b) { return {one(a.x, b.x), one(a.y, b.y)}; }

#define CUDA_ON_CPU_OPERATOR(sign, one, pair)                                                                 \
  CUDA_ON_CPU_INLINE CUDA_ON_CPU_T one(CUDA_ON_CPU_T a, CUDA_ON_CPU_T b) {                                         \
    return static_cast<float>(a) sign static_cast<float>(b);                                                  \
  }                                                                                                           \
  CUDA_ON_CPU_OF_PAIRS(pair, one)                                                                             \
  CUDA_ON_CPU_INLINE CUDA_ON_CPU_T operator sign(CUDA_ON_CPU_T a, CUDA_ON_CPU_T b) { return one(a, b); }           \
  CUDA_ON_CPU_INLINE CUDA_ON_CPU_T2 operator sign(CUDA_ON_CPU_T2 a, CUDA_ON_CPU_T2 b) { return pair(a, b); }       \
  CUDA_ON_CPU_INLINE CUDA_ON_CPU_T &operator sign##=(CUDA_ON_CPU_T &a, CUDA_ON_CPU_T b) { return a = one(a, b); }  \
  CUDA_ON_CPU_INLINE CUDA_ON_CPU_T2 &operator sign##=(CUDA_ON_CPU_T2 &a, CUDA_ON_CPU_T2 b) { return a = pair(a, b); }
CUDA_ON_CPU_OPERATOR(+, __hadd, __hadd2)
CUDA_ON_CPU_OPERATOR(-, __hsub, __hsub2)
CUDA_ON_CPU_OPERATOR(*, __hmul, __hmul2)
CUDA_ON_CPU_OPERATOR(/, __hdiv, __h2div)
#undef CUDA_ON_CPU_OPERATOR

CUDA_ON_CPU_INLINE CUDA_ON_CPU_T __hneg(CUDA_ON_CPU_T a) { return CUDA_ON_CPU_RAW{static_cast<unsigned short>(a.__x ^ 0x8000u)}; }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T __habs(CUDA_ON_CPU_T a) { return CUDA_ON_CPU_RAW{static_cast<unsigned short>(a.__x & 0x7fffu)}; }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T __hfma(CUDA_ON_CPU_T a, CUDA_ON_CPU_T b, CUDA_ON_CPU_T c) {
  return CUDA_ON_CPU_RAW{CUDA_ON_CPU_T::Kind::fused(a, b, c)};
}
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T2 __hfma2(CUDA_ON_CPU_T2 a, CUDA_ON_CPU_T2 b, CUDA_ON_CPU_T2 c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
CUDA_ON_CPU_OF_PAIR(__hneg2, __hneg)
CUDA_ON_CPU_OF_PAIR(__habs2, __habs)
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T operator-(CUDA_ON_CPU_T a) { return __hneg(a); }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T2 operator-(CUDA_ON_CPU_T2 a) { return __hneg2(a); }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T operator+(CUDA_ON_CPU_T a) { return a; }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T &operator++(CUDA_ON_CPU_T &a) { return a += CUDA_ON_CPU_T(1); }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T &operator--(CUDA_ON_CPU_T &a) { return a -= CUDA_ON_CPU_T(1); }

// _rn is never contracted, and nothing here is; _sat clamps to [0, 1], with 0 for NaN; _relu is never below 0.
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T __hadd_rn(CUDA_ON_CPU_T a, CUDA_ON_CPU_T b) { return __hadd(a, b); }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T __hsub_rn(CUDA_ON_CPU_T a, CUDA_ON_CPU_T b) { return __hsub(a, b); }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T __hmul_rn(CUDA_ON_CPU_T a, CUDA_ON_CPU_T b) { return __hmul(a, b); }
CUDA_ON_CPU_OF_PAIRS(__hadd2_rn, __hadd)
CUDA_ON_CPU_OF_PAIRS(__hsub2_rn, __hsub)
CUDA_ON_CPU_OF_PAIRS(__hmul2_rn, __hmul)
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T __hadd_sat(CUDA_ON_CPU_T a, CUDA_ON_CPU_T b) { return __saturatef(__hadd(a, b)); }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T __hsub_sat(CUDA_ON_CPU_T a, CUDA_ON_CPU_T b) { return __saturatef(__hsub(a, b)); }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T __hmul_sat(CUDA_ON_CPU_T a, CUDA_ON_CPU_T b) { return __saturatef(__hmul(a, b)); }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T __hfma_sat(CUDA_ON_CPU_T a, CUDA_ON_CPU_T b, CUDA_ON_CPU_T c) { return __saturatef(__hfma(a, b, c)); }
CUDA_ON_CPU_OF_PAIRS(__hadd2_sat, __hadd_sat)
CUDA_ON_CPU_OF_PAIRS(__hsub2_sat, __hsub_sat)
CUDA_ON_CPU_OF_PAIRS(__hmul2_sat, __hmul_sat)

// The greater of a number and NaN is the number; with _nan it is NaN. +0 is greater than -0.
CUDA_ON_CPU_INLINE bool __hisnan(CUDA_ON_CPU_T a) { return (a.__x & 0x7fffu) > CUDA_ON_CPU_T::Kind::infinity; }
CUDA_ON_CPU_INLINE int __hisinf(CUDA_ON_CPU_T a) { return (a.__x & 0x7fffu) != CUDA_ON_CPU_T::Kind::infinity ? 0 : a.__x >> 15 ? -1 : 1; }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T __hmax(CUDA_ON_CPU_T a, CUDA_ON_CPU_T b) { return cuda_on_cpu::max_number<float>(a, b); }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T __hmin(CUDA_ON_CPU_T a, CUDA_ON_CPU_T b) { return cuda_on_cpu::min_number<float>(a, b); }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T __hmax_nan(CUDA_ON_CPU_T a, CUDA_ON_CPU_T b) {
  return __hisnan(a) || __hisnan(b) ? CUDA_ON_CPU_T(NAN) : __hmax(a, b);
}
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T __hmin_nan(CUDA_ON_CPU_T a, CUDA_ON_CPU_T b) {
  return __hisnan(a) || __hisnan(b) ? CUDA_ON_CPU_T(NAN) : __hmin(a, b);
}
CUDA_ON_CPU_OF_PAIRS(__hmax2, __hmax)
CUDA_ON_CPU_OF_PAIRS(__hmin2, __hmin)
CUDA_ON_CPU_OF_PAIRS(__hmax2_nan, __hmax_nan)
CUDA_ON_CPU_OF_PAIRS(__hmin2_nan, __hmin_nan)
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T __hfma_relu(CUDA_ON_CPU_T a, CUDA_ON_CPU_T b, CUDA_ON_CPU_T c) {
  return __hmax_nan(__hfma(a, b, c), CUDA_ON_CPU_T(0));
}
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T2 __hfma2_relu(CUDA_ON_CPU_T2 a, CUDA_ON_CPU_T2 b, CUDA_ON_CPU_T2 c) {
  return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)};
}
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T2 __hisnan2(CUDA_ON_CPU_T2 a) { return {__hisnan(a.x), __hisnan(a.y)}; }

// Comparisons: false for NaN, true with a u (unordered). For a pair 1 or 0 for each, a mask with _mask, or whether both
// hold.
#define CUDA_ON_CPU_COMPARISON(name, sign)                                                                      \
  CUDA_ON_CPU_INLINE bool __h##name(CUDA_ON_CPU_T a, CUDA_ON_CPU_T b) {                                              \
    return !__hisnan(a) && !__hisnan(b) && static_cast<float>(a) sign static_cast<float>(b);                    \
  }                                                                                                             \
  CUDA_ON_CPU_INLINE bool __h##name##u(CUDA_ON_CPU_T a, CUDA_ON_CPU_T b) {                                           \
    return __hisnan(a) || __hisnan(b) || static_cast<float>(a) sign static_cast<float>(b);                      \
  }                                                                                                             \
  CUDA_ON_CPU_INLINE CUDA_ON_CPU_T2 __h##name##2(CUDA_ON_CPU_T2 a, CUDA_ON_CPU_T2 b) {                               \
    return {__h##name(a.x, b.x), __h##name(a.y, b.y)};                                                          \
  }                                                                                                             \
  CUDA_ON_CPU_INLINE unsigned int __h##name##2_mask(CUDA_ON_CPU_T2 a, CUDA_ON_CPU_T2 b) {                            \
    return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);                     \
  }                                                                                                             \
  CUDA_ON_CPU_INLINE bool __hb##name##2(CUDA_ON_CPU_T2 a, CUDA_ON_CPU_T2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); } \
  CUDA_ON_CPU_INLINE bool operator sign(CUDA_ON_CPU_T a, CUDA_ON_CPU_T b) {                                          \
    return static_cast<float>(a) sign static_cast<float>(b);                                                    \
  }                                                                                                             \
  CUDA_ON_CPU_INLINE bool operator sign(CUDA_ON_CPU_T2 a, CUDA_ON_CPU_T2 b) { return a.x sign b.x && a.y sign b.y; }
CUDA_ON_CPU_COMPARISON(eq, ==)
CUDA_ON_CPU_COMPARISON(ne, !=)
CUDA_ON_CPU_COMPARISON(lt, <)
CUDA_ON_CPU_COMPARISON(gt, >)
CUDA_ON_CPU_COMPARISON(le, <=)
CUDA_ON_CPU_COMPARISON(ge, >=)
#undef CUDA_ON_CPU_COMPARISON

// Functions of numbers: float's, rounded once more.
#define CUDA_ON_CPU_FUNCTION(name, expression)                                     \
  CUDA_ON_CPU_INLINE CUDA_ON_CPU_T h##name(CUDA_ON_CPU_T a) {                           \
    float x = a;                                                                   \
    return expression;                                                             \
  }                                                                                \
  CUDA_ON_CPU_OF_PAIR(h2##name, h##name)
CUDA_ON_CPU_FUNCTION(exp, ::exp(static_cast<double>(x)))
CUDA_ON_CPU_FUNCTION(exp2, exp2f(x))
CUDA_ON_CPU_FUNCTION(exp10, ::pow(10.0, static_cast<double>(x)))
CUDA_ON_CPU_FUNCTION(log, ::log(static_cast<double>(x)))
CUDA_ON_CPU_FUNCTION(log2, log2f(x))
CUDA_ON_CPU_FUNCTION(log10, ::log10(static_cast<double>(x)))
CUDA_ON_CPU_FUNCTION(sqrt, sqrtf(x))
CUDA_ON_CPU_FUNCTION(rsqrt, 1.0 / ::sqrt(static_cast<double>(x)))
CUDA_ON_CPU_FUNCTION(rcp, 1.0 / static_cast<double>(x))
CUDA_ON_CPU_FUNCTION(sin, ::sin(static_cast<double>(x)))
CUDA_ON_CPU_FUNCTION(cos, ::cos(static_cast<double>(x)))
CUDA_ON_CPU_FUNCTION(tanh, ::tanh(static_cast<double>(x)))
CUDA_ON_CPU_FUNCTION(tanh_approx, tanhf(x))
CUDA_ON_CPU_FUNCTION(ceil, ceilf(x))
CUDA_ON_CPU_FUNCTION(floor, floorf(x))
CUDA_ON_CPU_FUNCTION(trunc, truncf(x))
CUDA_ON_CPU_FUNCTION(rint, rintf(x))
#undef CUDA_ON_CPU_FUNCTION
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T2 h2div(CUDA_ON_CPU_T2 a, CUDA_ON_CPU_T2 b) { return a / b; }
#undef CUDA_ON_CPU_OF_PAIR
#undef CUDA_ON_CPU_OF_PAIRS

// Conversions: to a number and back, to nearest if the name does not say how.
#define CUDA_ON_CPU_TO(from, type)                                                                                        \
  CUDA_ON_CPU_INLINE CUDA_ON_CPU_T CUDA_ON_CPU_PASTE(__##from##2, CUDA_ON_CPU_NAME, )(type x) { return x; }                    \
  CUDA_ON_CPU_INLINE CUDA_ON_CPU_T CUDA_ON_CPU_PASTE(__##from##2, CUDA_ON_CPU_NAME, _rn)(type x) { return x; }                 \
  CUDA_ON_CPU_TO_AS(from, type, _rz, to_zero) CUDA_ON_CPU_TO_AS(from, type, _ru, up) CUDA_ON_CPU_TO_AS(from, type, _rd, down)
#define CUDA_ON_CPU_TO_AS(from, type, mode, how)                                                \
  CUDA_ON_CPU_INLINE CUDA_ON_CPU_T CUDA_ON_CPU_PASTE(__##from##2, CUDA_ON_CPU_NAME, mode)(type x) { \
    return CUDA_ON_CPU_RAW{CUDA_ON_CPU_T::Kind::of(x, cuda_on_cpu::Rounding::how)};             \
  }
CUDA_ON_CPU_TO(float, float)
CUDA_ON_CPU_TO(double, double)
CUDA_ON_CPU_TO(int, int)
CUDA_ON_CPU_TO(uint, unsigned int)
CUDA_ON_CPU_TO(short, short)
CUDA_ON_CPU_TO(ushort, unsigned short)
CUDA_ON_CPU_TO(ll, long long)
CUDA_ON_CPU_TO(ull, unsigned long long)
#undef CUDA_ON_CPU_TO
#undef CUDA_ON_CPU_TO_AS
CUDA_ON_CPU_INLINE float CUDA_ON_CPU_PASTE(__, CUDA_ON_CPU_NAME, 2float)(CUDA_ON_CPU_T x) { return x; }
#define CUDA_ON_CPU_FROM(to_name, to)                                                                                     \
  CUDA_ON_CPU_FROM_AS(to_name, to, _rn, nearbyint) CUDA_ON_CPU_FROM_AS(to_name, to, _rz, trunc)                           \
  CUDA_ON_CPU_FROM_AS(to_name, to, _ru, ceil) CUDA_ON_CPU_FROM_AS(to_name, to, _rd, floor)
#define CUDA_ON_CPU_FROM_AS(to_name, to, mode, function)                                            \
  CUDA_ON_CPU_INLINE to CUDA_ON_CPU_PASTE(__, CUDA_ON_CPU_NAME, 2##to_name##mode)(CUDA_ON_CPU_T x) {     \
    return cuda_on_cpu::saturate<to>(function(static_cast<double>(static_cast<float>(x))));         \
  }
CUDA_ON_CPU_FROM(int, int)
CUDA_ON_CPU_FROM(uint, unsigned int)
CUDA_ON_CPU_FROM(short, short)
CUDA_ON_CPU_FROM(ushort, unsigned short)
CUDA_ON_CPU_FROM(ll, long long)
CUDA_ON_CPU_FROM(ull, unsigned long long)
#undef CUDA_ON_CPU_FROM
#undef CUDA_ON_CPU_FROM_AS

// Bits.
CUDA_ON_CPU_INLINE unsigned short CUDA_ON_CPU_PASTE(__, CUDA_ON_CPU_NAME, _as_ushort)(CUDA_ON_CPU_T x) { return x.__x; }
CUDA_ON_CPU_INLINE short CUDA_ON_CPU_PASTE(__, CUDA_ON_CPU_NAME, _as_short)(CUDA_ON_CPU_T x) { return static_cast<short>(x.__x); }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T CUDA_ON_CPU_PASTE(__ushort_as_, CUDA_ON_CPU_NAME, )(unsigned short x) { return CUDA_ON_CPU_RAW{x}; }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T CUDA_ON_CPU_PASTE(__short_as_, CUDA_ON_CPU_NAME, )(short x) {
  return CUDA_ON_CPU_RAW{static_cast<unsigned short>(x)};
}

// Pairs: made, taken apart, swapped.
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T2 CUDA_ON_CPU_PASTE(make_, CUDA_ON_CPU_NAME2, )(CUDA_ON_CPU_T x, CUDA_ON_CPU_T y) { return {x, y}; }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T2 CUDA_ON_CPU_PASTE(__halves2, CUDA_ON_CPU_NAME2, )(CUDA_ON_CPU_T x, CUDA_ON_CPU_T y) { return {x, y}; }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T2 CUDA_ON_CPU_PASTE(__floats2, CUDA_ON_CPU_NAME2, _rn)(float x, float y) { return {x, y}; }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T2 CUDA_ON_CPU_PASTE(__float2, CUDA_ON_CPU_NAME2, _rn)(float x) { return {x, x}; }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T2 CUDA_ON_CPU_PASTE(__float22, CUDA_ON_CPU_NAME2, _rn)(float2 v) { return {v.x, v.y}; }
CUDA_ON_CPU_INLINE float2 CUDA_ON_CPU_PASTE(__, CUDA_ON_CPU_NAME2, 2float2)(CUDA_ON_CPU_T2 v) { return {v.x, v.y}; }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T2 CUDA_ON_CPU_PASTE(__, CUDA_ON_CPU_NAME, CUDA_ON_CPU_PASTE(2, CUDA_ON_CPU_NAME2, ))(CUDA_ON_CPU_T x) {
  return {x, x};
}
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T CUDA_ON_CPU_PASTE(__low2, CUDA_ON_CPU_NAME, )(CUDA_ON_CPU_T2 v) { return v.x; }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T CUDA_ON_CPU_PASTE(__high2, CUDA_ON_CPU_NAME, )(CUDA_ON_CPU_T2 v) { return v.y; }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T2 CUDA_ON_CPU_PASTE(__low2, CUDA_ON_CPU_NAME2, )(CUDA_ON_CPU_T2 v) { return {v.x, v.x}; }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T2 CUDA_ON_CPU_PASTE(__high2, CUDA_ON_CPU_NAME2, )(CUDA_ON_CPU_T2 v) { return {v.y, v.y}; }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T2 CUDA_ON_CPU_PASTE(__lows2, CUDA_ON_CPU_NAME2, )(CUDA_ON_CPU_T2 a, CUDA_ON_CPU_T2 b) { return {a.x, b.x}; }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T2 CUDA_ON_CPU_PASTE(__highs2, CUDA_ON_CPU_NAME2, )(CUDA_ON_CPU_T2 a, CUDA_ON_CPU_T2 b) { return {a.y, b.y}; }
CUDA_ON_CPU_INLINE CUDA_ON_CPU_T2 __lowhigh2highlow(CUDA_ON_CPU_T2 v) { return {v.y, v.x}; }
CUDA_ON_CPU_INLINE float __low2float(CUDA_ON_CPU_T2 v) { return v.x; }
CUDA_ON_CPU_INLINE float __high2float(CUDA_ON_CPU_T2 v) { return v.y; }

CUDA_ON_CPU_ATOMIC_FORMS(CUDA_ON_CPU_T, atomicAdd, atomic_add)
CUDA_ON_CPU_ATOMIC_FORMS(CUDA_ON_CPU_T2, atomicAdd, atomic_add)

#undef CUDA_ON_CPU_PASTE
#undef CUDA_ON_CPU_PASTED
#undef CUDA_ON_CPU_NAME2
#undef CUDA_ON_CPU_T
#undef CUDA_ON_CPU_T2
#undef CUDA_ON_CPU_RAW
#undef CUDA_ON_CPU_RAW2
#undef CUDA_ON_CPU_NAME
#undef CUDA_ON_CPU_DIGITS
