// Where a job's buffers live: each between two guard zones, at the alignment that the kernel claims and no better.
#pragma once
#include "abi.h"

namespace cuda_on_cpu {

bool map_arena();
uintptr_t arena_start();
uint64_t arena_bytes();  // of addresses: their shadow is eight times as large

// Copies or fills every buffer and its guard zones; false when they do not fit.
bool place_buffers(Run &run);

// What an array holds at first: this content, or its fill where it has none.
void lay(const Buffer &buffer, const void *content);

// What is large and about to be written comes at once, in pages of 2 MB: small ones cost more at their first touch, one by
// one, than all accesses.
constexpr uintptr_t large_page = 2 << 20;
void bring_in(const void *start, uint64_t bytes);

// One more behind them, for a host function; host-visible memory lies in a part of its own. False where it does not fit.
bool place_one_more(const Run &run, Buffer &buffer);
bool is_host_visible(uintptr_t address);  // whether it lies in that part
uint64_t arena_left(const Run &run);
// Whether the memory of the device can be reached, but for what the host may see.
void allow_device_memory(bool allowed);

// After the run: overwritten guard zones and changed inputs become findings.
void check_guards(Run &run);
void check_inputs(Run &run);

}  // namespace cuda_on_cpu
