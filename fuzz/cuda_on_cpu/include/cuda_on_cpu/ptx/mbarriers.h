// PTX's mbarrier instructions. `traits` are MbarrierTraits.
#pragma once
#include "../mbarrier.h"
#include "memory.h"
#include "registers.h"

CUDA_ON_CPU_IMPORT void cuda_on_cpu_mbarrier_arrive_after_copies(void *at, bool counts);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_mbarrier_stored(void *at, uint32_t bytes);

namespace cuda_on_cpu {

// st.async: a store to another block of the cluster, whose bytes an mbarrier of that block counts.
template <class T, int count, class... In>
CUDA_ON_CPU_INLINE void ptx_store_counted(int line, void *to, void *barrier, In... in) {
  if (cuda_on_cpu_shared_rank(to) != cuda_on_cpu_shared_rank(barrier))
    ptx_refused("st.async to one block and to the mbarrier of another, which PTX leaves undefined");
  ptx_store<T, count, false>(line, to, in...);
  cuda_on_cpu_mbarrier_stored(barrier, count * sizeof(T));
}

template <uint32_t traits, class State>
CUDA_ON_CPU_INLINE void ptx_mbarrier_arrive(State &&state, void *barrier, uint32_t count = 1) {
  ptx_put(state, Mbarrier(barrier).arrive(count, traits));
}
template <uint32_t traits, class State>
CUDA_ON_CPU_INLINE void ptx_mbarrier_arrive_expect(State &&state, void *barrier, uint32_t bytes) {
  ptx_put(state, Mbarrier(barrier).arrive_expect(bytes, traits));
}
template <uint32_t traits, class State>
CUDA_ON_CPU_INLINE bool ptx_mbarrier_is_over(void *barrier, State state) {
  return Mbarrier(barrier).is_over(static_cast<uint64_t>(state), traits);
}
template <uint32_t traits, class Parity>
CUDA_ON_CPU_INLINE bool ptx_mbarrier_is_parity_over(void *barrier, Parity parity) {
  return Mbarrier(barrier).is_parity_over(static_cast<uint32_t>(parity), traits);
}

}  // namespace cuda_on_cpu
