// Writes that are seen late: where nothing orders a read after a write of global memory, CUDA leaves open whether it
// sees what was written or what was there before. A run may ask for the latter, to find out whether it matters.
#pragma once
#include "shadow.h"
#include "state.h"

namespace cuda_on_cpu {

// For a run; false when the system gives no memory.
bool prepare_late_writes(bool wanted, const Region &buffers);

// From the checker, a word at a time: before a write that begins anew, and before a read that races with a write.
void note_before_write(uintptr_t word);
void show_before_write(uintptr_t word);

// Whatever comes after the read sees memory as it is.
struct LateReads {
  int words_shown;
};
extern PerRun<LateReads> late_reads;
void hide_shown_words();
static inline void end_of_read() {
  if (late_reads.words_shown) hide_shown_words();
}

}  // namespace cuda_on_cpu
