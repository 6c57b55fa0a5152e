// What orders two accesses, by PTX's memory model: the barriers of a block, __syncwarp among the lanes it names, and
// release and acquire by fences and atomics of a scope that holds both threads. Shuffles and votes order nothing.
//
// One clock ticks at every barrier, __syncwarp and fence, and whenever another block starts to run. An access remembers
// its moment, and the clock tells which block ran then. An access of another thread is ordered before one of mine
//   - when it belongs to work that was done before this launch (work.h), or to my block before the last barrier, or to my
//     warp before the last __syncwarp of both of us;
// - when I know of it: by an atomic I have read what its thread, or one that knows of it, has published after a fence
// (knowledge.h).
// Where CUDA programs rely on more than the model promises, more counts as ordered (docs/limits.md): this can miss
// races, but never invents one.
#pragma once
#include "block.h"
#include "knowledge.h"
#include "shadow.h"
#include "state.h"

namespace cuda_on_cpu {

enum class Scope : uint32_t { block, device };  // CUDA's system scope is the device: there is only one

// The effect of a synchronising access, beyond reading or writing.
struct Strength {
  Scope scope;
  bool reads, writes;
  bool acquires;      // at once; otherwise at the thread's next fence
  bool releases;      // all that its thread has done; otherwise what came before the thread's last fence
  bool polls;         // by an update that leaves memory as it is, again and again
};

// For each thread, if fences and atomics are used at all.
struct ThreadOrdering {
  Knowledge known;
  Knowledge pending, pending_in_block;    // read by relaxed accesses, known from the next fence on
  Knowledge polled;                       // of what is pending: read by updates that poll
  Knowledge fenced, fenced_in_block;      // what the last fence of the device, or of any scope, has prepared for publishing
};

// For one block, also while others run.
struct BlockOrdering {
  uint32_t number;          // in the order in which the blocks of a launch started
  uint32_t start, interval_start;
  uint32_t track;           // where it differs from Ordering's, this knowledge was forgotten meanwhile
  bool uses_fences;
  bool has_triggered;       // its kernel's dependents may begin, as far as this block is concerned
  bool keeps_knowledge;     // some thread's ordering is not all zero
  Knowledge known_to_all;   // as spread by barriers
  Knowledge fenced_by_all;
  Knowledge polled_by_all;
  uint32_t partial_warps;   // one bit a warp: some lanes have synchronised without all the others
  uint32_t warp_start[max_warps];  // the last __syncwarp of all of its lanes, or step that they took together
  uint32_t warp_synced[max_warps];  // the last __syncwarp of any lanes
  ThreadOrdering thread[max_threads];
  uint32_t lane_start[max_threads][warp_lanes];  // [thread][lane]: the last __syncwarp with that lane, by partial masks
};

// The clock continues from run to run, since cells remember the accesses of earlier runs; order_work restarts the rest.
struct Ordering {
  uint32_t now = 1;
  uint32_t all_before = 1;  // earlier accesses are ordered: the launch waits for them (work.h), or track was lost
  uint32_t work_start = 1;  // the start of the launch, or of the other work that runs
  uint32_t lost_at = 1;     // where tracking was last lost
  uint32_t own_start = 1;   // the running block's
  uint32_t alone_from = 1;  // since then only the running block has run; before its start, if it was the launch's first
  uint32_t alone_interval = 1;  // the start of its interval, and at least alone_from
  uint32_t track = 1;           // counts how often more happened than could be kept
  BlockOrdering *own = nullptr;
};

extern PerProcess<Ordering> ordering;

// True only where is_ordered is, and nearly always where it is: before this interval in this block, before this launch,
// the same thread's, or before the last __syncwarp of its warp. In shared memory, which dies with its block, what came
// before the block's start counts as well.
static inline bool is_plainly_ordered(const Trace &before, uint32_t me, uint32_t all_before) {
  uint32_t when = before.when, differs = before.thread() ^ me;
  if (when - ordering.alone_from < ordering.alone_interval - ordering.alone_from || when < all_before) return true;
  if (when < ordering.alone_interval || differs >= warp_lanes) return false;
  return !differs || when < ordering.own->warp_start[me / warp_lanes];
}

// Whether the access in `before` is ordered before one that the current thread makes now.
bool is_ordered(const Trace &before, int current);

// Of an access that is_ordered does not know of: the launch (work.h) that never waited, if it is ordered before mine as far as
// its end says so, or null.
const uint32_t *is_ordered_by_chain(const Trace &before, int current);

// Of such an access: whether it is ordered before mine if an update that polls acquires, without a fence after it.
bool is_ordered_by_poll(const Trace &before, int current);

bool is_of_this_block(uint32_t when);
bool is_of_this_work(uint32_t when);
bool is_block_known(uint32_t when);      // may be forgotten if it belongs to earlier work
uint64_t block_at(uint32_t when);        // its number in the grid
uint32_t block_start_at(uint32_t when);  // its start: distinguishes it from all others

static inline bool same_warp(int a, int b) { return (a ^ b) < warp_lanes; }

bool prepare_ordering();
void order_from_start();
uint32_t next_moment();
// Work begins, and everything before a moment has been done for it: a launch, or something that the host or a stream
// does by itself, as if it were a block of one thread.
void order_work(uint32_t start, uint32_t all_before);
void order_single(uint32_t start, uint32_t all_before);
void order_launch();  // not started by the host: it waits for everything
void order_block(BlockOrdering &block);   // it starts
void order_resumed(BlockOrdering &block);  // it continues, after others have run
void order_barrier();
void order_grid_barrier();  // all blocks have come to it
// All threads of a cluster have reached its barrier; a thread has, and will wait later; it has waited.
void order_cluster_barrier(Cluster &cluster);
void order_arrival_apart(Cluster &cluster, int current, bool releases);
void order_wait_of_cluster(Cluster &cluster, int current);
// Whether the current thread knows that a block has begun; whether the block that ends now knows of another's access.
bool has_begun(const BlockOrdering &other, int current);
bool is_known_at_end(const Trace &before);
void order_warp(int first_thread, uint32_t lanes, uint32_t all_lanes);
void order_step(int first_thread, uint32_t all_lanes);  // like __syncwarp, although it is not one
bool is_ordered_by_steps(const Trace &before, int current);  // at most: between two lanes of a warp in this block
void order_fence(int current, Scope scope);
// The current thread has waited for the kernels before its own, which began early; it lets the next one begin; its block
// ends, which does so too.
void order_wait_for_grids(int current);
void order_trigger(int current);
void order_end_of_block();
void order_strong(int current, uintptr_t address, const Strength &strength);
// A strong read of a word found what an atomic or volatile write had left there. If order_strong brought knowledge from that
// word, the write itself is ordered before what the thread does there later: release and acquire do not tell of it.
void order_observed(int current, uintptr_t address, const Trace &write, const Strength &strength);
bool is_observed(const Trace &write, int current, uintptr_t address);

// What a thread has done and knows, as of now: for who waits for what it arrives at. It is void once track was lost.
Knowledge told_by(int current);
void order_told(int current, Knowledge knowledge);

// A bulk copy (bulk_copies.h) reads and writes by itself: its reads, and its writes, are a flight, which nothing orders before
// another access but the knowledge that it is over. Its traces have the flight's moment.
// So are the operations of tensor cores that go on beside their threads (warpgroups.h, tensor_memory.h).
enum class FlightKind : uint32_t { copy, product, tensor_core, tensor_load, tensor_store };
uint32_t begin_flight(FlightKind kind = FlightKind::copy);
FlightKind kind_of_flight(uint32_t moment);
uint32_t last_flight();  // the moment of the latest
bool is_flight_known(uint32_t moment, int current);
uint32_t traits_of_flight(uint32_t moment);
static inline bool is_product(FlightKind kind) { return kind == FlightKind::product || kind == FlightKind::tensor_core; }
Knowledge with_flight(Knowledge knowledge, uint32_t moment);
bool is_flight_known_in_block(uint32_t moment);  // by any of its threads

// Proxies. A bulk copy sees what a thread has written only if a fence between the two on the same path orders the proxies.
enum class Proxy : uint32_t { async_shared, async_global, tensor_map };
void order_proxy_fence(int current, Proxy proxy);
bool is_fenced(const Trace &before, int current, Proxy proxy);
// The current thread fences a tensor map in memory for its own use, from an address of which this is the number.
void order_map_fence(int current, uint32_t map);
bool is_map_fenced(uint32_t map, const Trace &before, int current);

// tcgen05's own fences, before a thread tells others that operations on tensor memory are over, and after they have learnt it.
Knowledge with_fenced_flight(Knowledge knowledge, uint32_t moment);  // over, and fenced before others learned of it
enum class TensorFence : uint32_t { before, after };
void order_tensor_fence(int current, TensorFence fence);
bool is_tensor_fenced(uint32_t moment, int current, TensorFence fence);

// The next arrival of the current thread at a barrier of the cluster passes on which mbarriers it has initialised.
void order_fence_of_inits(int current);
bool is_init_known(const Trace &init, int current);

}  // namespace cuda_on_cpu
