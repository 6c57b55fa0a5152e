// mbarrier in C: __mbarrier_t lies in shared memory.
#pragma once
#include "cuda_on_cpu.h"
#include "cuda_on_cpu/mbarrier.h"

typedef uint64_t __mbarrier_t;
typedef uint64_t __mbarrier_token_t;

CUDA_ON_CPU_INLINE uint32_t __mbarrier_maximum_count() { return (1 << 20) - 1; }
CUDA_ON_CPU_INLINE void __mbarrier_init(__mbarrier_t *barrier, uint32_t count) { cuda_on_cpu::Mbarrier(barrier).init(count); }
CUDA_ON_CPU_INLINE void __mbarrier_inval(__mbarrier_t *barrier) { cuda_on_cpu::Mbarrier(barrier).inval(); }
CUDA_ON_CPU_INLINE __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *barrier) {
  return cuda_on_cpu::Mbarrier(barrier).arrive(1);
}
CUDA_ON_CPU_INLINE __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t *barrier) {
  return cuda_on_cpu::Mbarrier(barrier).arrive(1, cuda_on_cpu::mbarrier_drops);
}
CUDA_ON_CPU_INLINE bool __mbarrier_test_wait(__mbarrier_t *barrier, __mbarrier_token_t token) {
  return cuda_on_cpu::Mbarrier(barrier).is_over(token);
}
CUDA_ON_CPU_INLINE bool __mbarrier_test_wait_parity(__mbarrier_t *barrier, bool parity) {
  return cuda_on_cpu::Mbarrier(barrier).is_parity_over(parity);
}
CUDA_ON_CPU_INLINE bool __mbarrier_try_wait(__mbarrier_t *barrier, __mbarrier_token_t token, uint32_t) {
  return __mbarrier_test_wait(barrier, token);
}
CUDA_ON_CPU_INLINE bool __mbarrier_try_wait_parity(__mbarrier_t *barrier, bool parity, uint32_t) {
  return __mbarrier_test_wait_parity(barrier, parity);
}
CUDA_ON_CPU_INLINE uint32_t __mbarrier_token_pending_count(__mbarrier_token_t token) { return cuda_on_cpu::Mbarrier::pending(token); }
