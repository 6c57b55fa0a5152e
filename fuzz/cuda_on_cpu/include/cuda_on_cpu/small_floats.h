// Floats of 8, 6 and 4 bits, as codes in a byte: e4m3 has 4 bits of exponent and 3 of fraction; e8m0 is a power of two.
#pragma once
#include "narrow.h"

namespace cuda_on_cpu {

// `own` bits with their sign, `digits` of significand with its hidden digit; an exponent is stored plus `bias`. Above the
// largest number come infinity and NaN, NaN alone, or nothing.
template <int own, int digits, int bias, int largest_, int infinity_>
struct SmallFloat {
  static constexpr int least = 1 - bias;  // exponent of the smallest normal number
  static constexpr int stored_in = own == 4 ? 4 : 8;
  static constexpr uint8_t sign = 1 << (own - 1), largest = largest_, infinity = infinity_, nan = own == 8 ? 0x7f : largest;
  static constexpr bool keeps_nan = own == 8;

  // What is too large, infinity included, becomes the largest number if the result is to be finite.
  template <class T, class How = Rounding>
  static __forceinline__ uint8_t of(T value, bool finite = true, How how = Rounding::nearest) {
    SplitNumber number = split(value);
    if (number.is_nan) return nan;
    uint64_t bits = number.is_infinite ? uint64_t{0xff} : code_of<digits, least>(number, how);
    if (bits > largest) bits = finite ? largest : infinity;
    return static_cast<uint8_t>((number.negative ? sign : 0) | bits);
  }
  static __forceinline__ bool is_nan(uint8_t code) { return keeps_nan && (code & (sign - 1)) > infinity - (infinity == nan); }
  static __forceinline__ bool is_nonzero(uint8_t code) { return code & (sign - 1); }
  static __forceinline__ float widened(uint8_t code) {
    if (is_nan(code)) return from_bits<float>(0x7fffffff);
    uint32_t negative = code & sign ? 0x80000000u : 0, size = code & (sign - 1);
    if (infinity != nan && size == infinity) return from_bits<float>(negative | 0x7f800000u);
    uint32_t field = size >> (digits - 1);
    if (field) return from_bits<float>(negative | ((size << (24 - digits)) + (static_cast<uint32_t>(127 - bias) << 23)));
    float step = from_bits<float>(static_cast<uint64_t>(127 + least - (digits - 1)) << 23);
    float denormal = static_cast<float>(size) * step;  // normal as a float
    return negative ? -denormal : denormal;
  }
};
using E4m3 = SmallFloat<8, 4, 7, 0x7e, 0x7f>;
using E5m2 = SmallFloat<8, 3, 15, 0x7b, 0x7c>;
using E2m3 = SmallFloat<6, 4, 1, 0x1f, 0x1f>;
using E3m2 = SmallFloat<6, 3, 3, 0x1f, 0x1f>;
using E2m1 = SmallFloat<4, 2, 1, 0x07, 0x07>;

// 2^(code - 127); 0xff is NaN. There is no zero and no sign: the size of a number is rounded toward 0 or up.
struct E8m0 {
  static constexpr int stored_in = 8;
  template <class T>
  static __forceinline__ uint8_t of(T value, bool finite = true, Rounding how = Rounding::up) {
    SplitNumber number = split(value);
    if (number.is_nan) return 0xff;
    uint8_t beyond = finite ? 0xfe : 0xff;
    if (number.is_infinite) return beyond;
    if (number.significand == 0) return 0;
    int exponent = number.unit + 63 - __builtin_clzll(number.significand);
    bool is_power = !(number.significand & (number.significand - 1));
    if (how == Rounding::up && !is_power) exponent++;
    if (exponent > 127) return how == Rounding::up ? beyond : 0xfe;
    return static_cast<uint8_t>(exponent < -127 ? 0 : exponent + 127);
  }
  static __forceinline__ bool is_nan(uint8_t code) { return code == 0xff; }
  static __forceinline__ bool is_nonzero(uint8_t) { return true; }
  static __forceinline__ float widened(uint8_t code) {
    if (code == 0xff) return from_bits<float>(0x7fff0000);
    return from_bits<float>(code ? static_cast<uint64_t>(code) << 23 : uint64_t{0x00400000});
  }
};

}  // namespace cuda_on_cpu
