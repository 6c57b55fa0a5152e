// __nv_bfloat16 and __nv_bfloat162: the upper half of a float; arithmetic rounds once, as on a GPU.
#pragma once
#include "cuda_on_cpu.h"
#include "cuda_on_cpu/narrow.h"

#define CUDA_ON_CPU_T __nv_bfloat16
#define CUDA_ON_CPU_T2 __nv_bfloat162
#define CUDA_ON_CPU_RAW __nv_bfloat16_raw
#define CUDA_ON_CPU_RAW2 __nv_bfloat162_raw
#define CUDA_ON_CPU_NAME bfloat16
#define CUDA_ON_CPU_DIGITS 8
#include "cuda_on_cpu/sixteen_bits.h"

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7F80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7FFF)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7F7F)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3F80)
