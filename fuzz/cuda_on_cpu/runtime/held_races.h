// Races that are judged later than they are seen. At the end of the interval, memory shows whether every write left the
// same value, and it is known whether a plain read was a guess: its reader goes on to change that very word by
// atomicCAS, as the CUDA programming guide builds its own atomics. Where the guess is stale, the swap fails and returns
// the current value, so that nothing depends on it, as long as the others change the word by atomics alone. At the end
// of the launch it is known whether the value that two volatile writes leave depends on which of them came last.
#pragma once
#include "abi.h"
#include "shadow.h"

namespace cuda_on_cpu {

// An access of the current thread, and one that it races with; memory still holds the value from before this access.
struct Meeting {
  uintptr_t address;
  uint32_t bytes;
  uint64_t pc;
  uint32_t traits;
  bool writes;
  Trace before;
  bool before_writes;
};

void hold_race(const Meeting &meeting);
void hold_race_of_chain(const Meeting &met);  // with an earlier launch, for which one between the two has not waited
void hold_race_after_poll(const Meeting &met);  // ordered if an update that polls acquires
void hold_volatile_race(const Meeting &meeting);  // both by atomics or volatile
void hold_guessed_read(const Meeting &meeting);   // a plain read of what an atomic has written
void hold_atomic_after_guess(const Meeting &meeting);
void tell_race_in_step(const Meeting &meeting);   // judged at once, and only the first of a launch
void tell_at_once(Kind kind, const Meeting &meeting);  // another kind than a race
// The values that the current thread has read here were guesses.
void forgive_guesses(uintptr_t address, uint32_t bytes);
void note_guess(uintptr_t pc);  // a read of this place was one
void settle_races();            // of the running block
void settle_all_but_late_races();  // before what ends their interval
void settle_all_races();        // of the launch

}  // namespace cuda_on_cpu
