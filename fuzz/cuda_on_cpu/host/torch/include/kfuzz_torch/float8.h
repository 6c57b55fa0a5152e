// Floats of 8 bits, as torch 2.13 rounds them: to nearest even; e4m3fn saturates, infinity included; NaN keeps its sign.
#pragma once
#include <cstdint>
#include <cstring>

#include "machine.h"

namespace kfuzz_torch {

// Where a code lies without its sign: `fraction` bits below the exponent, which is stored plus `bias`; `beyond` is what a
// number above `largest` becomes.
template <int fraction, int bias, unsigned largest, unsigned beyond>
struct Float8 {
  uint8_t x;
  struct from_bits_t {};
  __host__ __device__ static constexpr from_bits_t from_bits() { return {}; }

  Float8() = default;
  __host__ __device__ constexpr Float8(uint8_t bits, from_bits_t) : x(bits) {}
  __host__ __device__ Float8(float value) : x(rounded(value)) {}
  __host__ __device__ operator float() const { return widened(x); }
  __host__ __device__ bool isnan() const { return (x & 0x7fu) > largest && !isinf(); }
  __host__ __device__ bool isinf() const { return is_infinity(x & 0x7fu); }

 private:
  __host__ __device__ static constexpr bool is_infinity(uint32_t size) { return beyond > largest && size == beyond; }
  __host__ __device__ static uint8_t rounded(float value) {
    constexpr int dropped = 23 - fraction;
    constexpr uint32_t least = static_cast<uint32_t>(128 - bias) << 23;  // the smallest normal number
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 24 & 0x80u, size = bits & 0x7fffffffu, code;
    if (size > 0x7f800000u) return static_cast<uint8_t>(sign | 0x7fu);
    if (size < least) {  // adding a power of two leaves multiples of the smallest number in the lower bits, rounded
      constexpr uint32_t power = static_cast<uint32_t>(128 - bias + dropped) << 23;
      float shifted, added;
      memcpy(&shifted, &size, sizeof shifted);
      memcpy(&added, &power, sizeof added);
      shifted += added;
      memcpy(&code, &shifted, sizeof code);
      code -= power;
    } else {
      uint32_t odd = size >> dropped & 1u;
      code = (size - (static_cast<uint32_t>(127 - bias) << 23) + (1u << (dropped - 1)) - 1u + odd) >> dropped;
    }
    return static_cast<uint8_t>(sign | (code > largest ? beyond : code));
  }
  __host__ __device__ static float widened(uint8_t code) {
    uint32_t sign = (code & 0x80u) << 24, size = code & 0x7fu, bits;
    if (is_infinity(size)) {
      bits = 0x7f800000u;
    } else if (size > largest) {
      bits = 0x7fc00000u | (size & ((1u << fraction) - 1u)) << (23 - fraction);
    } else if (size >> fraction) {
      bits = (size << (23 - fraction)) + (static_cast<uint32_t>(127 - bias) << 23);
    } else {
      constexpr uint32_t step = static_cast<uint32_t>(128 - bias - fraction) << 23;
      float unit;
      memcpy(&unit, &step, sizeof unit);
      unit *= static_cast<float>(size);
      memcpy(&bits, &unit, sizeof bits);
    }
    bits |= sign;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
};

}  // namespace kfuzz_torch

namespace c10 {

struct alignas(1) Float8_e4m3fn : kfuzz_torch::Float8<3, 7, 0x7e, 0x7e> {
  using Float8::Float8;
};
struct alignas(1) Float8_e5m2 : kfuzz_torch::Float8<2, 15, 0x7b, 0x7c> {
  using Float8::Float8;
};

}  // namespace c10
