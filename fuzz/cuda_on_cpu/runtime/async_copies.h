// Copies to shared memory that a thread has requested. They are made at the latest when it waits for them.
#pragma once
#include <cstdint>

#include "abi.h"

// Makes the copies of all phases of a barrier before this one. False: there are none.
CUDA_ON_CPU_API bool cuda_on_cpu_async_land(const void *barrier, uint32_t phase);

namespace cuda_on_cpu {

void forget_copies_of(uint32_t resident);  // a block starts there
void enter_copies_of(uint32_t resident);
// Those of the current thread are made when that phase of a barrier is over.
void hand_copies_to(const void *barrier, uint32_t phase);

}  // namespace cuda_on_cpu
