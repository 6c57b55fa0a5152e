// What orders two accesses, by CUDA's rules: the barriers of a block, __syncwarp among the lanes it names, and
// release/acquire by fence and atomic. Shuffles and votes order nothing.
//
// One clock ticks at every barrier, block, launch and release. An access remembers when it happened:
//   - before the running interval (since the last barrier) of its own block: ordered;
//   - before the last release that the current thread has acquired: ordered. Which thread released what is not
//     kept, so more counts as ordered than is: races can be missed this way, never invented;
//   - by a lane of the same warp: ordered when a __syncwarp lies between, which vector clocks tell.
#pragma once
#include <cstring>

#include "block.h"
#include "shadow.h"

namespace cuda_on_cpu {

struct Ordering {
  uint32_t now, launch_start, block_start, interval_start;
  uint32_t released;              // the clock at the last release
  uint32_t acquired_by_block;     // what a barrier has spread to all
  uint32_t acquired_since_barrier;
  uint32_t acquired[max_threads];
  bool fenced;           // somebody of this block has fenced: the next atomic releases
  bool acquired_any;     // `acquired` is not all zero
  uint32_t synced_warps;  // one bit a warp: its clocks are no longer as at the start of a block
  uint32_t warp_clock[max_threads][warp_lanes];  // [thread][lane]: what the thread knows of the lanes of its warp
  uint32_t own_clock[max_threads];               // [thread]: its own entry, packed, for it is needed at every access
};

extern Ordering ordering;

static inline uint32_t acquired_by(int thread) {
  uint32_t own = ordering.acquired[thread];
  return own > ordering.acquired_by_block ? own : ordering.acquired_by_block;
}

static inline bool same_warp(int a, int b) { return (a ^ b) < warp_lanes; }

// Is what `before` tells of ordered before an access that the current thread makes now?
static inline bool is_ordered(const Trace &before, int current) {
  if (before.when < ordering.launch_start) return true;
  if (before.when < ordering.block_start) return before.when < acquired_by(current);  // another block of this launch
  if (before.when < ordering.interval_start) return true;
  int other = static_cast<int>(before.thread());
  if (other == current || before.when < acquired_by(current)) return true;
  return same_warp(other, current) && ordering.warp_clock[current][other % warp_lanes] >= before.clock();
}

void order_from_start();
void order_launch();
void order_block();
void order_barrier();
void order_warp(int first_thread, uint32_t lanes);
void order_fence();
void order_atomic(int current);

}  // namespace cuda_on_cpu
