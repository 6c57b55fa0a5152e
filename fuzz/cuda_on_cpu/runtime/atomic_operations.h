// What an atomic does; kernels (include/) and the runtime (hooks.cpp) share the list.
#pragma once
#include <cstdint>

namespace cuda_on_cpu {

enum AtomicTraits : uint32_t {
  atomic_reads = 1,
  atomic_writes = 2,
  atomic_of_block = 4,   // its scope; else the device's
  atomic_acquires = 8,   // at once, not at the next fence
  atomic_releases = 16,  // all that came before, not what came before the last fence
  atomic_swaps = 32,     // compares what is there with what its caller took to be there
};

}  // namespace cuda_on_cpu
