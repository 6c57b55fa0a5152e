// The heap that kernels allocate from, with malloc and new.
#pragma once
#include "abi.h"

namespace cuda_on_cpu {

bool map_heap();
uintptr_t heap_start();
uintptr_t heap_bytes();

// Whether an address that is not addressable was so until it was freed, and where that was (a place in the library).
bool was_freed(uintptr_t address, uint64_t &freed_at);
void locate_on_heap(Finding &finding, uintptr_t address);

}  // namespace cuda_on_cpu
