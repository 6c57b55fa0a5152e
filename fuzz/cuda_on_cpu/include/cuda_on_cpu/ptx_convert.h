// The targets of ptx_table.py for cvt between floats of different sizes. Where two numbers share a register, the first
// operand goes to its upper half.
#pragma once
#include "ptx_registers.h"
#include "small_floats.h"

namespace cuda_on_cpu {

// To nearest, halfway away from 0.
template <class To>
CUDA_ON_CPU_INLINE void ptx_tf32(To &&to, float x) {
  uint32_t bits = static_cast<uint32_t>(to_bits(x));
  if ((bits & 0x7f800000u) != 0x7f800000u) bits = (bits + 0x1000u) & ~0x1fffu;
  ptx_move(to, bits);
}

// The formats by PTX's names: how many bits each has in a register, and how a float becomes one and back.
template <int digits>
struct PtxNarrow {
  static constexpr int bits = 16;
  static uint32_t of(float x, bool finite, Rounding how) {
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
  static uint32_t of(float x, bool finite, Rounding how) { return Kind::of(x, finite, how); }
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
CUDA_ON_CPU_INLINE uint32_t ptx_converted(float x, PtxHow how) {
  return To::of(how.relu && x <= 0 ? 0.0f : x, how.finite, how.how);
}
template <int bits, class Out>
CUDA_ON_CPU_INLINE void ptx_give_bits(Out &&to, uint32_t made) {
  ptx_move(to, static_cast<typename PtxWord<bits>::type>(made));
}
template <class Kind, class Register>
CUDA_ON_CPU_INLINE uint32_t ptx_code_at(Register value, int place) {
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  return static_cast<uint32_t>(bits >> (place * Kind::bits) & ((uint64_t{1} << Kind::bits) - 1));
}

// One number; two from two registers; two from one.
template <class To, class From, class Out, class Register>
CUDA_ON_CPU_INLINE void ptx_cvt(PtxHow how, Out &&to, Register from) {
  ptx_give_bits<To::bits>(to, ptx_converted<To>(From::widened(ptx_code_at<From>(from, 0)), how));
}
template <class To, class Out>
CUDA_ON_CPU_INLINE void ptx_cvt_two(PtxHow how, Out &&to, float upper, float lower) {
  ptx_give_bits<2 * To::bits>(to, ptx_converted<To>(upper, how) << To::bits | ptx_converted<To>(lower, how));
}
template <class To, class From, class Out, class Register>
CUDA_ON_CPU_INLINE void ptx_cvt_both(PtxHow how, Out &&to, Register from) {
  ptx_cvt_two<To>(how, to, From::widened(ptx_code_at<From>(from, 1)), From::widened(ptx_code_at<From>(from, 0)));
}

}  // namespace cuda_on_cpu
