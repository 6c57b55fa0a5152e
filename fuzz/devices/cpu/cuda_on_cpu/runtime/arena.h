// Where a job's buffers live: each between two guard zones, at the alignment that the kernel claims and no better.
#pragma once
#include "abi.h"

namespace cuda_on_cpu {


bool map_arena();
uintptr_t arena_start();
uint64_t arena_bytes();  // of addresses: their shadow is eight times as large

// Copies or fills every buffer and its guard zones; false when they do not fit.
bool place_buffers(Run &run);

// After the run: overwritten guard zones and changed inputs become findings.
void check_guards(Run &run);
void check_inputs(Run &run);

}  // namespace cuda_on_cpu
