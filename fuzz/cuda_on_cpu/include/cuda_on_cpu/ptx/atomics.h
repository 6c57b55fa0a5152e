// PTX's accesses with an order and a scope, its atomics, and cp.async.
#pragma once
#include "../async_copy.h"
#include "../atomic.h"
#include "memory.h"
#ifndef CUDA_ON_CPU_COUNT
#include "sixteen.h"
#endif

namespace cuda_on_cpu {

// An atomic that names no order behaves like CUDA's own functions.
enum PtxOrder { ptx_order_, ptx_order_relaxed, ptx_order_acquire, ptx_order_release, ptx_order_acq_rel };
constexpr uint32_t ptx_update(PtxOrder order, bool of_block, bool swaps) {
  bool acquires = order == ptx_order_acquire || order == ptx_order_acq_rel || (order == ptx_order_ && !swaps);
  bool releases = order == ptx_order_release || order == ptx_order_acq_rel;
  return atomic_reads | (swaps ? 0u : uint32_t{atomic_writes}) | (of_block ? uint32_t{atomic_of_block} : 0u) |
         (acquires ? uint32_t{atomic_acquires} : 0u) | (releases ? uint32_t{atomic_releases} : 0u);
}
constexpr uint32_t ptx_load_traits(bool acquires, bool of_block) {
  return atomic_reads | (acquires ? uint32_t{atomic_acquires} : 0u) | (of_block ? uint32_t{atomic_of_block} : 0u);
}
constexpr uint32_t ptx_store_traits(bool releases, bool of_block) {
  return atomic_writes | (releases ? uint32_t{atomic_releases} : 0u) | (of_block ? uint32_t{atomic_of_block} : 0u);
}

// The elements of a vector are accesses of their own.
template <class T, int count, class... Out>
CUDA_ON_CPU_INLINE void ptx_load_atomic(uint32_t traits, const void *from, Out &&...out) {
  static_assert(sizeof...(Out) == count, "as many registers as the vector has elements");
  const T *at = static_cast<const T *>(from);
  if constexpr ((ptx_counts<PtxPlain<Out>> || ...)) {
    cuda_on_cpu_poll();
    ptx_load_counted<T>(from, out...);
  } else {
    (ptx_put_wider(out, atomic_load(at++, traits)), ...);
  }
}
template <class T, int count, class... In>
CUDA_ON_CPU_INLINE void ptx_store_atomic(uint32_t traits, void *to, In... in) {
  static_assert(sizeof...(In) == count, "as many registers as the vector has elements");
  T *at = static_cast<T *>(to);
  if constexpr ((ptx_is_stored<In> && ...)) {
    ptx_store_counted<T>(to, in...);
    cuda_on_cpu_came_on();
  } else {
    (atomic_store(at++, ptx_narrowed<T>(in), traits), ...);
  }
}

// In a module of the count flavour (counted_registers.h).
enum class PtxUpdate { of_add, of_exch, of_min, of_max, of_inc, of_dec, of_and, of_or, of_xor };
template <PtxUpdate kind, class T, class Out, class In, class Of>
void ptx_update_counted(Of of, uint32_t traits, Out &&old, T *p, In given);
template <class T, class Out, class A, class B>
void ptx_cas_counted(uint32_t traits, Out &&old, T *p, A expected, B given);
#define CUDA_ON_CPU_PTX_ATOMIC(name, function)                                                \
  template <class T, class Out, class In>                                                     \
  CUDA_ON_CPU_INLINE void ptx_atom_##name(uint32_t traits, Out &&old, void *p, In value) {    \
    if constexpr (ptx_counts<PtxPlain<Out>> || ptx_counts<In>)                                \
      ptx_update_counted<PtxUpdate::of_##name>([](auto *at, auto by, uint32_t how) { return function(at, by, how); }, \
                                               traits, old, static_cast<T *>(p), value);      \
    else                                                                                      \
      ptx_put(old, ptx_as_register(function(static_cast<T *>(p), ptx_as<T>(value), traits))); \
  }
template <class T>
CUDA_ON_CPU_INLINE auto ptx_as_register(T value) {
  if constexpr (std::is_arithmetic_v<T>) return value;
  else return ptx_as<typename PtxWord<8 * sizeof(T)>::type>(value);
}
CUDA_ON_CPU_PTX_ATOMIC(add, atomic_add)
CUDA_ON_CPU_PTX_ATOMIC(exch, atomic_exchange)
CUDA_ON_CPU_PTX_ATOMIC(min, atomic_min)
CUDA_ON_CPU_PTX_ATOMIC(max, atomic_max)
CUDA_ON_CPU_PTX_ATOMIC(inc, atomic_increment)
CUDA_ON_CPU_PTX_ATOMIC(dec, atomic_decrement)
CUDA_ON_CPU_PTX_ATOMIC(and, atomic_and)
CUDA_ON_CPU_PTX_ATOMIC(or, atomic_or)
CUDA_ON_CPU_PTX_ATOMIC(xor, atomic_xor)
#undef CUDA_ON_CPU_PTX_ATOMIC
template <class T, class Out, class A, class B>
CUDA_ON_CPU_INLINE void ptx_atom_cas(uint32_t traits, Out &&old, void *p, A expected, B value) {
  if constexpr (ptx_counts<PtxPlain<Out>>) ptx_cas_counted(traits, old, static_cast<T *>(p), expected, value);
  else ptx_put(old, atomic_compare_and_swap(static_cast<T *>(p), ptx_as<T>(expected), ptx_as<T>(value), traits));
}
// A vector of sums: each element is an atomic of its own.
template <class T, int count>
struct PtxAddends {
  T values[count];
};
template <class T, class... In>
CUDA_ON_CPU_INLINE PtxAddends<T, sizeof...(In)> ptx_addends(In... in) {
  return {{ptx_as<T>(in)...}};
}
template <class T, int count, class... Out>
CUDA_ON_CPU_INLINE void ptx_atom_vector(uint32_t traits, void *p, PtxAddends<T, count> added, Out &&...old) {
  static_assert(sizeof...(Out) == count, "as many old values as new ones");
  T *at = static_cast<T *>(p);
  const T *value = added.values;
  (ptx_put(old, ptx_as_register(atomic_add(at++, *value++, traits))), ...);
}
template <class T, class... In>
CUDA_ON_CPU_INLINE void ptx_red_vector(uint32_t traits, void *p, In... in) {
  T *at = static_cast<T *>(p);
  (atomic_add(at++, ptx_as<T>(in), traits), ...);
}

#ifdef CUDA_ON_CPU_COUNT
void ptx_note_copy(const void *to, const void *from, uint32_t bytes, uint32_t given);
#endif
// To an address in shared memory; `given` bytes come from memory, the rest is 0. A predicate leaves out all of them.
template <class Given>
CUDA_ON_CPU_INLINE void ptx_cp_async(void *to, const void *from, uint32_t bytes, Given given) {
  uint32_t own = bytes;
  if constexpr (std::is_same_v<Given, bool>) own = given ? 0 : bytes;
  else own = ptx_as<uint32_t>(given);
#ifdef CUDA_ON_CPU_COUNT
  ptx_note_copy(to, from, bytes, own);
#endif
  cuda_on_cpu_async_copy(to, from, bytes, bytes - own, nullptr, 0);
}
CUDA_ON_CPU_INLINE void ptx_cp_async(void *to, const void *from, uint32_t bytes) { ptx_cp_async(to, from, bytes, bytes); }

}  // namespace cuda_on_cpu
