// Floats of 8 bits: __nv_fp8_e4m3, __nv_fp8_e5m2, and __nv_fp8_e8m0 for scales.
#pragma once
#include "assert.h"
#include "cuda_on_cpu.h"
#include "cuda_on_cpu/small_types.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

CUDA_ON_CPU_SMALL_TYPES(fp8, e4m3, E4m3, __nv_fp8x2_storage_t, __nv_fp8x4_storage_t)
CUDA_ON_CPU_SMALL_TYPES(fp8, e5m2, E5m2, __nv_fp8x2_storage_t, __nv_fp8x4_storage_t)
CUDA_ON_CPU_SMALL_TYPES(fp8, e8m0, E8m0, __nv_fp8x2_storage_t, __nv_fp8x4_storage_t)

#define CUDA_ON_CPU_TO_FP8(from, One, from2, Two)                                                                          \
  CUDA_ON_CPU_INLINE __nv_fp8_storage_t __nv_cvt_##from##_to_fp8(One x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) { \
    bool finite = saturate == __NV_SATFINITE;                                                                              \
    return kind == __NV_E5M2 ? cuda_on_cpu::small_of<cuda_on_cpu::E5m2>(x, finite) : cuda_on_cpu::small_of<cuda_on_cpu::E4m3>(x, finite); \
  }                                                                                                                        \
  CUDA_ON_CPU_INLINE __nv_fp8x2_storage_t __nv_cvt_##from2##_to_fp8x2(Two x, __nv_saturation_t saturate,                       \
                                                                      __nv_fp8_interpretation_t kind) {                    \
    bool finite = saturate == __NV_SATFINITE;                                                                              \
    return kind == __NV_E5M2 ? cuda_on_cpu::small_pair_of<cuda_on_cpu::E5m2, __nv_fp8x2_storage_t>(x, finite)              \
                             : cuda_on_cpu::small_pair_of<cuda_on_cpu::E4m3, __nv_fp8x2_storage_t>(x, finite);             \
  }
CUDA_ON_CPU_FROM_EACH(CUDA_ON_CPU_TO_FP8)
#undef CUDA_ON_CPU_TO_FP8

CUDA_ON_CPU_INLINE __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
  return cuda_on_cpu::as_raw_half(kind == __NV_E5M2 ? cuda_on_cpu::E5m2::widened(x) : cuda_on_cpu::E4m3::widened(x));
}
CUDA_ON_CPU_INLINE __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t kind) {
  return kind == __NV_E5M2 ? cuda_on_cpu::as_raw_halves<cuda_on_cpu::E5m2>(x) : cuda_on_cpu::as_raw_halves<cuda_on_cpu::E4m3>(x);
}

// Scales: rounded toward 0 or up.
#define CUDA_ON_CPU_TO_E8M0(from, One, from2, Two)                                                                         \
  CUDA_ON_CPU_INLINE __nv_fp8_storage_t __nv_cvt_##from##_to_e8m0(One x, __nv_saturation_t saturate, cudaRoundMode rounding) { \
    assert(rounding == cudaRoundZero || rounding == cudaRoundPosInf);                                                      \
    return cuda_on_cpu::small_of<cuda_on_cpu::E8m0>(x, saturate == __NV_SATFINITE, cuda_on_cpu::rounding_of(rounding));    \
  }                                                                                                                        \
  CUDA_ON_CPU_INLINE __nv_fp8x2_storage_t __nv_cvt_##from2##_to_e8m0x2(Two x, __nv_saturation_t saturate, cudaRoundMode rounding) { \
    assert(rounding == cudaRoundZero || rounding == cudaRoundPosInf);                                                      \
    return cuda_on_cpu::small_pair_of<cuda_on_cpu::E8m0, __nv_fp8x2_storage_t>(x, saturate == __NV_SATFINITE,              \
                                                                              cuda_on_cpu::rounding_of(rounding));         \
  }
CUDA_ON_CPU_TO_E8M0(double, double, double2, double2)
CUDA_ON_CPU_TO_E8M0(float, float, float2, float2)
CUDA_ON_CPU_TO_E8M0(bfloat16raw, __nv_bfloat16_raw, bfloat162raw, __nv_bfloat162_raw)
#undef CUDA_ON_CPU_TO_E8M0

CUDA_ON_CPU_INLINE __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t x) {
  return {static_cast<unsigned short>(cuda_on_cpu::to_bits(cuda_on_cpu::E8m0::widened(x)) >> 16)};
}
CUDA_ON_CPU_INLINE __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(__nv_fp8x2_storage_t x) {
  return {__nv_cvt_e8m0_to_bf16raw(static_cast<__nv_fp8_storage_t>(x)).x, __nv_cvt_e8m0_to_bf16raw(static_cast<__nv_fp8_storage_t>(x >> 8)).x};
}
