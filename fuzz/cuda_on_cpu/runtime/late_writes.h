// Late writes: where nothing orders a read after a write of global memory, CUDA leaves open whether it returns the new
// or the old value. A run may ask for the old one, to find out whether it matters.
#pragma once
#include "shadow.h"
#include "state.h"

namespace cuda_on_cpu {

// For one run; false when the system gives no memory.
bool prepare_late_writes(bool wanted, const Region &buffers);

// From the checker, a word at a time: before a write that starts a new interval, and before a read that races with a
// write.
void note_before_write(uintptr_t word);
void show_before_write(uintptr_t word);

// Everything after the read sees memory as it is.
struct LateReads {
  int words_shown;
};
extern PerRun<LateReads> late_reads;
void hide_shown_words();
static inline void end_of_read() {
  if (late_reads.words_shown) hide_shown_words();
}

}  // namespace cuda_on_cpu
