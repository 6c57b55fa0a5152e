// nvcc's own atomics, with order and scope: __nv_atomic_fetch_add(p, value, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE).
#pragma once
#include "atomic.h"

enum { __NV_ATOMIC_RELAXED, __NV_ATOMIC_CONSUME, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_RELEASE, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_SEQ_CST };
enum { __NV_THREAD_SCOPE_THREAD, __NV_THREAD_SCOPE_BLOCK, __NV_THREAD_SCOPE_CLUSTER, __NV_THREAD_SCOPE_DEVICE, __NV_THREAD_SCOPE_SYSTEM };

namespace cuda_on_cpu {

constexpr uint32_t nv_traits(int order, int scope, uint32_t does) {
  bool acquires = does & atomic_reads && order != __NV_ATOMIC_RELAXED && order != __NV_ATOMIC_RELEASE;
  bool releases = does & atomic_writes && order >= __NV_ATOMIC_RELEASE;
  return does | (scope <= __NV_THREAD_SCOPE_BLOCK ? uint32_t{atomic_of_block} : 0u) | (acquires ? uint32_t{atomic_acquires} : 0u) |
         (releases ? uint32_t{atomic_releases} : 0u);
}
constexpr uint32_t nv_update(int order, int scope) { return nv_traits(order, scope, atomic_reads | atomic_writes); }

}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_SCOPE int scope = __NV_THREAD_SCOPE_SYSTEM
template <class T>
CUDA_ON_CPU_INLINE T __nv_atomic_load_n(T *p, int order, CUDA_ON_CPU_SCOPE) {
  return cuda_on_cpu::atomic_load(p, cuda_on_cpu::nv_traits(order, scope, cuda_on_cpu::atomic_reads));
}
template <class T>
CUDA_ON_CPU_INLINE void __nv_atomic_load(T *p, T *to, int order, CUDA_ON_CPU_SCOPE) {
  *to = __nv_atomic_load_n(p, order, scope);
}
template <class T>
CUDA_ON_CPU_INLINE void __nv_atomic_store_n(T *p, typename cuda_on_cpu::Same<T>::type value, int order, CUDA_ON_CPU_SCOPE) {
  cuda_on_cpu::atomic_store(p, value, cuda_on_cpu::nv_traits(order, scope, cuda_on_cpu::atomic_writes));
}
template <class T>
CUDA_ON_CPU_INLINE void __nv_atomic_store(T *p, T *value, int order, CUDA_ON_CPU_SCOPE) {
  __nv_atomic_store_n(p, *value, order, scope);
}
template <class T>
CUDA_ON_CPU_INLINE bool __nv_atomic_compare_exchange_n(T *p, T *expected, typename cuda_on_cpu::Same<T>::type value, bool, int order, int,
                                                       CUDA_ON_CPU_SCOPE) {
  uint32_t what = cuda_on_cpu::nv_update(order, scope) & ~uint32_t{cuda_on_cpu::atomic_writes};
  T old = cuda_on_cpu::atomic_compare_and_swap(p, *expected, value, what);
  bool swapped = cuda_on_cpu::same_bits(old, *expected);
  *expected = old;
  return swapped;
}
template <class T>
CUDA_ON_CPU_INLINE bool __nv_atomic_compare_exchange(T *p, T *expected, T *value, bool weak, int order, int other, CUDA_ON_CPU_SCOPE) {
  return __nv_atomic_compare_exchange_n(p, expected, *value, weak, order, other, scope);
}
#define CUDA_ON_CPU_NV_UPDATE(name, function)                                                                            \
  template <class T>                                                                                                     \
  CUDA_ON_CPU_INLINE T name(T *p, typename cuda_on_cpu::Same<T>::type value, int order, CUDA_ON_CPU_SCOPE) {             \
    return cuda_on_cpu::function(p, value, cuda_on_cpu::nv_update(order, scope));                                        \
  }
CUDA_ON_CPU_NV_UPDATE(__nv_atomic_exchange_n, atomic_exchange)
CUDA_ON_CPU_NV_UPDATE(__nv_atomic_fetch_add, atomic_add)
CUDA_ON_CPU_NV_UPDATE(__nv_atomic_fetch_sub, atomic_sub)
CUDA_ON_CPU_NV_UPDATE(__nv_atomic_fetch_min, atomic_min)
CUDA_ON_CPU_NV_UPDATE(__nv_atomic_fetch_max, atomic_max)
CUDA_ON_CPU_NV_UPDATE(__nv_atomic_fetch_and, atomic_and)
CUDA_ON_CPU_NV_UPDATE(__nv_atomic_fetch_or, atomic_or)
CUDA_ON_CPU_NV_UPDATE(__nv_atomic_fetch_xor, atomic_xor)
CUDA_ON_CPU_NV_UPDATE(__nv_atomic_add, atomic_add)
CUDA_ON_CPU_NV_UPDATE(__nv_atomic_sub, atomic_sub)
CUDA_ON_CPU_NV_UPDATE(__nv_atomic_min, atomic_min)
CUDA_ON_CPU_NV_UPDATE(__nv_atomic_max, atomic_max)
CUDA_ON_CPU_NV_UPDATE(__nv_atomic_and, atomic_and)
CUDA_ON_CPU_NV_UPDATE(__nv_atomic_or, atomic_or)
CUDA_ON_CPU_NV_UPDATE(__nv_atomic_xor, atomic_xor)
#undef CUDA_ON_CPU_NV_UPDATE
#undef CUDA_ON_CPU_SCOPE
static inline void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  if (order != __NV_ATOMIC_RELAXED) cuda_on_cpu_fence(scope <= __NV_THREAD_SCOPE_BLOCK);
}
