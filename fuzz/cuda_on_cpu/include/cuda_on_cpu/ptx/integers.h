// PTX's instructions on integers and bits, and the comparisons of all numbers. `T` is the type that the instruction names.
#pragma once
#include "../packed.h"
#include "registers.h"

namespace cuda_on_cpu {

#define CUDA_ON_CPU_PTX_1(name, expression)                         \
  template <class T, class To, class A>                             \
  CUDA_ON_CPU_OF_REGISTERS void ptx_##name(To &&to, A first) {            \
    const T a = ptx_as<T>(first);                                   \
    ptx_put(to, static_cast<T>(expression));                        \
  }
#define CUDA_ON_CPU_PTX_2(name, expression)                         \
  template <class T, class To, class A, class B>                    \
  CUDA_ON_CPU_OF_REGISTERS void ptx_##name(To &&to, A first, B second) {  \
    const T a = ptx_as<T>(first), b = ptx_as<T>(second);            \
    ptx_put(to, static_cast<T>(expression));                        \
  }
#define CUDA_ON_CPU_PTX_3(name, expression)                                  \
  template <class T, class To, class A, class B, class D>                    \
  CUDA_ON_CPU_OF_REGISTERS void ptx_##name(To &&to, A first, B second, D third) {  \
    const T a = ptx_as<T>(first), b = ptx_as<T>(second), c = ptx_as<T>(third); \
    ptx_put(to, static_cast<T>(expression));                                 \
  }

template <class T>
struct PtxInteger {
  static constexpr int bits = 8 * sizeof(T);
  static constexpr bool is_signed = std::is_signed_v<T>;
  using Unsigned = typename PtxWord<bits>::type;
  using Wide = std::conditional_t<bits == 16, std::conditional_t<is_signed, int32_t, uint32_t>,
               std::conditional_t<bits == 32, std::conditional_t<is_signed, int64_t, uint64_t>,
               std::conditional_t<is_signed, __int128, unsigned __int128>>>;
};
template <class T>
using PtxWide = typename PtxInteger<T>::Wide;
template <class T>
using PtxBits = typename PtxInteger<T>::Unsigned;

template <class T>
CUDA_ON_CPU_OF_REGISTERS T ptx_upper(PtxWide<T> wide) { return static_cast<T>(wide >> PtxInteger<T>::bits); }

// Those by which a compiler changes the sign or the exponent of a float.
#define CUDA_ON_CPU_PTX_ON_BITS(name, operation)                          \
  template <class T, class To, class A, class B>                          \
  CUDA_ON_CPU_OF_REGISTERS void ptx_##name(To &&to, A first, B second) {  \
    const T a = ptx_as<T>(first), b = ptx_as<T>(second);                  \
    ptx_put(to, static_cast<T>(a operation b));                           \
    if constexpr (ptx_counts<PtxPlain<To>>) to.template became<#operation[0]>(first, second); \
  }
CUDA_ON_CPU_PTX_ON_BITS(add, +)
CUDA_ON_CPU_PTX_ON_BITS(sub, -)
CUDA_ON_CPU_PTX_2(add_sat, saturated<T>(static_cast<long>(a) + b))
CUDA_ON_CPU_PTX_2(sub_sat, saturated<T>(static_cast<long>(a) - b))
CUDA_ON_CPU_PTX_2(mul_lo, static_cast<PtxWide<T>>(a) * b)
CUDA_ON_CPU_PTX_2(mul_hi, ptx_upper<T>(static_cast<PtxWide<T>>(a) * b))
CUDA_ON_CPU_PTX_3(mad_lo, static_cast<PtxWide<T>>(a) * b + c)
CUDA_ON_CPU_PTX_3(mad_hi, ptx_upper<T>(static_cast<PtxWide<T>>(a) * b) + c)
CUDA_ON_CPU_PTX_3(mad_hi_sat, saturated<T>(static_cast<long>(ptx_upper<T>(static_cast<PtxWide<T>>(a) * b)) + c))
template <class T, class To, class A, class B>
CUDA_ON_CPU_OF_REGISTERS void ptx_mul_wide(To &&to, A a, B b) {
  ptx_put(to, static_cast<PtxWide<T>>(static_cast<PtxWide<T>>(ptx_as<T>(a)) * ptx_as<T>(b)));
}
template <class T, class To, class A, class B, class D>
CUDA_ON_CPU_OF_REGISTERS void ptx_mad_wide(To &&to, A a, B b, D c) {
  ptx_put(to, static_cast<PtxWide<T>>(static_cast<PtxWide<T>>(ptx_as<T>(a)) * ptx_as<T>(b) + ptx_as<PtxWide<T>>(c)));
}

