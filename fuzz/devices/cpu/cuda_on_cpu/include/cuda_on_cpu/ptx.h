// What inline PTX is turned into by ptx.py: loads and stores with an order and a scope.
#pragma once
#include "atomic.h"

namespace cuda_on_cpu {

#define CUDA_ON_CPU_PTX_LOAD(name, traits)                                                        \
  template <bool of_block, class T>                                                               \
  CUDA_ON_CPU_INLINE void ptx_ld_##name(T &to, const void *from) {                                \
    to = atomic_load(static_cast<const T *>(from), (traits) | (of_block ? atomic_of_block : 0u)); \
  }
CUDA_ON_CPU_PTX_LOAD(acquire, atomic_reads | atomic_acquires)
CUDA_ON_CPU_PTX_LOAD(relaxed, atomic_reads)

#define CUDA_ON_CPU_PTX_STORE(name, traits)                                                      \
  template <bool of_block, class T>                                                              \
  CUDA_ON_CPU_INLINE void ptx_st_##name(void *to, T value) {                                     \
    atomic_store(static_cast<T *>(to), value, (traits) | (of_block ? atomic_of_block : 0u));     \
  }
CUDA_ON_CPU_PTX_STORE(release, atomic_writes | atomic_releases)
CUDA_ON_CPU_PTX_STORE(relaxed, atomic_writes)

}  // namespace cuda_on_cpu
