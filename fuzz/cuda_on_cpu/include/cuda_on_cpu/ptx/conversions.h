// PTX's cvt. Where two numbers share a register, the first operand goes to its upper half.
#pragma once
#include "../small_floats.h"
#include "numbers.h"
#include "sixteen.h"

namespace cuda_on_cpu {

// The formats by PTX's names: how many bits each has in a register, and how a float becomes one and back.
template <int digits>
struct PtxNarrow {
  static constexpr int bits = 16;
  template <class How>
  static uint32_t of(float x, bool finite, How how) {
    uint16_t code = Narrow<digits>::of(x, how);
    constexpr auto infinity = Narrow<digits>::infinity;
    if (finite && (code & 0x7fffu) == infinity) code = static_cast<uint16_t>((code & 0x8000u) | (infinity - 1));
    return code;
  }
  static float widened(uint32_t code) { return Narrow<digits>::widened(static_cast<uint16_t>(code)); }
};
template <class Kind>
struct PtxSmall {
  static constexpr int bits = Kind::stored_in;
  template <class How>
  static uint32_t of(float x, bool finite, How how) { return Kind::of(x, finite, how); }
  static float widened(uint32_t code) { return Kind::widened(static_cast<uint8_t>(code)); }
};
struct PtxFloat {
  static constexpr int bits = 32;
  static uint32_t of(float x, bool, Rounding) { return static_cast<uint32_t>(to_bits(x)); }
  static float widened(uint32_t code) { return from_bits<float>(code); }
};
using ptx_cvt_f32 = PtxFloat;
using ptx_cvt_f16 = PtxNarrow<11>;
using ptx_cvt_bf16 = PtxNarrow<8>;
using ptx_cvt_e4m3 = PtxSmall<E4m3>;
using ptx_cvt_e5m2 = PtxSmall<E5m2>;
using ptx_cvt_e2m3 = PtxSmall<E2m3>;
using ptx_cvt_e3m2 = PtxSmall<E3m2>;
using ptx_cvt_e2m1 = PtxSmall<E2m1>;
using ptx_cvt_ue8m0 = PtxSmall<E8m0>;

// What the words of an instruction's name say, in any order.
struct PtxHow {
  Rounding how = Rounding::nearest;
  bool finite = false, relu = false;
  constexpr PtxHow(const char *words) {
    for (const char *at = words; *at; at++) {
      if (at[0] != '.') continue;
      if (at[1] == 'r' && at[2] == 'z') how = Rounding::to_zero;
      if (at[1] == 'r' && at[2] == 'p') how = Rounding::up;
      if (at[1] == 'r' && at[2] == 'm') how = Rounding::down;
      if (at[1] == 's') finite = true;
      if (at[1] == 'r' && at[2] == 'e') relu = true;
    }
  }
};
template <class To>
CUDA_ON_CPU_OF_REGISTERS uint32_t ptx_converted(float x, PtxHow how) {
  return To::of(how.relu && x <= 0 ? 0.0f : x, how.finite, how.how);
}
template <class To>
CUDA_ON_CPU_OF_REGISTERS uint32_t ptx_converted(float x, PtxHow how, RandomRounding random) {
  return To::of(how.relu && x <= 0 ? 0.0f : x, how.finite, random);
}
template <int bits, class Out>
CUDA_ON_CPU_OF_REGISTERS void ptx_give_bits(Out &&to, uint32_t made) {
  ptx_put_wider(to, static_cast<typename PtxWord<bits>::type>(made));
}
template <class Kind, class Register>
CUDA_ON_CPU_OF_REGISTERS uint32_t ptx_code_at(Register value, int place) {
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  return static_cast<uint32_t>(bits >> (place * Kind::bits) & ((uint64_t{1} << Kind::bits) - 1));
}

// A float of 10 digits behind the point, in 32 bits. `away`: to the nearest, halfway away from 0; of a NaN an H200 then cuts the
// last digits as well, and else gives one NaN.
template <bool away, class To>
CUDA_ON_CPU_OF_REGISTERS void ptx_tf32(PtxHow how, To &&to, float x) {
  constexpr uint32_t infinity = 0x7f800000u, digits = 0xffffe000u, any_nan = 0x7fffe000u;
  auto bits = static_cast<uint32_t>(to_bits(x));
  if (how.how == Rounding::nearest && (bits & infinity) != infinity) bits += away ? 0x1000u : 0xfffu + (bits >> 13 & 1);
  bits = x != x && !away ? any_nan : bits & digits;
  if (how.relu && x <= 0) bits = 0;
  if (how.finite && (bits & 0x7fffffffu) == infinity) bits -= 0x2000u;
  ptx_put(to, bits);
}

// One number; two from two registers; two from one.
template <class To, class From, class Out, class Register>
CUDA_ON_CPU_OF_REGISTERS void ptx_cvt(PtxHow how, Out &&to, Register from) {
  ptx_give_bits<To::bits>(to, ptx_converted<To>(From::widened(ptx_code_at<From>(from, 0)), how));
}
template <class To, class Out>
CUDA_ON_CPU_OF_REGISTERS void ptx_cvt_two(PtxHow how, Out &&to, float upper, float lower) {
  ptx_give_bits<2 * To::bits>(to, ptx_converted<To>(upper, how) << To::bits | ptx_converted<To>(lower, how));
}
template <class To, class From, class Out, class Register>
CUDA_ON_CPU_OF_REGISTERS void ptx_cvt_both(PtxHow how, Out &&to, Register from) {
  ptx_cvt_two<To>(how, to, From::widened(ptx_code_at<From>(from, 1)), From::widened(ptx_code_at<From>(from, 0)));
}

// .rs: which of the 32 random bits round which number. Two numbers have a half each, of which f16 takes 13 bits. Of four, the
// first two share 16 bits and the last two the others, and the second of each pair reads them in reverse: seen on a B200.
CUDA_ON_CPU_OF_REGISTERS uint32_t ptx_reversed16(uint32_t bits) {
  uint32_t made = 0;
  for (int i = 0; i < 16; i++) made |= (bits >> i & 1) << (15 - i);
  return made;
}
template <class To, class Out, class Bits>
CUDA_ON_CPU_OF_REGISTERS void ptx_cvt_two_at_random(PtxHow how, Out &&to, float upper, float lower, Bits given) {
  constexpr int width = std::is_same_v<To, ptx_cvt_f16> ? 13 : 16;
  auto random = ptx_as<uint32_t>(given), mask = (1u << width) - 1;
  ptx_give_bits<2 * To::bits>(to, ptx_converted<To>(upper, how, {random >> 16 & mask, width}) << To::bits |
                                      ptx_converted<To>(lower, how, {random & mask, width}));
}
template <class To, class Out, class Bits>
CUDA_ON_CPU_OF_REGISTERS void ptx_cvt_four_at_random(PtxHow how, Out &&to, float x3, float x2, float x1, float x0, Bits given) {
  auto random = ptx_as<uint32_t>(given);
  uint32_t upper = random >> 16, lower = random & 0xffffu;
  if (To::bits == 4) {
    upper = (random >> 16 & 0xff00u) | (random >> 8 & 0xffu);
    lower = (random >> 8 & 0xff00u) | (random & 0xffu);
  }
  const float from[] = {x0, x1, x2, x3};
  const uint32_t bits[] = {lower, ptx_reversed16(lower), upper, ptx_reversed16(upper)};
  uint32_t made = 0;
  for (int i = 0; i < 4; i++) made |= ptx_converted<To>(from[i], how, {bits[i], 16}) << (To::bits * i);
  ptx_give_bits<4 * To::bits>(to, made);
}

// Two integers, clamped to fewer bits, into the lower part of a register; the rest comes from a third.
template <int bits, bool is_signed, class Out, class A, class B, class D>
CUDA_ON_CPU_OF_REGISTERS void ptx_cvt_pack(Out &&to, A first, B second, D rest) {
  constexpr int64_t least = is_signed ? -(int64_t{1} << (bits - 1)) : 0, most = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  auto code = [](int64_t x) { return static_cast<uint32_t>((x < least ? least : x > most ? most : x) & ((int64_t{1} << bits) - 1)); };
  uint32_t both = code(ptx_as<int32_t>(first)) << bits | code(ptx_as<int32_t>(second));
  ptx_put(to, bits == 16 ? both : ptx_as<uint32_t>(rest) << (2 * bits & 31) | both);
}

}  // namespace cuda_on_cpu