// 24-bit products of 48 bits: the lower or the upper 32.
template <class T>
CUDA_ON_CPU_OF_REGISTERS PtxWide<T> ptx_product_of_24(T a, T b) {
  return static_cast<PtxWide<T>>(static_cast<T>(a << 8) >> 8) * (static_cast<T>(b << 8) >> 8);
}
CUDA_ON_CPU_PTX_2(mul24_lo, ptx_product_of_24<T>(a, b))
CUDA_ON_CPU_PTX_2(mul24_hi, ptx_product_of_24<T>(a, b) >> 16)
CUDA_ON_CPU_PTX_3(mad24_lo, ptx_product_of_24<T>(a, b) + c)
CUDA_ON_CPU_PTX_3(mad24_hi, (ptx_product_of_24<T>(a, b) >> 16) + c)

// PTX does not say what a division by 0 gives; these are the answers of GPUs.
CUDA_ON_CPU_PTX_2(div, b == 0 ? static_cast<T>(-1) : PtxInteger<T>::is_signed && b == static_cast<T>(-1) ? static_cast<T>(-a) : static_cast<T>(a / b))
CUDA_ON_CPU_PTX_2(rem, b == 0 ? a : PtxInteger<T>::is_signed && b == static_cast<T>(-1) ? T{0} : static_cast<T>(a % b))
CUDA_ON_CPU_PTX_2(min, b < a ? b : a)
CUDA_ON_CPU_PTX_2(max, a < b ? b : a)
CUDA_ON_CPU_PTX_2(max_relu, (a < b ? b : a) < 0 ? T{0} : a < b ? b : a)
CUDA_ON_CPU_PTX_2(min_relu, (b < a ? b : a) < 0 ? T{0} : b < a ? b : a)
CUDA_ON_CPU_PTX_1(neg, -a)
CUDA_ON_CPU_PTX_1(abs, a < 0 ? static_cast<T>(-a) : a)
CUDA_ON_CPU_PTX_3(sad, c + (a < b ? static_cast<PtxBits<T>>(b) - static_cast<PtxBits<T>>(a) : static_cast<PtxBits<T>>(a) - static_cast<PtxBits<T>>(b)))

// Sums of many words, with a carry from one to the next. A difference borrows.
template <class T, class Carry, class To, class A, class B>
CUDA_ON_CPU_OF_REGISTERS void ptx_add_carry(Carry &&carry, To &&to, A a, B b, bool more) {
  using U = PtxBits<T>;
  auto sum = static_cast<unsigned __int128>(ptx_as<U>(a)) + ptx_as<U>(b) + more;
  carry = bool(sum >> PtxInteger<T>::bits & 1);
  ptx_put(to, static_cast<U>(sum));
}
template <class T, class Carry, class To, class A, class B>
CUDA_ON_CPU_OF_REGISTERS void ptx_sub_borrow(Carry &&carry, To &&to, A a, B b, bool more) {
  using U = PtxBits<T>;
  auto rest = static_cast<unsigned __int128>(ptx_as<U>(a)) - ptx_as<U>(b) - more;
  carry = bool(rest >> PtxInteger<T>::bits & 1);
  ptx_put(to, static_cast<U>(rest));
}
template <class T, bool upper, class Carry, class To, class A, class B, class D>
CUDA_ON_CPU_OF_REGISTERS void ptx_mad_carry(Carry &&carry, To &&to, A a, B b, D c, bool more) {
  auto product = static_cast<PtxWide<T>>(ptx_as<T>(a)) * ptx_as<T>(b);
  ptx_add_carry<T>(carry, to, upper ? ptx_upper<T>(product) : static_cast<T>(product), c, more);
}

