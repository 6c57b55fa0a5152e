// PTX's arithmetic of float16 and bfloat16, one or two in a register: float's, rounded once more, as in sixteen_bits.h.
#pragma once
#include "../narrow.h"
#include "floats.h"

namespace cuda_on_cpu {

// A number of 16 bits, as comparisons, atomics and tensor cores take it.
template <int digits>
struct PtxSixteen {
  using Kind = Narrow<digits>;
  uint16_t bits;
  PtxSixteen() = default;
  explicit PtxSixteen(double x) : bits(Kind::of(x)) {}
  operator float() const { return Kind::widened(bits); }
};
using ptx_f16 = PtxSixteen<11>;
using ptx_bf16 = PtxSixteen<8>;
template <int digits>
struct PtxTwoSixteens {
  PtxSixteen<digits> low, high;
  friend __forceinline__ PtxTwoSixteens operator+(PtxTwoSixteens a, PtxTwoSixteens b) {
    return {PtxSixteen<digits>(a.low + b.low), PtxSixteen<digits>(a.high + b.high)};
  }
};
using ptx_f16x2 = PtxTwoSixteens<11>;
using ptx_bf16x2 = PtxTwoSixteens<8>;

template <class Sixteen, class A>
CUDA_ON_CPU_OF_REGISTERS float ptx_widened(A a) { return ptx_as<Sixteen>(a); }

#define CUDA_ON_CPU_PTX_OF_SIXTEEN(name, parameters, expression) \
  struct PtxSixteen_##name {                                     \
    template <class K>                                           \
    static __forceinline__ uint16_t of parameters { return expression; } \
  };
CUDA_ON_CPU_PTX_OF_SIXTEEN(add, (float a, float b), K::of(a + b))
CUDA_ON_CPU_PTX_OF_SIXTEEN(sub, (float a, float b), K::of(a - b))
CUDA_ON_CPU_PTX_OF_SIXTEEN(mul, (float a, float b), K::of(a * b))
CUDA_ON_CPU_PTX_OF_SIXTEEN(fma, (float a, float b, float c), K::fused(a, b, c))
CUDA_ON_CPU_PTX_OF_SIXTEEN(ex2, (float a), K::of(exp2f(a)))
CUDA_ON_CPU_PTX_OF_SIXTEEN(tanh, (float a), K::of(tanhf(a)))
#undef CUDA_ON_CPU_PTX_OF_SIXTEEN
template <bool larger, bool keeps_nan, bool of_sizes>
struct PtxSixteenChosen {
  template <class K>
  static __forceinline__ uint16_t of(float a, float b) {
    return K::of(larger ? ptx_larger<keeps_nan, of_sizes>(a, b) : ptx_smaller<keeps_nan, of_sizes>(a, b));
  }
};

enum PtxFinish { ptx_finish_plain, ptx_finish_sat, ptx_finish_relu };

// .ftz makes subnormal operands and results 0; .sat clamps to [0, 1], .relu to 0 and more.
template <class K>
CUDA_ON_CPU_OF_REGISTERS uint16_t ptx_flushed_code(uint16_t code) {
  constexpr uint16_t normal = K::infinity & -K::infinity;
  return (code & 0x7fffu) < normal ? code & 0x8000u : code;
}
template <class K, PtxFinish finish, bool flushes>
CUDA_ON_CPU_OF_REGISTERS uint16_t ptx_finished(uint16_t code) {
  if constexpr (flushes) code = ptx_flushed_code<K>(code);
  if constexpr (finish == ptx_finish_sat) return K::of(__saturatef(K::widened(code)));
  bool is_nan = (code & 0x7fffu) > K::infinity;
  if (finish == ptx_finish_relu && code >> 15 && !is_nan) return 0;
  return code;
}

// An operation on each of `count` numbers in a register.
template <int digits, int count, class Of, PtxFinish finish, bool flushes, class To, class... In>
CUDA_ON_CPU_OF_REGISTERS void ptx_on_sixteens(To &&to, In... in) {
  using K = Narrow<digits>;
  using Register = typename PtxWord<16 * count>::type;
  Register made = 0;
  auto number = [](Register bits, int place) {
    auto code = static_cast<uint16_t>(bits >> (16 * place));
    return K::widened(flushes ? ptx_flushed_code<K>(code) : code);
  };
  for (int place = 0; place < count; place++) {
    uint16_t code = ptx_finished<K, finish, flushes>(Of::template of<K>(number(ptx_as<Register>(in), place)...));
    made = static_cast<Register>(made | static_cast<Register>(Register{code} << (16 * place)));
  }
  ptx_put(to, made);
}
template <int digits, int count, bool flushes, bool keeps_sign, bool flips, class To, class In>
CUDA_ON_CPU_OF_REGISTERS void ptx_sign_of_sixteens(To &&to, In in) {
  using Register = typename PtxWord<16 * count>::type;
  auto from = ptx_as<Register>(in);
  Register made = 0;
  for (int place = 0; place < count; place++) {
    auto code = static_cast<uint16_t>(from >> (16 * place));
    if (flushes) code = ptx_flushed_code<Narrow<digits>>(code);
    code = static_cast<uint16_t>(keeps_sign ? flips ? code ^ 0x8000u : code : code & 0x7fffu);
    made = static_cast<Register>(made | static_cast<Register>(Register{code} << (16 * place)));
  }
  ptx_put(to, made);
}

}  // namespace cuda_on_cpu
