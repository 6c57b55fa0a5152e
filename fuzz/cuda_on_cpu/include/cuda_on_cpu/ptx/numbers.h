// PTX's cvt from one number to another, each in a register of its own: integers, float32, float64 and, by their class, halves.
#pragma once
#include "../arithmetic.h"
#include "../directions.h"
#include "floats.h"

namespace cuda_on_cpu {

// One number into another. A source is an integer, or a float that is exact as a double, so that a result is rounded once.
template <class From, bool flushes, class Register>
CUDA_ON_CPU_OF_REGISTERS auto ptx_source(Register from) {
  if constexpr (std::is_integral_v<From>) {
    if constexpr (sizeof(Register) > sizeof(From) && ptx_is_integer<Register>) return static_cast<From>(from);
    else return ptx_as<From>(from);
  } else if constexpr (std::is_same_v<From, float>) {
    return static_cast<double>(ptx_in<float, flushes>(from));
  } else {
    return static_cast<double>(ptx_as<From>(from));
  }
}
template <Rounding how>
CUDA_ON_CPU_OF_REGISTERS double ptx_whole(double x) {
  return how == Rounding::nearest ? nearbyint(x) : how == Rounding::to_zero ? trunc(x) : how == Rounding::up ? ceil(x) : floor(x);
}
constexpr uint32_t ptx_mode(Rounding how) {
  return how == Rounding::to_zero ? round_rz : how == Rounding::up ? round_ru : how == Rounding::down ? round_rd : 0u;
}
template <class To, Rounding how, class From>
CUDA_ON_CPU_OF_REGISTERS To ptx_rounded_to(From from) {
  using Wide = std::conditional_t<!std::is_integral_v<From>, double, std::conditional_t<std::is_signed_v<From>, long long, unsigned long long>>;
  return rounded(ptx_mode(how), [](Wide x) CUDA_ON_CPU_UNCHECKED { return static_cast<To>(x); }, static_cast<Wide>(from));
}
template <class To, class From>
CUDA_ON_CPU_OF_REGISTERS To ptx_clamped(From from) {
  using Most = std::numeric_limits<To>;
  if constexpr (std::is_signed_v<From>) {
    if (from < 0) {
      if constexpr (!std::is_signed_v<To>) return 0;
      else return static_cast<int64_t>(from) < static_cast<int64_t>(Most::min()) ? Most::min() : static_cast<To>(from);
    }
  }
  return static_cast<uint64_t>(from) > static_cast<uint64_t>(Most::max()) ? Most::max() : static_cast<To>(from);
}
// `is_whole` rounds to an integer that stays a float; an integer result is always whole.
template <class To, class From, Rounding how, bool is_whole, bool flushes, bool saturates, class Out, class Register>
CUDA_ON_CPU_OF_REGISTERS void ptx_cvt_number(Out &&to, Register from) {
  auto source = ptx_source<From, flushes>(from);
  if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    if constexpr (saturates) ptx_put_wider(to, ptx_clamped<To>(source));
    else ptx_put_wider(to, static_cast<To>(source));
  } else if constexpr (std::is_integral_v<To>) {
    ptx_put_wider(to, saturate<To>(ptx_whole<how>(source)));
  } else {
    if constexpr (is_whole) source = ptx_whole<how>(source);
    To made;
    if constexpr (std::is_same_v<To, float> || std::is_same_v<To, double>) {
      made = ptx_rounded_to<To, how>(source);
    } else {
      made.bits = To::Kind::of(source, how);
    }
    if constexpr (saturates && std::is_same_v<To, double>) made = made > 0 ? made < 1 ? made : 1 : 0;
    else if constexpr (saturates) made = static_cast<To>(__saturatef(made));
    if constexpr (flushes && std::is_same_v<To, float>) made = flushed(made);
    if constexpr (ptx_counts<PtxPlain<Out>>) to.template put_converted<From>(made, from);
    else if constexpr (std::is_same_v<To, float> || std::is_same_v<To, double>) ptx_put(to, made);
    else ptx_put_wider(to, made.bits);
  }
}
}  // namespace cuda_on_cpu
