// Arithmetic with an explicit rounding: __fadd_rz and its kin, and conversions to float.
//
// The processor's rounding mode changes for one operation, so that the processor handles denormals, overflow and
// -ftz=true itself. The operands pass through asm before the mode changes and again after it, and so does the result:
// the compiler may move neither the computation of an operand in between, such as an expf(x) used only here, nor the
// operation out. Nor may a thread that takes turns at its accesses, also those of its own variables, pause here: others
// would then round in this mode, too.
#pragma once
#include "../../runtime/denormals.h"
#include "language.h"
#include "vectors.h"

enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };

namespace cuda_on_cpu {

#if defined(__x86_64__)
#define CUDA_ON_CPU_FLOAT_REGISTER "+x"
constexpr uint32_t rounding_bits = 0x6000, round_rd = 0x2000, round_ru = 0x4000, round_rz = 0x6000;  // MXCSR
#elif defined(__aarch64__)
#define CUDA_ON_CPU_FLOAT_REGISTER "+w"
constexpr uint32_t rounding_bits = 3u << 22, round_ru = 1u << 22, round_rd = 2u << 22, round_rz = 3u << 22;  // FPCR
#endif

CUDA_ON_CPU_UNCHECKED inline void hide(float &value) { asm volatile("" : CUDA_ON_CPU_FLOAT_REGISTER(value)); }
CUDA_ON_CPU_UNCHECKED inline void hide(double &value) { asm volatile("" : CUDA_ON_CPU_FLOAT_REGISTER(value)); }
CUDA_ON_CPU_UNCHECKED inline void hide(int &value) { asm volatile("" : "+r"(value)); }
CUDA_ON_CPU_UNCHECKED inline void hide(unsigned int &value) { asm volatile("" : "+r"(value)); }
CUDA_ON_CPU_UNCHECKED inline void hide(long long &value) { asm volatile("" : "+r"(value)); }
CUDA_ON_CPU_UNCHECKED inline void hide(unsigned long long &value) { asm volatile("" : "+r"(value)); }

template <class Operation, class... Operand>
CUDA_ON_CPU_UNCHECKED inline auto rounded(uint32_t mode, Operation operation, Operand... operands) {
  (hide(operands), ...);
  uint32_t before = read_float_control();
  write_float_control((before & ~rounding_bits) | mode);
  (hide(operands), ...);
  auto result = operation(operands...);
  hide(result);
  write_float_control(before);
  return result;
}

}  // namespace cuda_on_cpu

// To nearest is what the compiler's own operators do, never contracted.
#define CUDA_ON_CPU_ROUNDED_RN(name, to, parameters, expression) \
  static inline to name##_rn parameters { return expression; }
#define CUDA_ON_CPU_ROUNDED_AS(mode, name, to, parameters, names, expression)                          \
  static inline to name##_##mode parameters {                                                          \
    return cuda_on_cpu::rounded(                                                                       \
        cuda_on_cpu::round_##mode, [] parameters CUDA_ON_CPU_UNCHECKED->to { return expression; },     \
        CUDA_ON_CPU_UNPACK names);                                                                     \
  }
#define CUDA_ON_CPU_UNPACK(...) __VA_ARGS__
#define CUDA_ON_CPU_ROUNDED(name, to, parameters, names, expression)              \
  CUDA_ON_CPU_ROUNDED_RN(name, to, parameters, expression)                        \
  CUDA_ON_CPU_ROUNDED_AS(rz, name, to, parameters, names, expression)             \
  CUDA_ON_CPU_ROUNDED_AS(ru, name, to, parameters, names, expression)             \
  CUDA_ON_CPU_ROUNDED_AS(rd, name, to, parameters, names, expression)
CUDA_ON_CPU_ROUNDED(__fadd, float, (float a, float b), (a, b), a + b)
CUDA_ON_CPU_ROUNDED(__fsub, float, (float a, float b), (a, b), a - b)
CUDA_ON_CPU_ROUNDED(__fmul, float, (float a, float b), (a, b), a * b)
CUDA_ON_CPU_ROUNDED(__fdiv, float, (float a, float b), (a, b), a / b)
CUDA_ON_CPU_ROUNDED(__frcp, float, (float a), (a), 1.0f / a)
CUDA_ON_CPU_ROUNDED(__fsqrt, float, (float a), (a), __builtin_sqrtf(a))
CUDA_ON_CPU_ROUNDED(__fmaf, float, (float a, float b, float c), (a, b, c), __builtin_fmaf(a, b, c))
CUDA_ON_CPU_ROUNDED(__dadd, double, (double a, double b), (a, b), a + b)
CUDA_ON_CPU_ROUNDED(__dsub, double, (double a, double b), (a, b), a - b)
CUDA_ON_CPU_ROUNDED(__dmul, double, (double a, double b), (a, b), a * b)
CUDA_ON_CPU_ROUNDED(__ddiv, double, (double a, double b), (a, b), a / b)
CUDA_ON_CPU_ROUNDED(__drcp, double, (double a), (a), 1.0 / a)
CUDA_ON_CPU_ROUNDED(__dsqrt, double, (double a), (a), __builtin_sqrt(a))
CUDA_ON_CPU_ROUNDED(__fma, double, (double a, double b, double c), (a, b, c), __builtin_fma(a, b, c))
CUDA_ON_CPU_ROUNDED(__double2float, float, (double a), (a), static_cast<float>(a))
CUDA_ON_CPU_ROUNDED(__int2float, float, (int a), (a), static_cast<float>(a))
CUDA_ON_CPU_ROUNDED(__uint2float, float, (unsigned int a), (a), static_cast<float>(a))
CUDA_ON_CPU_ROUNDED(__ll2float, float, (long long a), (a), static_cast<float>(a))
CUDA_ON_CPU_ROUNDED(__ull2float, float, (unsigned long long a), (a), static_cast<float>(a))
CUDA_ON_CPU_ROUNDED(__ll2double, double, (long long a), (a), static_cast<double>(a))
CUDA_ON_CPU_ROUNDED(__ull2double, double, (unsigned long long a), (a), static_cast<double>(a))

// The same on both floats of a pair, as Blackwell has it.
#define CUDA_ON_CPU_ROUNDED_PAIRS(mode)                                                                                      \
  static inline float2 __fadd2_##mode(float2 a, float2 b) { return {__fadd_##mode(a.x, b.x), __fadd_##mode(a.y, b.y)}; }     \
  static inline float2 __fmul2_##mode(float2 a, float2 b) { return {__fmul_##mode(a.x, b.x), __fmul_##mode(a.y, b.y)}; }     \
  static inline float2 __ffma2_##mode(float2 a, float2 b, float2 c) {                                                        \
    return {__fmaf_##mode(a.x, b.x, c.x), __fmaf_##mode(a.y, b.y, c.y)};                                                     \
  }
CUDA_ON_CPU_ROUNDED_PAIRS(rn)
CUDA_ON_CPU_ROUNDED_PAIRS(rz)
CUDA_ON_CPU_ROUNDED_PAIRS(ru)
CUDA_ON_CPU_ROUNDED_PAIRS(rd)
