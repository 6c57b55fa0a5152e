// What cuda_fp8.h, cuda_fp6.h and cuda_fp4.h offer for each kind of small_floats.h: a type, and vectors of two and four
// of them in one word, the first element lowest.
#pragma once
#include "../cuda_bf16.h"
#include "../cuda_fp16.h"
#include "small_floats.h"

namespace cuda_on_cpu {

// A number of any type that the conversions take.
__forceinline__ float as_number(__half_raw x) { return Narrow<11>::widened(x.x); }
__forceinline__ float as_number(__nv_bfloat16_raw x) { return Narrow<8>::widened(x.x); }
__forceinline__ float as_number(__half x) { return x; }
__forceinline__ float as_number(__nv_bfloat16 x) { return x; }
__forceinline__ float as_number(float x) { return x; }
__forceinline__ double as_number(double x) { return x; }
__forceinline__ __half_raw first_of(__half2_raw x) { return {x.x}; }
__forceinline__ __half_raw second_of(__half2_raw x) { return {x.y}; }
__forceinline__ __nv_bfloat16_raw first_of(__nv_bfloat162_raw x) { return {x.x}; }
__forceinline__ __nv_bfloat16_raw second_of(__nv_bfloat162_raw x) { return {x.y}; }
template <class Pair>
__forceinline__ auto first_of(Pair x) { return x.x; }
template <class Pair>
__forceinline__ auto second_of(Pair x) { return x.y; }

// A double keeps the sign of a NaN, and e5m2 the first two digits of its fraction.
template <class Kind, class T>
__forceinline__ uint8_t small_of(T value, bool finite = true, Rounding how = Rounding::nearest) {
  uint8_t code = Kind::of(as_number(value), finite, how);
  if constexpr (std::is_same_v<T, double> && !std::is_same_v<Kind, E8m0>) {
    if (Kind::keeps_nan && value != value) {
      uint64_t bits = to_bits(value), fraction = std::is_same_v<Kind, E5m2> ? 0x7e | (bits >> 50 & 3) : Kind::nan;
      code = static_cast<uint8_t>((bits >> 63 ? Kind::sign : 0) | fraction);
    }
  }
  return code;
}
template <class Kind, class Word, class Pair>
__forceinline__ Word small_pair_of(Pair pair, bool finite = true, Rounding how = Rounding::nearest) {
  uint8_t low = small_of<Kind>(first_of(pair), finite, how), high = small_of<Kind>(second_of(pair), finite, how);
  return static_cast<Word>(high << Kind::stored_in | low);
}
template <class Kind>
__forceinline__ float widened_at(uint32_t word, int place) {
  return Kind::widened(static_cast<uint8_t>(word >> (place * Kind::stored_in) & ((1 << Kind::stored_in) - 1)));
}

template <class Kind_>
struct SmallNumber {
  using Kind = Kind_;
  static constexpr Rounding how = std::is_same_v<Kind, E8m0> ? Rounding::up : Rounding::nearest;
  unsigned char __x;

  SmallNumber() = default;
  explicit __forceinline__ SmallNumber(__half x) : __x(small_of<Kind>(x, true, how)) {}
  explicit __forceinline__ SmallNumber(__nv_bfloat16 x) : __x(small_of<Kind>(x, true, how)) {}
  explicit __forceinline__ SmallNumber(float x) : __x(small_of<Kind>(x, true, how)) {}
  explicit __forceinline__ SmallNumber(double x) : __x(small_of<Kind>(x, true, how)) {}
  // An integer goes by way of float, but to a power of two at once.
  template <class A, class = std::enable_if_t<std::is_integral_v<A>>>
  explicit __forceinline__ SmallNumber(A x) : __x(of_integer(x)) {}

  explicit __forceinline__ operator float() const { return Kind::widened(__x); }
  explicit __forceinline__ operator double() const { return static_cast<double>(Kind::widened(__x)); }
  explicit __forceinline__ operator __half() const { return Kind::widened(__x); }
  explicit __forceinline__ operator __nv_bfloat16() const { return Kind::widened(__x); }
  explicit __forceinline__ operator bool() const { return Kind::is_nonzero(__x); }
  // Toward 0, and to the nearest number that exists.
  template <class A, class = std::enable_if_t<std::is_integral_v<A>>>
  explicit __forceinline__ operator A() const { return saturate<A>(trunc(static_cast<double>(Kind::widened(__x)))); }

 private:
  template <class A>
  static __forceinline__ uint8_t of_integer(A x) {
    if constexpr (std::is_same_v<Kind, E8m0>) return Kind::of(x);
    else return Kind::of(static_cast<float>(x));
  }
};

template <class Kind_, class Word>
struct SmallPair {
  using Kind = Kind_;
  static constexpr Rounding how = SmallNumber<Kind>::how;
  Word __x;

