// Copies to shared memory that a thread has requested. They are made at the latest when it waits for them.
#pragma once
#include <cstdint>

namespace cuda_on_cpu {

void forget_copies_of(uint32_t resident);  // a block starts there
void enter_copies_of(uint32_t resident);

}  // namespace cuda_on_cpu
