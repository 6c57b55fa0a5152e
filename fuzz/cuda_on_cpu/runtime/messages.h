// What has been published where: the knowledge that a thread gains by reading an address with an atomic.
#pragma once
#include <cstdint>

#include "knowledge.h"

namespace cuda_on_cpu {

constexpr uint32_t to_everybody = ~0u;

// To the threads of one block, or to everybody. False where the system gives no more memory.
Knowledge message(uintptr_t address, uint32_t to_block);
bool publish(uintptr_t address, uint32_t to_block, Knowledge knowledge);
void forget_messages();

}  // namespace cuda_on_cpu
