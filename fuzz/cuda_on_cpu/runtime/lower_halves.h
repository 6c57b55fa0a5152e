// Memory that 32 bits of an address are enough to identify, among other stretches of memory.
#pragma once
#include <cstdint>

namespace cuda_on_cpu {

struct Stretch {
  uintptr_t start;
  uint64_t bytes;
};

// Null if there is no room.
void *map_apart(uint64_t bytes, const Stretch *others, uint32_t count);

}  // namespace cuda_on_cpu
