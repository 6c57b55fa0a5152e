// The targets of ptx.py for inline PTX: loads, stores and atomics with an order and a scope, and asynchronous copies.
#pragma once
#include "async_copy.h"
#include "atomic.h"

CUDA_ON_CPU_IMPORT void *cuda_on_cpu_shared_at(uint64_t address);

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

// An atomic that names no order behaves like CUDA's own functions.
enum PtxOrder { ptx_order_default, ptx_order_relaxed, ptx_order_acquire, ptx_order_release, ptx_order_acq_rel };
constexpr uint32_t ptx_update(PtxOrder order, bool of_block, bool swaps) {
  bool acquires = order == ptx_order_acquire || order == ptx_order_acq_rel || (order == ptx_order_default && !swaps);
  bool releases = order == ptx_order_release || order == ptx_order_acq_rel;
  return atomic_reads | (swaps ? 0u : uint32_t{atomic_writes}) | (of_block ? uint32_t{atomic_of_block} : 0u) |
         (acquires ? uint32_t{atomic_acquires} : 0u) | (releases ? uint32_t{atomic_releases} : 0u);
}

// To an address in shared memory, which many truncate to 32 bits; `given` bytes come from memory, the rest is 0.
template <class Address>
CUDA_ON_CPU_INLINE void ptx_cp_async(Address to, const void *from, uint32_t bytes, uint32_t given) {
  cuda_on_cpu_async_copy(cuda_on_cpu_shared_at(static_cast<uint64_t>(to)), from, bytes, bytes - given, nullptr, 0);
}
template <class Address>
CUDA_ON_CPU_INLINE void ptx_cp_async(Address to, const void *from, uint32_t bytes) {
  ptx_cp_async(to, from, bytes, bytes);
}

}  // namespace cuda_on_cpu
