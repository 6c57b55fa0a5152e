// Floats of 6 bits: __nv_fp6_e2m3 and __nv_fp6_e3m2. They have neither infinity nor NaN, and always saturate.
#pragma once
#include "cuda_fp8.h"

typedef __nv_fp8_storage_t __nv_fp6_storage_t;
typedef __nv_fp8x2_storage_t __nv_fp6x2_storage_t;
typedef __nv_fp8x4_storage_t __nv_fp6x4_storage_t;
typedef enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 } __nv_fp6_interpretation_t;

CUDA_ON_CPU_SMALL_TYPES(fp6, e2m3, E2m3, __nv_fp6x2_storage_t, __nv_fp6x4_storage_t)
CUDA_ON_CPU_SMALL_TYPES(fp6, e3m2, E3m2, __nv_fp6x2_storage_t, __nv_fp6x4_storage_t)

#define CUDA_ON_CPU_TO_FP6(from, One, from2, Two)                                                                         \
  CUDA_ON_CPU_INLINE __nv_fp6_storage_t __nv_cvt_##from##_to_fp6(One x, __nv_fp6_interpretation_t kind, cudaRoundMode rounding) { \
    assert(rounding == cudaRoundNearest || rounding == cudaRoundZero);                                                    \
    auto how = cuda_on_cpu::rounding_of(rounding);                                                                        \
    return kind == __NV_E2M3 ? cuda_on_cpu::small_of<cuda_on_cpu::E2m3>(x, true, how) : cuda_on_cpu::small_of<cuda_on_cpu::E3m2>(x, true, how); \
  }                                                                                                                       \
  CUDA_ON_CPU_INLINE __nv_fp6x2_storage_t __nv_cvt_##from2##_to_fp6x2(Two x, __nv_fp6_interpretation_t kind, cudaRoundMode rounding) { \
    assert(rounding == cudaRoundNearest || rounding == cudaRoundZero);                                                    \
    auto how = cuda_on_cpu::rounding_of(rounding);                                                                        \
    return kind == __NV_E2M3 ? cuda_on_cpu::small_pair_of<cuda_on_cpu::E2m3, __nv_fp6x2_storage_t>(x, true, how)          \
                             : cuda_on_cpu::small_pair_of<cuda_on_cpu::E3m2, __nv_fp6x2_storage_t>(x, true, how);         \
  }
CUDA_ON_CPU_FROM_EACH(CUDA_ON_CPU_TO_FP6)
#undef CUDA_ON_CPU_TO_FP6

CUDA_ON_CPU_INLINE __half_raw __nv_cvt_fp6_to_halfraw(__nv_fp6_storage_t x, __nv_fp6_interpretation_t kind) {
  return cuda_on_cpu::as_raw_half(kind == __NV_E2M3 ? cuda_on_cpu::E2m3::widened(x) : cuda_on_cpu::E3m2::widened(x));
}
CUDA_ON_CPU_INLINE __half2_raw __nv_cvt_fp6x2_to_halfraw2(__nv_fp6x2_storage_t x, __nv_fp6_interpretation_t kind) {
  return kind == __NV_E2M3 ? cuda_on_cpu::as_raw_halves<cuda_on_cpu::E2m3>(x) : cuda_on_cpu::as_raw_halves<cuda_on_cpu::E3m2>(x);
}
