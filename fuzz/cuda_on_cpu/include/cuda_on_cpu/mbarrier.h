// PTX's mbarrier: 64 bits of shared memory that count arrivals, phase by phase. Made of atomics that release and
// acquire, so that what it orders, and what a missing wait leaves unordered, is checked as for any other atomics.
#pragma once
#include "atomic.h"

CUDA_ON_CPU_IMPORT void *cuda_on_cpu_shared_at(uint64_t address);

namespace cuda_on_cpu {

// From the lowest bit: the arrivals still missing in this phase, the arrivals of each phase, and the phase's number.
class Mbarrier {
 public:
  explicit Mbarrier(uint64_t *word) : word_(word) {}
  template <class Address>
  static Mbarrier at(Address address) {
    return Mbarrier(static_cast<uint64_t *>(cuda_on_cpu_shared_at(static_cast<uint64_t>(address))));
  }
  template <class T>
  static Mbarrier at(T *word) {
    return Mbarrier(reinterpret_cast<uint64_t *>(word));
  }

  void init(uint32_t count) const { *word_ = of(0, count, count); }

  // The last to arrive begins the next phase. A state is the phase of an arrival.
  uint64_t arrive(uint32_t count, bool drops) const {
    uint64_t before = atomic_load(word_, atomic_reads | atomic_of_block), seen;
    do {
      seen = before;
      uint32_t expected = expected_of(seen) - (drops ? count : 0), left = pending(seen) - count;
      uint64_t after = left == 0 ? of(phase_of(seen) + 1, expected, expected) : of(phase_of(seen), expected, left);
      before = atomic_compare_and_swap(word_, seen, after, atomic_reads | atomic_releases | atomic_of_block);
    } while (before != seen);
    return before;
  }
  bool is_over(uint64_t state) const { return phase_of(look()) != phase_of(state); }
  bool is_parity_over(uint32_t parity) const { return (phase_of(look()) & 1) != (parity & 1); }
  static uint32_t pending(uint64_t state) { return static_cast<uint32_t>(state & most); }

 private:
  static constexpr uint64_t most = (1 << 20) - 1;
  static uint32_t expected_of(uint64_t word) { return static_cast<uint32_t>(word >> 20 & most); }
  static uint32_t phase_of(uint64_t word) { return static_cast<uint32_t>(word >> 40); }
  static uint64_t of(uint32_t phase, uint32_t expected, uint32_t left) {
    return uint64_t{phase} << 40 | (expected & most) << 20 | (left & most);
  }
  uint64_t look() const { return atomic_load(word_, atomic_reads | atomic_acquires | atomic_of_block); }
  uint64_t *word_;
};

}  // namespace cuda_on_cpu
