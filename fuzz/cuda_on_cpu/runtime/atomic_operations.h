// What an atomic does; kernels (include/) and the runtime (hooks.cpp) share this list.
#pragma once
#include <cstdint>

namespace cuda_on_cpu {

enum AtomicTraits : uint32_t {
  atomic_reads = 1,
  atomic_writes = 2,
  atomic_of_block = 4,   // of its scope; otherwise of the device's
  atomic_acquires = 8,   // at once, not at the next fence
  atomic_releases = 16,  // everything before it, not only what came before the last fence
  atomic_swaps = 32,     // compares memory with the value that its caller expected
  atomic_acquires_by_habit = 64,  // at once, unless its thread polls by it
  atomic_keeps = 128,    // leaves the value that it found
};

}  // namespace cuda_on_cpu
