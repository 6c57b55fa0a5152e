// Floats of 4 bits: __nv_fp4_e2m1. They have neither infinity nor NaN, and always saturate.
#pragma once
#include "cuda_fp6.h"

typedef __nv_fp8_storage_t __nv_fp4_storage_t;
typedef __nv_fp8_storage_t __nv_fp4x2_storage_t;
typedef __nv_fp8x2_storage_t __nv_fp4x4_storage_t;
typedef enum __nv_fp4_interpretation_t { __NV_E2M1 } __nv_fp4_interpretation_t;

CUDA_ON_CPU_SMALL_TYPES(fp4, e2m1, E2m1, __nv_fp4x2_storage_t, __nv_fp4x4_storage_t)

// Two of them share a byte, the first one in its lower half.
#define CUDA_ON_CPU_TO_FP4(from, One, from2, Two)                                                                         \
  CUDA_ON_CPU_INLINE __nv_fp4_storage_t __nv_cvt_##from##_to_fp4(One x, __nv_fp4_interpretation_t, cudaRoundMode rounding) { \
    assert(rounding == cudaRoundNearest || rounding == cudaRoundZero);                                                    \
    return cuda_on_cpu::small_of<cuda_on_cpu::E2m1>(x, true, cuda_on_cpu::rounding_of(rounding));                         \
  }                                                                                                                       \
  CUDA_ON_CPU_INLINE __nv_fp4x2_storage_t __nv_cvt_##from2##_to_fp4x2(Two x, __nv_fp4_interpretation_t, cudaRoundMode rounding) { \
    assert(rounding == cudaRoundNearest || rounding == cudaRoundZero);                                                    \
    return cuda_on_cpu::small_pair_of<cuda_on_cpu::E2m1, __nv_fp4x2_storage_t>(x, true, cuda_on_cpu::rounding_of(rounding)); \
  }
CUDA_ON_CPU_FROM_EACH(CUDA_ON_CPU_TO_FP4)
#undef CUDA_ON_CPU_TO_FP4

CUDA_ON_CPU_INLINE __half_raw __nv_cvt_fp4_to_halfraw(__nv_fp4_storage_t x, __nv_fp4_interpretation_t) {
  return cuda_on_cpu::as_raw_half(cuda_on_cpu::E2m1::widened(x & 15));
}
CUDA_ON_CPU_INLINE __half2_raw __nv_cvt_fp4x2_to_halfraw2(__nv_fp4x2_storage_t x, __nv_fp4_interpretation_t) {
  return cuda_on_cpu::as_raw_halves<cuda_on_cpu::E2m1>(x);
}
