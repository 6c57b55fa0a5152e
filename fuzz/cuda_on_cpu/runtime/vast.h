// Vast buffers, which are too large to be filled: address space, of which a piece is filled when a thread first touches it.
//
// Around each buffer lies forbidden memory of the same amount as an int counts: an index that has overflowed 32 bits leads
// there. The pieces that were touched stay until the next run, so that the caller can read the answers in them.
#pragma once
#include "abi.h"

namespace cuda_on_cpu {

static inline bool is_vast(const Run &run) { return run.only_block_count; }

// False when the system does not give that much address space.
bool place_vast_buffers(Run &run);

// What a page fault at this address means: `filled`: the thread may go on; `too_many`: the run touches more pieces than fit.
enum class Touch { none, filled, too_many };
Touch touch_vast_buffer(Run &run, uintptr_t address);

void release_vast_buffers();

}  // namespace cuda_on_cpu
