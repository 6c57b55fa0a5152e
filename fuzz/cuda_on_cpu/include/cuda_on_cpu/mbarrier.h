// PTX's mbarrier: 64 bits of shared memory that count arrivals and bytes, phase by phase. runtime/mbarriers.h has the rest.
#pragma once
#include "../../runtime/mbarrier_operations.h"
#include "atomic.h"

CUDA_ON_CPU_IMPORT void cuda_on_cpu_mbarrier_init(void *at, uint32_t count);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_mbarrier_inval(void *at);
CUDA_ON_CPU_IMPORT uint64_t cuda_on_cpu_mbarrier_arrive(void *at, uint32_t count, uint32_t traits);
// So many bytes are expected in this phase; below 0: so many have come.
CUDA_ON_CPU_IMPORT void cuda_on_cpu_mbarrier_expect(void *at, int64_t bytes);
CUDA_ON_CPU_IMPORT bool cuda_on_cpu_mbarrier_test(void *at, uint64_t given, uint32_t traits);
CUDA_ON_CPU_IMPORT uint32_t cuda_on_cpu_mbarrier_phase(const void *at);

namespace cuda_on_cpu {

// From an address in shared memory, which many truncate to 32 bits, or from a pointer.
template <class Address>
CUDA_ON_CPU_INLINE void *shared_at(Address address) { return cuda_on_cpu_shared_at(static_cast<uint64_t>(address)); }
template <class T>
CUDA_ON_CPU_INLINE void *shared_at(T *p) { return const_cast<void *>(static_cast<const volatile void *>(p)); }

class Mbarrier {
 public:
  template <class Address>
  explicit Mbarrier(Address address) : at_(shared_at(address)) {}

  __attribute__((always_inline)) void init(uint32_t count) const { cuda_on_cpu_mbarrier_init(at_, count); }
  __attribute__((always_inline)) void inval() const { cuda_on_cpu_mbarrier_inval(at_); }
  // A state is the phase of an arrival, and how many were missing before it.
  __attribute__((always_inline)) uint64_t arrive(uint32_t count, uint32_t traits = 0) const { return cuda_on_cpu_mbarrier_arrive(at_, count, traits); }
  __attribute__((always_inline)) uint64_t arrive_expect(uint32_t bytes, uint32_t traits = 0) const {
    expect(bytes);
    return arrive(1, traits);
  }
  __attribute__((always_inline)) void expect(uint32_t bytes) const { cuda_on_cpu_mbarrier_expect(at_, int64_t{bytes}); }
  __attribute__((always_inline)) void complete(uint32_t bytes) const { cuda_on_cpu_mbarrier_expect(at_, -int64_t{bytes}); }
  __attribute__((always_inline)) bool is_over(uint64_t state, uint32_t traits = 0) const { return cuda_on_cpu_mbarrier_test(at_, state, traits); }
  __attribute__((always_inline)) bool is_parity_over(uint32_t parity, uint32_t traits = 0) const {
    return cuda_on_cpu_mbarrier_test(at_, parity, traits | mbarrier_parity);
  }
  static uint64_t state_of(uint32_t phase) { return uint64_t{phase & ((1u << 20) - 1)} << 20; }
  static uint32_t pending(uint64_t state) { return static_cast<uint32_t>(state & ((1 << 20) - 1)); }

 private:
  void *at_;
};

}  // namespace cuda_on_cpu
