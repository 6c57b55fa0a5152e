// PTX's arithmetic of float32 and float64, made of CUDA's own functions: what .ftz and .sat add, minimum and maximum.
#pragma once
#include "../math_functions.h"
#include "registers.h"

namespace cuda_on_cpu {

template <class T>
CUDA_ON_CPU_OF_REGISTERS T ptx_flushed(T x) {
  if constexpr (std::is_same_v<T, float>) return flushed(x);
  else return x;
}
template <class T, bool flushes, class A>
CUDA_ON_CPU_OF_REGISTERS T ptx_in(A a) {
  T x = ptx_as<T>(a);
  if constexpr (flushes) return ptx_flushed(x);
  else return x;
}
template <bool flushes, bool saturates, class T>
CUDA_ON_CPU_OF_REGISTERS T ptx_out(T x) {
  if constexpr (saturates) return __saturatef(x);
  else if constexpr (flushes) return ptx_flushed(x);
  else return x;
}

// Within two units of the last place (div.full) or one (rcp.approx): here the nearest number, and not IEEE's for one that counts.
template <class T>
CUDA_ON_CPU_OF_REGISTERS T ptx_rough_quotient(T a, T b) { return a / b; }

// A NaN beats a number with .NaN; else a number beats it. With .xorsign.abs the sizes count, and the signs are those of a product.
template <bool keeps_nan, bool of_sizes, class T, class Of>
CUDA_ON_CPU_OF_REGISTERS T ptx_chosen(T a, T b, Of of) {
  if constexpr (of_sizes) {
    T made = ptx_chosen<keeps_nan, false>(std::fabs(a), std::fabs(b), of);
    return made != made ? made : std::signbit(a) != std::signbit(b) ? -made : made;
  } else if constexpr (keeps_nan) {
    return a != a || b != b ? std::numeric_limits<T>::quiet_NaN() : of(a, b);
  } else {
    return of(a, b);
  }
}
template <bool keeps_nan, bool of_sizes, class T>
CUDA_ON_CPU_OF_REGISTERS T ptx_larger(T a, T b) {
  return ptx_chosen<keeps_nan, of_sizes>(a, b, [](T x, T y) CUDA_ON_CPU_UNCHECKED { return max_number<T>(x, y); });
}
template <bool keeps_nan, bool of_sizes, class T>
CUDA_ON_CPU_OF_REGISTERS T ptx_smaller(T a, T b) {
  return ptx_chosen<keeps_nan, of_sizes>(a, b, [](T x, T y) CUDA_ON_CPU_UNCHECKED { return min_number<T>(x, y); });
}

// Approximations of which the lower 32 bits are 0, from an operand whose lower 32 bits and subnormal numbers count as 0.
CUDA_ON_CPU_OF_REGISTERS double ptx_upper_half(double x) { return from_bits<double>(to_bits(x) & 0xffffffff00000000u); }
CUDA_ON_CPU_OF_REGISTERS double ptx_flushed_upper(double x) {
  double upper = ptx_upper_half(x);
  return std::fabs(upper) < std::numeric_limits<double>::min() ? std::copysign(0.0, upper) : upper;
}
CUDA_ON_CPU_OF_REGISTERS double ptx_rcp_upper(double x) { return ptx_flushed_upper(1 / ptx_flushed_upper(x)); }
CUDA_ON_CPU_OF_REGISTERS double ptx_rsqrt_upper(double x) { return ptx_flushed_upper(rsqrt(ptx_flushed_upper(x))); }

// The sign of a on b.
template <class T, class To, class A, class B>
CUDA_ON_CPU_OF_REGISTERS void ptx_copysign(To &&to, A a, B b) { ptx_put(to, std::copysign(ptx_as<T>(b), ptx_as<T>(a))); }

template <class T>
CUDA_ON_CPU_OF_REGISTERS bool ptx_is_finite(T x) { return x - x == 0; }
template <class T>
CUDA_ON_CPU_OF_REGISTERS bool ptx_is_infinite(T x) { return x == x && !(x - x == 0); }
template <class T>
CUDA_ON_CPU_OF_REGISTERS bool ptx_is_notanumber(T x) { return x != x; }
template <class T>
CUDA_ON_CPU_OF_REGISTERS bool ptx_is_normal(T x) { return ptx_is_finite(x) && std::fabs(x) >= std::numeric_limits<T>::min(); }
template <class T>
CUDA_ON_CPU_OF_REGISTERS bool ptx_is_subnormal(T x) { return x != 0 && std::fabs(x) < std::numeric_limits<T>::min(); }

// An operation on two float32 in a register of 64 bits.
template <class Of, class To, class... In>
CUDA_ON_CPU_OF_REGISTERS void ptx_on_both_floats(Of of, To &&to, In... in) {
  auto half = [](uint64_t bits, int place) { return from_bits<float>(bits >> (32 * place) & 0xffffffffu); };
  uint64_t low = to_bits(of(half(ptx_as<uint64_t>(in), 0)...)), high = to_bits(of(half(ptx_as<uint64_t>(in), 1)...));
  ptx_put(to, high << 32 | low);
}

}  // namespace cuda_on_cpu
