// PTX's mbarrier instructions. `traits` are MbarrierTraits.
#pragma once
#include "../mbarrier.h"
#include "registers.h"

namespace cuda_on_cpu {

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
