// PTX's mbarrier instructions.
#pragma once
#include "../mbarrier.h"
#include "registers.h"

namespace cuda_on_cpu {

template <class Address>
CUDA_ON_CPU_INLINE void ptx_mbarrier_init(Address barrier, uint32_t count) {
  Mbarrier::at(barrier).init(count);
}
template <bool drops, class State, class Address>
CUDA_ON_CPU_INLINE void ptx_mbarrier_arrive(State &&state, Address barrier, uint32_t count = 1) {
  ptx_put(state, Mbarrier::at(barrier).arrive(count, drops));
}
template <class Address, class State>
CUDA_ON_CPU_INLINE bool ptx_mbarrier_is_over(Address barrier, State state) {
  return Mbarrier::at(barrier).is_over(static_cast<uint64_t>(state));
}
template <class Address, class Parity>
CUDA_ON_CPU_INLINE bool ptx_mbarrier_is_parity_over(Address barrier, Parity parity) {
  return Mbarrier::at(barrier).is_parity_over(static_cast<uint32_t>(parity));
}

}  // namespace cuda_on_cpu