// Two numbers of 16 bits, or four of 8, in a word.
template <class Of, class To, class... In>
CUDA_ON_CPU_OF_REGISTERS void ptx_on_words(Of of, To &&to, In... in) { ptx_put(to, of(ptx_as<uint32_t>(in)...)); }
template <class A, class B, class To, class X, class Y, class Z>
CUDA_ON_CPU_OF_REGISTERS void ptx_dp4a(To &&to, X a, Y b, Z sum) {
  ptx_put(to, dot4(ptx_as<A>(a), ptx_as<B>(b), ptx_as<uint32_t>(sum)));
}
template <class A, class B, int first, class To, class X, class Y, class Z>
CUDA_ON_CPU_OF_REGISTERS void ptx_dp2a(To &&to, X a, Y b, Z sum) {
  ptx_put(to, dot2(ptx_as<A>(a), ptx_as<B>(b), ptx_as<uint32_t>(sum), first));
}
template <class To, class A, class B, class D>
CUDA_ON_CPU_OF_REGISTERS void ptx_vabsdiff4_add(To &&to, A a, B b, D sum) {
  ptx_put(to, __vsadu4(ptx_as<uint32_t>(a), ptx_as<uint32_t>(b)) + ptx_as<uint32_t>(sum));
}

// Bits.
CUDA_ON_CPU_PTX_ON_BITS(and, &)
CUDA_ON_CPU_PTX_ON_BITS(or, |)
CUDA_ON_CPU_PTX_ON_BITS(xor, ^)
CUDA_ON_CPU_PTX_1(not, ~a)
CUDA_ON_CPU_PTX_1(cnot, a == 0)
template <class To, class A, class B>
CUDA_ON_CPU_OF_REGISTERS void ptx_and_pred(To &&to, A a, B b) { ptx_put(to, bool(a) && bool(b)); }
template <class To, class A, class B>
CUDA_ON_CPU_OF_REGISTERS void ptx_or_pred(To &&to, A a, B b) { ptx_put(to, bool(a) || bool(b)); }
template <class To, class A, class B>
CUDA_ON_CPU_OF_REGISTERS void ptx_xor_pred(To &&to, A a, B b) { ptx_put(to, bool(a) != bool(b)); }
template <class To, class A>
CUDA_ON_CPU_OF_REGISTERS void ptx_not_pred(To &&to, A a) { ptx_put(to, !a); }

