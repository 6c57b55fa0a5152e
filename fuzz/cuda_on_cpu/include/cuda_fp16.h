// __half and __half2: IEEE binary16; arithmetic rounds once, as on a GPU.
#pragma once
#include "cuda_on_cpu.h"
#include "cuda_on_cpu/narrow.h"

#define CUDA_ON_CPU_T __half
#define CUDA_ON_CPU_T2 __half2
#define CUDA_ON_CPU_RAW __half_raw
#define CUDA_ON_CPU_RAW2 __half2_raw
#define CUDA_ON_CPU_NAME half
#define CUDA_ON_CPU_DIGITS 11
#include "cuda_on_cpu/sixteen_bits.h"

using half = __half;
using half2 = __half2;
using __nv_half = __half;
using __nv_half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;

#define CUDART_INF_FP16 __ushort_as_half(0x7C00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7FFF)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7BFF)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3C00)
