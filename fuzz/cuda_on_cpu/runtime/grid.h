// The blocks of a launch: which one runs, and which others are resident because they wait.
#pragma once
#include "abi.h"

namespace cuda_on_cpu {

constexpr uint32_t max_residents = 4352;  // more than a GPU holds

// Blocks in a cluster of the launch; 1 where it has none.
uint32_t size_of_cluster(const Step &step);

// The order of the blocks, or of the clusters, a bijection of [0, count): position -> block.
struct BlockOrder {
  uint64_t count, factor, shift;
  explicit BlockOrder(uint64_t blocks);
  uint64_t at(uint64_t position) const;
};

// The current launch.
const Step *running_step();

void run_grid(const Step &step, const BlockOrder &blocks, Index *block_index);

// clusterlaunchcontrol: the next block, or the first one of the next cluster, that has not begun never will. False: there is none.
bool cancel_next_start(Index &first);

// Whether a block could run in place of this one.
bool has_other_blocks();

// Counts everything that others may have waited for.
extern uint64_t progress;

}  // namespace cuda_on_cpu
