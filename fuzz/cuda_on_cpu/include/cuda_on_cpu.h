// CUDA C++ for the host compiler: the environment of a kernel file on the cpu device. Every kernel is compiled with
// this header before it, as nvcc includes cuda_runtime.h.
#pragma once
#include <cstddef>
#ifndef CUDA_ON_CPU_HOST
// A kernel cannot call C++17's special functions. Each compilation would instantiate all of them, in a third of its time.
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#define _GLIBCXX_USE_STD_SPEC_FUNCS 0
#endif
#ifndef CUDA_ON_CPU_COUNT
// CUDA's own (arithmetic.h), which a file may overload. The C library's have other names here.
static inline float fmaxf(float a, float b);
static inline float fminf(float a, float b);
#define fmaxf cuda_on_cpu_fmaxf_of_the_host
#define fminf cuda_on_cpu_fminf_of_the_host
#endif
#include <math.h>
#undef fmaxf
#undef fminf
#include <float.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_on_cpu/names_of_the_host.h"

#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>

#include "cuda_on_cpu/settled_reads.h"
#include "cuda_on_cpu/language.h"
#include "cuda_on_cpu/vectors.h"
#include "cuda_on_cpu/threads.h"
#include "cuda_on_cpu/bits.h"
#include "cuda_on_cpu/dpx.h"
#include "cuda_on_cpu/packed.h"
#include "cuda_on_cpu/warp.h"
#include "cuda_on_cpu/async_copy.h"
#include "cuda_on_cpu/atomic.h"
#include "cuda_on_cpu/memory.h"
#include "cuda_on_cpu/nv_atomic.h"
#include "cuda_on_cpu/arithmetic.h"
#include "cuda_on_cpu/math_functions.h"
#include "cuda_on_cpu/ptx/all.h"
#include "cuda_on_cpu/entry.h"
#include "cuda_on_cpu/textures.h"
#ifdef CUDA_ON_CPU_COUNT
#include "cuda_on_cpu/ptx/counted_registers.h"
#endif
#include "cuda_on_cpu/ptx/module.h"
