// Races that are judged at the end of the interval. Only then are the values there that tell whether every write left
// the same; and only then is it known whether a plain read was a guess: its reader goes on to change the very word by
// atomicCAS, as the CUDA programming guide writes atomics of one's own. Where the guess is stale, the swap fails and
// says what is there, so that nothing depends on it, as long as the others change the word by atomics alone.
#pragma once
#include "abi.h"
#include "shadow.h"

namespace cuda_on_cpu {

// A write by the current thread that races with `before`; memory still holds the value from before this write.
void hold_racing_write(uintptr_t address, uint32_t bytes, uint64_t pc, const Trace &before, bool before_writes);
// A plain read by the current thread that races with an atomic, `before`.
void hold_racing_read(uintptr_t address, uint32_t bytes, uint64_t pc, const Trace &before);
// An atomic by the current thread that races with a plain read of this block, `before`.
void hold_racing_atomic(uintptr_t address, uint32_t bytes, uint64_t pc, const Trace &before);
// What the current thread has read here were guesses.
void forgive_guesses(uintptr_t address, uint32_t bytes);
void settle_races();
void forget_races();

}  // namespace cuda_on_cpu