// From the width of the register on, all bits are shifted out.
template <class T, class To, class A, class B>
CUDA_ON_CPU_OF_REGISTERS void ptx_shl(To &&to, A value, B by) {
  T a = ptx_as<T>(value);
  uint32_t n = ptx_as<uint32_t>(by);
  ptx_put(to, static_cast<T>(n >= sizeof a * 8 ? T{0} : static_cast<T>(static_cast<PtxBits<T>>(a) << n)));
  if constexpr (ptx_counts<PtxPlain<To>>) to.became_shifted(n);
}
template <class T, class To, class A, class B>
CUDA_ON_CPU_OF_REGISTERS void ptx_shr(To &&to, A value, B by) {
  T a = ptx_as<T>(value);
  uint32_t n = ptx_as<uint32_t>(by);
  ptx_put(to, static_cast<T>(n >= sizeof a * 8 ? (a < 0 ? -1 : 0) : a >> n));
}
template <class To, class A, class B, class D, class E>
CUDA_ON_CPU_OF_REGISTERS void ptx_lop3(To &&to, A first, B second, D third, E which) {
  auto a = ptx_as<uint32_t>(first), b = ptx_as<uint32_t>(second), c = ptx_as<uint32_t>(third), table = ptx_as<uint32_t>(which);
  uint32_t made = 0;
  for (uint32_t place = 0; place < 8; place++)
    if (table >> place & 1) made |= (place & 4 ? a : ~a) & (place & 2 ? b : ~b) & (place & 1 ? c : ~c);
  ptx_put(to, made);
}
// A field of bits; beyond the register it has the field's sign, or zeros.
template <class T, class To, class A, class B, class D>
CUDA_ON_CPU_OF_REGISTERS void ptx_bfe(To &&to, A value, B start, D length) {
  using U = PtxBits<T>;
  constexpr uint32_t most = PtxInteger<T>::bits - 1;
  U a = ptx_as<U>(value);
  uint32_t at = ptx_as<uint32_t>(start) & 255, count = ptx_as<uint32_t>(length) & 255;
  bool negative = PtxInteger<T>::is_signed && count && a >> (at + count - 1 < most ? at + count - 1 : most) & 1;
  uint32_t valid = at > most ? 0 : count < most + 1 - at ? count : most + 1 - at;
  U mask = valid > most ? ~U{0} : static_cast<U>((U{1} << valid) - 1), field = at > most ? U{0} : static_cast<U>(a >> at);
  ptx_put(to, static_cast<U>((field & mask) | (negative ? static_cast<U>(~mask) : U{0})));
}
template <class T, class To, class A, class B, class D, class E>
CUDA_ON_CPU_OF_REGISTERS void ptx_bfi(To &&to, A field, B into, D start, E length) {
  constexpr uint32_t most = PtxInteger<T>::bits - 1;
  T a = ptx_as<T>(field), b = ptx_as<T>(into);
  uint32_t at = ptx_as<uint32_t>(start) & 255, count = ptx_as<uint32_t>(length) & 255;
  T mask = at > most ? T{0} : static_cast<T>((count > most ? ~T{0} : static_cast<T>((T{1} << count) - 1)) << at);
  ptx_put(to, static_cast<T>((b & ~mask) | (at > most ? T{0} : static_cast<T>(a << at) & mask)));
}
// The place of the highest bit that is no copy of the sign, from the lowest or, as a shift, from the highest.
template <class T, bool as_shift, class To, class A>
CUDA_ON_CPU_OF_REGISTERS void ptx_bfind(To &&to, A value) {
  auto a = ptx_as<T>(value);
  uint64_t bits = static_cast<PtxBits<T>>(PtxInteger<T>::is_signed && a < 0 ? ~a : a);
  uint32_t place = bits ? 63 - static_cast<uint32_t>(__builtin_clzll(bits)) : ~0u;
  ptx_put(to, as_shift && bits ? PtxInteger<T>::bits - 1 - place : place);
}
template <class To, class A, class B, class D>
CUDA_ON_CPU_OF_REGISTERS void ptx_fns(To &&to, A bits, B start, D which) {
  auto mask = ptx_as<uint32_t>(bits);
  auto at = ptx_as<int32_t>(start), left = ptx_as<int32_t>(which);
  int32_t step = left < 0 ? -1 : 1;
  uint32_t made = ~0u;
  if (left == 0) left = 1, step = 32;
  for (left = left < 0 ? -left : left; at >= 0 && at < 32; at += step)
    if (mask >> at & 1 && --left == 0) {
      made = static_cast<uint32_t>(at);
      break;
    }
  ptx_put(to, made);
}
template <class T, class To, class A>
CUDA_ON_CPU_OF_REGISTERS void ptx_popc(To &&to, A bits) { ptx_put(to, static_cast<uint32_t>(__popcll(ptx_as<T>(bits)))); }
template <class T, class To, class A>
CUDA_ON_CPU_OF_REGISTERS void ptx_clz(To &&to, A bits) {
  ptx_put(to, static_cast<uint32_t>(__clzll(static_cast<long long>(ptx_as<T>(bits))) - (64 - PtxInteger<T>::bits)));
}
template <class T, class To, class A>
CUDA_ON_CPU_OF_REGISTERS void ptx_brev(To &&to, A bits) {
  ptx_put(to, static_cast<T>(__brevll(ptx_as<T>(bits)) >> (64 - PtxInteger<T>::bits)));
}

// Four bytes of eight. By default a selector's upper bit stands for eight copies of the byte's sign.
enum PtxPermutation { ptx_prmt_, ptx_prmt_f4e, ptx_prmt_b4e, ptx_prmt_rc8, ptx_prmt_ecl, ptx_prmt_ecr, ptx_prmt_rc16 };
template <PtxPermutation mode, class To, class A, class B, class D>
CUDA_ON_CPU_OF_REGISTERS void ptx_prmt(To &&to, A first, B second, D which) {
  auto selector = ptx_as<uint32_t>(which);
  if constexpr (mode != ptx_prmt_) {
    uint32_t n = selector & 3, chosen = 0;
    for (uint32_t i = 0; i < 4; i++) {
      uint32_t place = mode == ptx_prmt_f4e   ? n + i
                       : mode == ptx_prmt_b4e ? (n - i) & 7
                       : mode == ptx_prmt_rc8 ? n
                       : mode == ptx_prmt_ecl ? (i < n ? n : i)
                       : mode == ptx_prmt_ecr ? (i < n ? i : n)
                                              : (n & 1) * 2 + i % 2;
      chosen |= place << 4 * i;
    }
    selector = chosen;
  }
  auto a = ptx_as<uint32_t>(first), b = ptx_as<uint32_t>(second);
  uint32_t made = __byte_perm(a, b, selector);
  for (uint32_t i = 0; i < 4; i++)
    if (selector >> (4 * i + 3) & 1) made = (made & ~(0xffu << 8 * i)) | (made >> (8 * i + 7) & 1 ? 0xffu << 8 * i : 0);
  ptx_put(to, made);
}

