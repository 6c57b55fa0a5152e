// The access checker: is every access inside an array, initialised, aligned, and ordered with all others?
//
// It is called only when the kernel library was compiled with the access hooks (hooks.cpp), and works on a shadow: one
// Cell for every four bytes of every array. Partial accesses keep their byte masks, so that two threads on different
// bytes of one word do not race.
#pragma once
#include "abi.h"
#include "ordering.h"

namespace cuda_on_cpu {

struct Cluster;

enum class Access { read, write, volatile_read, volatile_write };

// Before the first launch of a run: registers the memory.
bool checker_prepare(Run &run, uintptr_t library_start, uintptr_t library_end);
void checker_finish();
// While the host runs, accesses are not checked.
void checker_pauses(bool pauses);
// Within a piece of work, while functions run that an author's library may contain with hooks, such as torch's.
void checker_rests(bool rests);
// The host continues by itself, and may have waited for something meanwhile: from now on its accesses to memory that it
// shares with kernels are checked, as long as there is work that it has not waited for.
void checker_host_goes_on();
void checker_watches_callback();
void checker_host_access(uintptr_t address, uint32_t bytes, Access kind, uintptr_t pc);
// A copy or the like reads or writes all of a range; `pc` is relative. `kept`: other accesses may yet meet it.
enum class Move { reads, writes, allocates };
void checker_moves(uintptr_t address, uint64_t bytes, Move move, uint64_t pc, bool kept, uint32_t traits = 0);
void checker_has_moved();
void checker_starts_launch(uint32_t dynamic_shared_bytes);
void checker_ends_launch();

// The block that runs now is checked lightly, or in full. How many accesses of kernels have called a hook in full,
// counted from any start.
void checker_goes_lightly(bool lightly);
uint64_t checker_accesses_in_full();

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
// These end a thread of a kernel only: the host's processor allows them.
void report_misaligned(uintptr_t address, uint32_t alignment, uintptr_t pc);
void report_misaligned_at_line(uintptr_t address, uint32_t alignment, uint32_t line);
void checker_access(uintptr_t address, uint32_t bytes, Access access, uintptr_t pc);
void checker_atomic(uintptr_t address, uint32_t bytes, uint32_t what, uintptr_t pc);  // what: atomic_operations.h
// An mbarrier's word is used; what this orders, the mbarrier knows.
void checker_reads_together(uintptr_t address, uint32_t bytes, uintptr_t pc);  // as all lanes of the warp do, by one instruction
void checker_touches(uintptr_t address, uint32_t bytes, uintptr_t pc);
void checker_fence(Scope scope);
void checker_waits_for_grids();
void checker_triggers();
// A thread that from now on reads this word by an atomic that acquires knows what the current thread has done.
void checker_publishes(uintptr_t address);
// An atomicCAS by the current thread: the value that it read there before was a guess (held_races.h).
void checker_swaps(uintptr_t address, uint32_t bytes);
uintptr_t checker_last_pc();
// Whether the running thread waits for a write that only the host can make: here that comes after the kernel's end.
bool checker_waits_for_host();
// The instruction that stored a byte of a buffer, relative to the library; 0 if none has since the run began.
uint64_t checker_stored_by(uintptr_t address);

}  // namespace cuda_on_cpu
