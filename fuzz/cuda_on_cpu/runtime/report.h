// Findings: one entry per kind and place in the source, counted.
#pragma once
#include "abi.h"

namespace cuda_on_cpu {

// Ends the run at once, from any stack.
[[noreturn]] void stop_run(Status status);
void call_kernel();

// A thread has ended where it should have continued: the run's results mean nothing, and what its absence causes, in
// threads that wait for it or read what it has not written, is no longer reported.
void run_is_damaged();

// A finding of the current thread; null if it only added to the count of an earlier one (or there is no room).
Finding *report(Kind kind, uint64_t pc, uint32_t line, uint64_t other_pc = 0, uint32_t other_line = 0);

// The finding that another report of the same two places was added to; null if there was no room for it.
Finding *reported(Kind kind, uint64_t pc, uint64_t other_pc);

void report_barrier_after_exit(int line, int exited, int first_exited);
void report_divergent_barrier(int line, int other_line);
void report_inactive_lane(int thread, int source_lane, uint32_t mask);
void report_mask_without_caller(uint32_t mask, int line);
void report_waits_for_more_blocks(uint32_t resident);
void report_grid_never_meets(uint32_t waiting, bool some_cannot_start);
void report_cluster_never_meets(uint32_t missing, uint64_t other_block, int other_thread, int other_line);
void report_lanes_never_meet(int waiting, int missing, uint32_t mask, bool missing_is_at_barrier);

}  // namespace cuda_on_cpu
