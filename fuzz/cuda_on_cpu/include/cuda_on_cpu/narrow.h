// Floats of 16 bits, by the digits of their significand: 11 for IEEE binary16, 8 for bfloat16.
//
// Their values fit into a float; a number is rounded to them once, from its own digits. All of it works on bits, so
// that -ftz=true, which concerns float32 alone, changes nothing here.
#pragma once
#include "bits.h"
#include "directions.h"

#ifdef CUDA_ON_CPU_COUNT
#error "halves and bfloat16 do not count: additions after a conversion would seem to be of constants"
#endif

namespace cuda_on_cpu {

// Away from 0 if the digits that are too many and these `width` random bits, as fractions, make one or more.
struct RandomRounding {
  uint32_t bits;
  int width;
};

// A number as an integer times a power of two, or what it is instead.
struct SplitNumber {
  bool negative, is_infinite, is_nan;
  uint64_t significand;
  int unit;
};
template <class T>
__forceinline__ SplitNumber split(T value) {
  if constexpr (std::is_integral_v<T>) {
    bool negative = false;
    if constexpr (std::is_signed_v<T>) negative = value < 0;
    auto size = static_cast<uint64_t>(value);
    return {negative, false, false, negative ? -size : size, 0};
  } else {
    constexpr int own = std::numeric_limits<T>::digits, bias = std::numeric_limits<T>::max_exponent - 1;
    uint64_t bits = to_bits(value), rest = bits & ((uint64_t{1} << (own - 1)) - 1);
    bool negative = bits >> (8 * sizeof(T) - 1);
    int field = static_cast<int>(bits >> (own - 1)) & (2 * bias + 1);
    if (field > 2 * bias) return {negative, !rest, !!rest, rest, 0};
    if (field) rest |= uint64_t{1} << (own - 1);
    return {negative, false, false, rest, (field ? field : 1) - bias - (own - 1)};
  }
}

__forceinline__ bool rounds_away(const SplitNumber &number, uint64_t kept, uint64_t rest, Rounding how) {
  uint64_t half = uint64_t{1} << 63;
  bool outward = how == Rounding::up ? !number.negative : how == Rounding::down && number.negative;
  return how == Rounding::nearest ? rest > half || (rest == half && kept & 1) : outward && rest;
}
__forceinline__ bool rounds_away(const SplitNumber &, uint64_t, uint64_t rest, RandomRounding how) {
  return __builtin_add_overflow(rest, static_cast<uint64_t>(how.bits) << (64 - how.width), &rest);
}

// The bits of a number without its sign, rounded to so many digits, with exponents from `least` (of the smallest normal
// number) on and without end. `rest` is the fraction that is cut off, of 2^64.
template <int digits, int least, class How>
__forceinline__ uint64_t code_of(const SplitNumber &number, How how) {
  uint64_t significand = number.significand;
  if (significand == 0) return 0;
  int exponent = number.unit + 63 - __builtin_clzll(significand);
  if (exponent < least) exponent = least;
  int shift = exponent - (digits - 1) - number.unit;  // this many digits are too many
  if (shift > 63) shift = 63;                         // far below half of the smallest number
  uint64_t kept = shift > 0 ? significand >> shift : significand << -shift;
  uint64_t rest = shift > 0 ? significand << (64 - shift) : 0;
  return (static_cast<uint64_t>(exponent - least) << (digits - 1)) + kept + rounds_away(number, kept, rest, how);
}

template <int digits>
struct Narrow {
  static constexpr int least = 2 - (1 << (15 - digits));  // exponent of the smallest normal number
  static constexpr uint64_t infinity = uint64_t{(1 << (16 - digits)) - 1} << (digits - 1);

  // From the largest number on, anything that rounds away from 0 gives infinity.
  static bool overflows(const SplitNumber &, RandomRounding) { return true; }
  static bool overflows(const SplitNumber &number, Rounding how) {
    return how == Rounding::nearest || (how == Rounding::up ? !number.negative : how == Rounding::down && number.negative);
  }
  template <class T, class How = Rounding>
  static uint16_t of(T value, How how = Rounding::nearest) {
    SplitNumber number = split(value);
    uint64_t sign = number.negative ? 0x8000 : 0;
    if (number.is_nan) return 0x7fff;
    if (number.is_infinite) return static_cast<uint16_t>(sign | infinity);
    uint64_t bits = code_of<digits, least>(number, how);
    if (bits >= infinity) bits = overflows(number, how) ? infinity : infinity - 1;
    return static_cast<uint16_t>(sign | bits);
  }

  static float widened(uint16_t bits) {
    if constexpr (digits == 8) return from_bits<float>(static_cast<uint64_t>(bits) << 16);
    uint32_t sign = (bits & 0x8000u) << 16, size = bits & 0x7fffu;
    if (size >= infinity) return from_bits<float>(sign | 0x7f800000u | (size & 0x3ffu) << 13);
    if (size >= 0x400u) return from_bits<float>(sign | ((size << 13) + 0x38000000u));
    float denormal = static_cast<float>(size) * 0x1p-24f;  // normal as a float
    return sign ? -denormal : denormal;
  }

  // a b + c, rounded once. The product is exact in double; where the sum is not, its last digit is made odd, so that no
  // later rounding takes it for a halfway case.
  static uint16_t fused(float a, float b, float c) {
    double product = static_cast<double>(a) * static_cast<double>(b), addend = static_cast<double>(c);
    double sum = product + addend;
    if (!(sum - sum == 0)) return of(sum);
    double part = sum - product, lost = (product - (sum - part)) + (addend - part);
    uint64_t bits = to_bits(sum);
    if (lost != 0 && !(bits & 1)) bits = (lost > 0) == (sum > 0) ? bits | 1 : bits - 1;
    return of(from_bits<double>(bits));
  }
};

}  // namespace cuda_on_cpu