// Choices.
template <class T, class To, class A, class B, class P>
CUDA_ON_CPU_OF_REGISTERS void ptx_selp(To &&to, A a, B b, P p) {
  if (p) ptx_put(to, ptx_kept<T, To>(a));
  else ptx_put(to, ptx_kept<T, To>(b));
}
template <class T, class By, class To, class A, class B, class D>
CUDA_ON_CPU_OF_REGISTERS void ptx_slct(To &&to, A a, B b, D c) { ptx_selp<T>(to, a, b, ptx_as<By>(c) >= 0); }

// Comparisons. With a u, numbers that cannot be ordered count, too.
template <class T>
CUDA_ON_CPU_OF_REGISTERS bool ptx_is_number(T a) { return a == a; }
#define CUDA_ON_CPU_PTX_COMPARISON(name, expression)               \
  struct PtxIs_##name {                                            \
    template <class T>                                             \
    static __forceinline__ bool of(T a, T b) { return expression; } \
  };
CUDA_ON_CPU_PTX_COMPARISON(eq, a == b)
CUDA_ON_CPU_PTX_COMPARISON(ne, ptx_is_number(a) && ptx_is_number(b) && a != b)
CUDA_ON_CPU_PTX_COMPARISON(lt, a < b)
CUDA_ON_CPU_PTX_COMPARISON(le, a <= b)
CUDA_ON_CPU_PTX_COMPARISON(gt, a > b)
CUDA_ON_CPU_PTX_COMPARISON(ge, a >= b)
CUDA_ON_CPU_PTX_COMPARISON(equ, !(ptx_is_number(a) && ptx_is_number(b)) || a == b)
CUDA_ON_CPU_PTX_COMPARISON(neu, a != b)
CUDA_ON_CPU_PTX_COMPARISON(ltu, !(a >= b))
CUDA_ON_CPU_PTX_COMPARISON(leu, !(a > b))
CUDA_ON_CPU_PTX_COMPARISON(gtu, !(a <= b))
CUDA_ON_CPU_PTX_COMPARISON(geu, !(a < b))
CUDA_ON_CPU_PTX_COMPARISON(num, ptx_is_number(a) && ptx_is_number(b))
CUDA_ON_CPU_PTX_COMPARISON(nan, !(ptx_is_number(a) && ptx_is_number(b)))
#undef CUDA_ON_CPU_PTX_COMPARISON
CUDA_ON_CPU_OF_REGISTERS bool ptx_with_and(bool a, bool b) { return a && b; }
CUDA_ON_CPU_OF_REGISTERS bool ptx_with_or(bool a, bool b) { return a || b; }
CUDA_ON_CPU_OF_REGISTERS bool ptx_with_xor(bool a, bool b) { return a != b; }
// Two predicates: the comparison, and its opposite.
template <class To, class Opposite>
CUDA_ON_CPU_OF_REGISTERS void ptx_setp(To &&to, Opposite &&opposite, bool is_so) {
  ptx_put(to, is_so);
  ptx_put(opposite, !is_so);
}
template <class To, class Opposite>
CUDA_ON_CPU_OF_REGISTERS void ptx_setp_with(bool (*both)(bool, bool), To &&to, Opposite &&opposite, bool is_so, bool more) {
  ptx_put(to, both(is_so, more));
  ptx_put(opposite, both(!is_so, more));
}
// Of two numbers in a register, a predicate for each.
template <class To, class Other>
CUDA_ON_CPU_OF_REGISTERS void ptx_setp_two(To &&to, Other &&other, bool low, bool high) {
  ptx_put(to, low);
  ptx_put(other, high);
}
// -1 as an integer, 1 as a float.
template <class T, class To>
CUDA_ON_CPU_OF_REGISTERS void ptx_set(To &&to, bool is_so) {
  if constexpr (std::is_integral_v<T>) ptx_put(to, static_cast<T>(is_so ? -1 : 0));
  else ptx_put(to, static_cast<T>(is_so ? 1.0f : 0.0f));
}

}  // namespace cuda_on_cpu
