// The access checker: is every access inside an array, initialised, aligned, and ordered with all others?
//
// It is called only when the kernel library was compiled with the access hooks (hooks.cpp), and works on a shadow:
// one Cell for every four bytes of every array, where partial accesses keep their byte masks, so that two threads
// on different bytes of one word are no race.
#pragma once
#include "abi.h"
#include "ordering.h"

namespace cuda_on_cpu {

struct Cluster;

// Before the first launch of a run: what memory there is.
bool checker_prepare(Run &run, uintptr_t library_start, uintptr_t library_end);
void checker_finish();
// While the host runs, nothing is looked at.
void checker_pauses(bool pauses);
// Within a piece of work, while functions run that an author's library may have with hooks: torch's.
void checker_rests(bool rests);
// The host goes on by itself, and may have waited for something meanwhile: from now on its accesses of memory that it
// shares with kernels are looked at, as long as there is work that it has not waited for.
void checker_host_goes_on();
void checker_watches_callback();
void checker_host_access(uintptr_t address, uint32_t bytes, bool writes, uintptr_t pc);
// All of a range is read or written by a copy and the like; `pc` is relative. `kept`: others may yet meet it.
enum class Move { reads, writes, allocates };
void checker_moves(uintptr_t address, uint64_t bytes, Move move, uint64_t pc, bool kept);
void checker_has_moved();
void checker_starts_launch(uint32_t dynamic_shared_bytes);
void checker_ends_launch();

// From the scheduler: what orders accesses.
void checker_starts_block(BlockOrdering &block);
void checker_resumes_block(BlockOrdering &block);
void checker_ends_block();
void checker_passed_barrier();
void checker_passed_grid_barrier();
void checker_passed_cluster_barrier(Cluster &cluster);
void checker_synced_warp(int first_thread, uint32_t lanes, uint32_t all_lanes);
void checker_stepped_warp(int first_thread, uint32_t all_lanes);

// From the hooks; common_access.h has the short way for what is nearly always the case.
enum class Access { read, write, volatile_read, volatile_write };
// The host's processor does not mind: these end a thread of a kernel alone.
void report_misaligned(uintptr_t address, uint32_t alignment, uintptr_t pc);
void report_misaligned_at_line(uintptr_t address, uint32_t alignment, uint32_t line);
void checker_access(uintptr_t address, uint32_t bytes, Access access, uintptr_t pc);
void checker_atomic(uintptr_t address, uint32_t bytes, const Strength &strength, uintptr_t pc);
void checker_fence(Scope scope);
// Whoever reads this word from now on by an atomic that acquires knows what the current thread has done.
void checker_publishes(uintptr_t address);
// An atomicCAS by the current thread: what it has read there before was a guess (held_races.h).
void checker_swaps(uintptr_t address, uint32_t bytes);
uintptr_t checker_last_pc();
// Whether the running thread waits for what the host alone may yet write: here that comes after the kernel's end.
bool checker_waits_for_host();
// The instruction that has stored a byte of a buffer, relative to the library; 0 where none has since the run began.
uint64_t checker_stored_by(uintptr_t address);

}  // namespace cuda_on_cpu
