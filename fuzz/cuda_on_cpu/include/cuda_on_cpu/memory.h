// Loads and stores with cache hints, and the C library functions of device code.
#pragma once
#include <time.h>

#include "atomic.h"

#define CUDA_ON_CPU_LOAD(name) \
  template <class T>           \
  CUDA_ON_CPU_INLINE T name(const T *p) { return *p; }
#define CUDA_ON_CPU_STORE(name) \
  template <class T>            \
  CUDA_ON_CPU_INLINE void name(T *p, typename cuda_on_cpu::Same<T>::type value) { *p = value; }
CUDA_ON_CPU_LOAD(__ldg)
CUDA_ON_CPU_LOAD(__ldca)
CUDA_ON_CPU_LOAD(__ldcs)
CUDA_ON_CPU_LOAD(__ldlu)
CUDA_ON_CPU_STORE(__stwb)
CUDA_ON_CPU_STORE(__stcs)

// Bypassing the cache that other multiprocessors do not see: flags are polled and set this way, as by volatile.
#define CUDA_ON_CPU_FRESH_LOAD(name) \
  template <class T>                 \
  CUDA_ON_CPU_INLINE T name(const T *p) { return cuda_on_cpu::fresh(p); }
#define CUDA_ON_CPU_FRESH_STORE(name) \
  template <class T>                  \
  CUDA_ON_CPU_INLINE void name(T *p, typename cuda_on_cpu::Same<T>::type value) { cuda_on_cpu::set_fresh(p, value); }
CUDA_ON_CPU_FRESH_LOAD(__ldcg)
CUDA_ON_CPU_FRESH_LOAD(__ldcv)
CUDA_ON_CPU_FRESH_STORE(__stcg)
CUDA_ON_CPU_FRESH_STORE(__stwt)

CUDA_ON_CPU_IMPORT int cuda_on_cpu_printf(const char *format, ...);
CUDA_ON_CPU_IMPORT void *cuda_on_cpu_malloc(uint64_t bytes);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_free(void *memory, int line);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_assertion_failed(const char *expression, int line);
namespace std {
using ::cuda_on_cpu_malloc;
using ::cuda_on_cpu_printf;
}  // namespace std

#ifndef CUDA_ON_CPU_HOST  // otherwise host/library.cpp distinguishes a kernel's calls from the host's
#undef printf
#undef malloc
#undef free
#define printf cuda_on_cpu_printf
#define malloc(bytes) cuda_on_cpu_malloc(bytes)
#define free(memory) cuda_on_cpu_free(memory, __builtin_LINE())
#endif

CUDA_ON_CPU_IMPORT int64_t cuda_on_cpu_clock();
static inline long long clock64() { return cuda_on_cpu_clock(); }
#ifndef CUDA_ON_CPU_HOST
#define clock() static_cast<clock_t>(clock64())
#endif

// A launch that may begin before the previous one has ended does not do so here: the checker knows what that leaves open.
CUDA_ON_CPU_IMPORT void cuda_on_cpu_wait_for_grids();
CUDA_ON_CPU_IMPORT void cuda_on_cpu_trigger();
static inline void cudaGridDependencySynchronize() { cuda_on_cpu_wait_for_grids(); }
static inline void cudaTriggerProgrammaticLaunchCompletion() { cuda_on_cpu_trigger(); }
static inline void __nanosleep(unsigned int) { cuda_on_cpu_poll(); }
CUDA_ON_CPU_IMPORT uint64_t cuda_on_cpu_address_of_shared(const void *p);
CUDA_ON_CPU_IMPORT void *cuda_on_cpu_shared_at(uint64_t address);
static inline size_t __cvta_generic_to_shared(const void *p) { return cuda_on_cpu_address_of_shared(p); }
static inline size_t __cvta_generic_to_global(const void *p) { return reinterpret_cast<size_t>(p); }
static inline size_t __cvta_generic_to_constant(const void *p) { return reinterpret_cast<size_t>(p); }
static inline size_t __cvta_generic_to_grid_constant(const void *p) { return reinterpret_cast<size_t>(p); }
static inline void *__cvta_shared_to_generic(size_t address) { return cuda_on_cpu_shared_at(address); }
static inline void *__cvta_global_to_generic(size_t address) { return reinterpret_cast<void *>(address); }
static inline void *__cvta_constant_to_generic(size_t address) { return reinterpret_cast<void *>(address); }
static inline void *__cvta_grid_constant_to_generic(size_t address) { return reinterpret_cast<void *>(address); }
