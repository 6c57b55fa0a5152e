// Of a large launch only a sample of the blocks is checked in full: the first, the last and some between. The others run
// after them and are checked lightly (light_checks.h): for their bounds, and wherever they access what the sample has
// accessed. A run begins to sample once it has made as many accesses as a small program makes in all, so most programs
// are checked whole.
//
// A launch is checked whole where its blocks may need each other: a cooperative one, one with clusters, warps in step;
// and from the moment on when one of its blocks only polls.
#pragma once
#include "grid.h"

namespace cuda_on_cpu {

struct Start {
  uint64_t block;
  bool lightly;
};

void begin_sampling(const Step &step, uint64_t blocks);
void end_sampling();
// Whether the run has made as many accesses as are checked in full; those of libraries count, too, though not for sampling.
bool has_spent_budget();
void count_accesses_of_library(uint64_t accesses);
// Before the block that starts next, at this position of the order: each once, from 0 on.
bool next_starts_lightly(const BlockOrder &order, uint64_t position);
Start next_start(const BlockOrder &order, uint64_t position);
// A block waits for others: from now on all that start are checked in full.
void check_all_that_start();
void count_ended_block();

}  // namespace cuda_on_cpu
