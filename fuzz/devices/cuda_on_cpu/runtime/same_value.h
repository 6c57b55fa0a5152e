// Races in which every write leaves the same value: told apart at the end of the interval, when the values are there.
#pragma once
#include "abi.h"
#include "shadow.h"

namespace cuda_on_cpu {

// A write by the current thread that races with `before`; memory still holds the value from before this write.
void hold_racing_write(uintptr_t address, uint32_t bytes, uint64_t pc, const Trace &before, bool before_writes);
void settle_racing_writes();
void forget_racing_writes();

}  // namespace cuda_on_cpu
