// Buffers with more elements than an int can count: address space that is zero wherever nothing has been stored.
//
// Around each lies the same amount of forbidden memory: an index that has overflowed 32 bits leads there.
#pragma once
#include "abi.h"

namespace cuda_on_cpu {

static inline bool is_vast(const Run &run) { return run.only_block_count; }

// Until the run ends. False when the system does not give that much address space.
bool place_vast_buffers(Run &run);

}  // namespace cuda_on_cpu
