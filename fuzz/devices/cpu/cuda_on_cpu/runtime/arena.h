// Where a job's buffers live: each between two guard zones, at the alignment that the kernel claims and no better.
#pragma once
#include "abi.h"

namespace cuda_on_cpu {

constexpr uint64_t checked_arena_bytes = 256 << 20;  // its shadow is ten times as large

bool map_arena();
uintptr_t arena_start();
uint64_t arena_bytes();

// Copies or fills every buffer and its guard zones; false when they do not fit.
bool place_buffers(Run &run);

// After the run: overwritten guard zones and changed inputs become findings.
void check_guards(Run &run);
void check_inputs(Run &run);

}  // namespace cuda_on_cpu
