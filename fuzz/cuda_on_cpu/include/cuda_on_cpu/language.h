// CUDA's keywords, for the host compiler.
#pragma once

#define CUDA_ON_CPU 1
#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#define __CUDACC_VER__ "see __CUDACC_VER_MAJOR__"  // since CUDA 9 it is a text
#define CUDART_VERSION 13000
#define CUDA_VERSION CUDART_VERSION
#define __CUDA_ARCH_HAS_FEATURE__(feature) __CUDA_ARCH_FEAT_##feature  // as in `-arch=sm_90a`: SM90_ALL
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 900
#endif

#ifdef CUDA_ON_CPU_CHECK
// All that a kernel calls is inlined into it, as with nvcc. Without that g++ would pass `*p` of a struct type to a
// function without calling the access hooks: it reports only assignments.
#define __global__ __attribute__((flatten, noinline))
#else
#define __global__
#endif
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __cluster_dims__(...)  // the launch gives it: the claim, or translate.py for a host's launch
#define __align__(n) __attribute__((aligned(n)))
#define __CUDA_ALIGN__(n) __align__(n)  // as cuda_fp16.h has it
#define __builtin_align__(n) __attribute__((aligned(n)))
#ifdef __noinline__
#undef __noinline__
#endif
#ifndef __clang__  // which has it
#define __builtin_assume(condition) static_cast<void>(0)
#endif
// __noinline__ is not a macro: libstdc++ writes __attribute__((__noinline__)). translate.py replaces the word instead.

// Legal wherever CUDA allows __shared__, also in templates; translate.py has removed a `static` beside it and has
// turned `extern __shared__ T a[];` into a pointer. With access checks, each array gets a page of no man's land.
#ifdef CUDA_ON_CPU_CHECK
#define __shared__ thread_local __attribute__((aligned(65536), tls_model("local-dynamic")))
#else
#define __shared__ thread_local
#endif

// Every function that needs the place of its call takes this as its last parameter: unlike a return address it survives
// the optimiser.
#define CUDA_ON_CPU_LINE int line = __builtin_LINE()

#define CUDA_ON_CPU_IMPORT extern "C" __attribute__((visibility("default")))
#define CUDA_ON_CPU_HIDDEN __attribute__((visibility("hidden")))
#define CUDA_ON_CPU_UNCHECKED __attribute__((no_sanitize("thread", "undefined")))
#define CUDA_ON_CPU_INLINE static inline __attribute__((always_inline))
// For functions that only move registers: with checks of their alignment a compiler takes twice as long.
#define CUDA_ON_CPU_OF_REGISTERS CUDA_ON_CPU_INLINE CUDA_ON_CPU_UNCHECKED

// Libraries that are not here may be named, as in `using namespace nvcuda;`, by a file whose kernels do without them.
namespace nvcuda {
namespace wmma {}
}  // namespace nvcuda
namespace thrust {}
namespace cutlass {}
namespace cute {}
namespace cub {}
