// A job's buffers: each lies between two guard zones, at the alignment that the kernel claims and no better.
#pragma once
#include "abi.h"

namespace cuda_on_cpu {

// Maps it once. A program's has a second part, for large arrays (16 MB, or where the first part is full), whose memory takes
// room only where it is touched.
bool map_arena(bool for_program);
uintptr_t arena_start();
uint64_t arena_bytes();  // of addresses: their shadow is eight times as large
constexpr uint64_t first_part_bytes = 1 << 30;
static inline bool is_in_second_part(uintptr_t address) { return address - arena_start() >= first_part_bytes && address - arena_start() < arena_bytes(); }
uint64_t memory_of_device();  // what a program may allocate in all

// Copies or fills every buffer and its guard zones; false when they do not fit.
bool place_buffers(Run &run);

// The initial value of an array: this content, or its fill if it has no content.
void lay(const Buffer &buffer, const void *content);

// Maps a large range that is about to be written at once, in pages of 2 MB: the first touches of small pages, one by
// one, cost more than all accesses.
constexpr uintptr_t large_page = 2 << 20;
void bring_in(const void *start, uint64_t bytes);

// Adds a buffer for a host function; host-visible memory lies in its own part. False where it does not fit.
bool place_one_more(const Run &run, Buffer &buffer);
bool is_host_visible(uintptr_t address);  // whether it lies in that part
// Fills such a buffer as at first, in a new place or when it is freed; the memory that it took goes back.
void poison_buffer(const Run &run, const Buffer &buffer);
// Before a copy overwrites such a range: gives it pages of 2 MB of its own, in place of those of a pattern, which the system
// would copy one by one.
void make_own(char *to, uint64_t bytes);
// Like memset, in such a buffer.
void set_memory(char *to, int value, uint64_t bytes);
uint64_t arena_left(const Run &run);
// The array, which may be freed by now, that holds an address; of several that had it in turn, the last. Null: none.
Buffer *device_array_at(const void *address);
// Whether device memory other than host-visible memory can be reached.
void allow_device_memory(bool allowed);

// After the run: overwritten guard zones and changed inputs become findings.
void check_guards(Run &run);
void check_inputs(Run &run);

}  // namespace cuda_on_cpu
