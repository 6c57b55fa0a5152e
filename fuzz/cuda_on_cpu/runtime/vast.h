// Buffers of more elements than an int counts: address space that is zero wherever nobody has stored.
//
// Around each lies as much that nobody may touch: an index that has overflowed 32 bits leads there.
#pragma once
#include "abi.h"

namespace cuda_on_cpu {

static inline bool is_vast(const Run &run) { return run.only_block_count; }

// Until the run ends. False when the system gives no such address space.
bool place_vast_buffers(Run &run);

}  // namespace cuda_on_cpu
