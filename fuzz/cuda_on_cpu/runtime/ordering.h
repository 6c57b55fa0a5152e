// What orders two accesses, by PTX's memory model: the barriers of a block, __syncwarp among the lanes it names, and
// release and acquire by fences and atomics of a scope that holds both threads. Shuffles and votes order nothing.
//
// One clock ticks at every barrier, __syncwarp, fence, and whenever another block goes on. An access remembers when it
// happened, and the clock which block ran then. An access of another thread is ordered before one of mine
//   - when it belongs to work that was done before this launch (work.h), or to my block before the last barrier, or to my
//     warp before the last __syncwarp of both of us;
//   - when I know of it: by an atomic I have read what its thread, or one that knows of it, has published after a fence
//     (knowledge.h).
// Where CUDA programs rely on more than the model promises, more counts as ordered (docs/limits.md): races can be missed
// this way, never invented.
#pragma once
#include "block.h"
#include "knowledge.h"
#include "shadow.h"
#include "state.h"

namespace cuda_on_cpu {

enum class Scope : uint32_t { block, device };  // what CUDA calls system is the device: there is one

// What an access to synchronise by does, beyond reading or writing.
struct Strength {
  Scope scope;
  bool reads, writes;
  bool acquires;      // at once; else at the thread's next fence
  bool releases;      // all that its thread has done; else what came before the thread's last fence
};

// Per thread, as far as fences and atomics are used at all.
struct ThreadOrdering {
  Knowledge known;
  Knowledge pending, pending_in_block;    // read by relaxed accesses, known from the next fence on
  Knowledge fenced, fenced_in_block;      // what the last fence of the device, or of any scope, has readied for publishing
};

// Of one block, also while others run.
struct BlockOrdering {
  uint32_t number;          // in the order in which the blocks of a launch have started
  uint32_t start, interval_start;
  uint32_t track;           // where it differs from Ordering's, what is known here was forgotten meanwhile
  bool uses_fences;
  bool keeps_knowledge;     // some thread's ordering is not all zero
  Knowledge known_to_all;   // as barriers have spread it
  Knowledge fenced_by_all;
  uint32_t partial_warps;   // one bit a warp: lanes have synced without all the others
  uint32_t warp_start[max_warps];  // the last __syncwarp of all of its lanes, or step that they have taken together
  uint32_t warp_synced[max_warps];  // the last __syncwarp of any
  ThreadOrdering thread[max_threads];
  uint32_t lane_start[max_threads][warp_lanes];  // [thread][lane]: the last __syncwarp with that lane, by partial masks
};

// The clock goes on from run to run, since cells remember the accesses of earlier runs; order_work begins the rest anew.
struct Ordering {
  uint32_t now = 1;
  uint32_t all_before = 1;  // everything before this moment is ordered: what the launch waits for (work.h), or where track was lost
  uint32_t work_start = 1;  // the launch's, or that of whatever else is being done
  uint32_t lost_at = 1;     // where track was lost last
  uint32_t own_start = 1;   // the running block's
  uint32_t alone_from = 1;  // since then nobody but the running block has run; before its start, if it began the launch
  uint32_t alone_interval = 1;  // the start of its interval, and no less than alone_from
  uint32_t track = 1;           // counts how often more happened than could be kept
  BlockOrdering *own = nullptr;
};

extern PerProcess<Ordering> ordering;

// True only where is_ordered is, and nearly always where it is: before this interval in this block, before this launch,
// the same thread's, or before the last __syncwarp of its warp. In shared memory, which dies with its block, what was
// before the block's start counts as well.
static inline bool is_plainly_ordered(const Trace &before, uint32_t me, uint32_t all_before) {
  uint32_t when = before.when, differs = before.thread() ^ me;
  if (when - ordering.alone_from < ordering.alone_interval - ordering.alone_from || when < all_before) return true;
  if (when < ordering.alone_interval || differs >= warp_lanes) return false;
  return !differs || when < ordering.own->warp_start[me / warp_lanes];
}

// Is what `before` tells of ordered before an access that the current thread makes now?
bool is_ordered(const Trace &before, int current);

bool is_of_this_block(uint32_t when);
bool is_of_this_work(uint32_t when);
bool is_block_known(uint32_t when);      // of earlier work it may be forgotten
uint64_t block_at(uint32_t when);        // its number in the grid
uint32_t block_start_at(uint32_t when);  // when it had started: tells it from all others

static inline bool same_warp(int a, int b) { return (a ^ b) < warp_lanes; }

bool prepare_ordering();
void order_from_start();
uint32_t next_moment();
// Work begins, of which everything before a moment is done: a launch, or something that the host or a stream does by itself,
// as if it were a block of one thread.
void order_work(uint32_t start, uint32_t all_before);
void order_single(uint32_t start, uint32_t all_before);
void order_launch();  // of no host's: it waits for everything
void order_block(BlockOrdering &block);   // it starts
void order_resumed(BlockOrdering &block);  // it goes on, after others have run
void order_barrier();
void order_grid_barrier();  // all blocks have come to it
// All threads of a cluster have come to its barrier; a thread has, and will wait later; it has waited.
void order_cluster_barrier(Cluster &cluster);
void order_arrival_apart(Cluster &cluster, int current);
void order_wait_of_cluster(Cluster &cluster, int current);
// Whether the current thread knows that a block has begun; whether the block that ends now knows of an access of another.
bool has_begun(const BlockOrdering &other, int current);
bool is_known_at_end(const Trace &before);
void order_warp(int first_thread, uint32_t lanes, uint32_t all_lanes);
void order_step(int first_thread, uint32_t all_lanes);  // as __syncwarp, which it is not
bool is_ordered_by_steps(const Trace &before, int current);  // at most: of two lanes of a warp in this block
void order_fence(int current, Scope scope);
void order_strong(int current, uintptr_t address, const Strength &strength);

}  // namespace cuda_on_cpu