  SmallPair() = default;
  explicit __forceinline__ SmallPair(__half2 x) : __x(small_pair_of<Kind, Word>(x, true, how)) {}
  explicit __forceinline__ SmallPair(__nv_bfloat162 x) : __x(small_pair_of<Kind, Word>(x, true, how)) {}
  explicit __forceinline__ SmallPair(float2 x) : __x(small_pair_of<Kind, Word>(x, true, how)) {}
  explicit __forceinline__ SmallPair(double2 x) : __x(small_pair_of<Kind, Word>(x, true, how)) {}
  explicit __forceinline__ operator float2() const { return {widened_at<Kind>(__x, 0), widened_at<Kind>(__x, 1)}; }
  explicit __forceinline__ operator __half2() const { return {widened_at<Kind>(__x, 0), widened_at<Kind>(__x, 1)}; }
  template <class K = Kind, class = std::enable_if_t<std::is_same_v<K, E8m0>>>
  explicit __forceinline__ operator __nv_bfloat162() const {
    return {widened_at<Kind>(__x, 0), widened_at<Kind>(__x, 1)};
  }
};

template <class Kind_, class Half, class Word>
struct SmallFour {
  using Kind = Kind_;
  static constexpr Rounding how = SmallNumber<Kind>::how;
  Word __x;

  SmallFour() = default;
  explicit __forceinline__ SmallFour(__half2 low, __half2 high) : __x(of(low, high)) {}
  explicit __forceinline__ SmallFour(__nv_bfloat162 low, __nv_bfloat162 high) : __x(of(low, high)) {}
  explicit __forceinline__ SmallFour(float4 x) : __x(of(float2{x.x, x.y}, float2{x.z, x.w})) {}
  explicit __forceinline__ SmallFour(double4 x) : __x(of(double2{x.x, x.y}, double2{x.z, x.w})) {}
  explicit __forceinline__ SmallFour(double4_16a x) : __x(of(double2{x.x, x.y}, double2{x.z, x.w})) {}
  explicit __forceinline__ SmallFour(double4_32a x) : __x(of(double2{x.x, x.y}, double2{x.z, x.w})) {}
  explicit __forceinline__ operator float4() const {
    return {widened_at<Kind>(__x, 0), widened_at<Kind>(__x, 1), widened_at<Kind>(__x, 2), widened_at<Kind>(__x, 3)};
  }

 private:
  template <class Pair>
  static __forceinline__ Word of(Pair low, Pair high) {
    return static_cast<Word>(Word{small_pair_of<Kind, Half>(high, true, how)} << (2 * Kind::stored_in) | small_pair_of<Kind, Half>(low, true, how));
  }
};

__forceinline__ Rounding rounding_of(cudaRoundMode mode) {
  return mode == cudaRoundZero ? Rounding::to_zero : mode == cudaRoundPosInf ? Rounding::up : Rounding::nearest;
}
__forceinline__ __half_raw as_raw_half(float x) { return __half(x); }
template <class Kind>
__forceinline__ __half2_raw as_raw_halves(uint32_t word) {
  return {as_raw_half(widened_at<Kind>(word, 0)).x, as_raw_half(widened_at<Kind>(word, 1)).x};
}

}  // namespace cuda_on_cpu

// A type of one number and its vectors: __nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3.
#define CUDA_ON_CPU_SMALL_TYPES(family, kind, Kind, Pair, Four)                                       \
  struct __nv_##family##_##kind : cuda_on_cpu::SmallNumber<cuda_on_cpu::Kind> {                       \
    using SmallNumber::SmallNumber;                                                                   \
  };                                                                                                  \
  struct __nv_##family##x2_##kind : cuda_on_cpu::SmallPair<cuda_on_cpu::Kind, Pair> {                 \
    using SmallPair::SmallPair;                                                                       \
  };                                                                                                  \
  struct __nv_##family##x4_##kind : cuda_on_cpu::SmallFour<cuda_on_cpu::Kind, Pair, Four> {           \
    using SmallFour::SmallFour;                                                                       \
  };
// The four conversions from a type and from a pair of it, by a macro that defines both.
#define CUDA_ON_CPU_FROM_EACH(define)               \
  define(double, double, double2, double2)          \
  define(float, float, float2, float2)              \
  define(halfraw, __half_raw, halfraw2, __half2_raw) \
  define(bfloat16raw, __nv_bfloat16_raw, bfloat16raw2, __nv_bfloat162_raw)
