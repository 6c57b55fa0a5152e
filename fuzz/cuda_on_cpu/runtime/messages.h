// Published knowledge by address: what a thread learns when it reads the address with an atomic.
#pragma once
#include <cstdint>

#include "knowledge.h"

namespace cuda_on_cpu {

constexpr uint32_t to_everybody = ~0u;

// To the threads of one block, or to all. False if the system gives no more memory.
bool has_messages();
Knowledge message(uintptr_t address, uint32_t to_block);
bool publish(uintptr_t address, uint32_t to_block, Knowledge knowledge);
void forget_messages();

}  // namespace cuda_on_cpu
