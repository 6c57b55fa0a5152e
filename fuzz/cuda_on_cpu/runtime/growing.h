// Memory of many addresses, of which only the pieces that are written count for a limit of the process (RLIMIT_DATA). It reads as
// zeros: the shadow of the arena has nine gigabytes of addresses, and a job mostly writes some megabytes of them.
#pragma once
#include "abi.h"

namespace cuda_on_cpu {

// Null if the system refuses.
void *map_growing(uint64_t bytes);
void unmap_growing(void *memory, uint64_t bytes);
// Makes a range writable before it is written: else the first write in each piece is a fault. True for any other memory; false if
// the limit does not allow it.
bool open_growing(const void *start, uint64_t bytes);
// In the handler of a fault.
enum class Growth { elsewhere, grown, refused };
Growth grow_at(uintptr_t address);

}  // namespace cuda_on_cpu
