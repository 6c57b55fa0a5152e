// The running block: its threads, which runs next, and how a thread waits. (Meanwhile other blocks of its launch may be
// waiting for it: grid.cpp.)
//
// A CUDA thread is a fiber, but only once it blocks: until then it is a plain call on a reused stack, and a thread that
// never blocks costs no switch.
#pragma once
#include "abi.h"
#include "context.h"
#include "grid.h"
#include "settled.h"
#include "state.h"

namespace cuda_on_cpu {

constexpr int max_threads = 1024, warp_lanes = 32, max_warps = max_threads / warp_lanes;
constexpr int main_context = -1;  // the launcher, which is not a CUDA thread

enum class State : uint8_t { ready, at_barrier, at_grid_barrier, at_cluster_barrier, at_warpgroup, in_warp, done };

struct Cluster;

// Hot fields lie in packed arrays: with 256 threads they share the L1 cache with 256 stack frames.
struct Threads {
  void *stack_pointer[max_threads];  // null: not started
  State state[max_threads];  // what it waited for last; `ready` before its first wait
  uint16_t stack[max_threads];
  int32_t line[max_threads];  // of the barrier or collective that it waits in
  ThreadPlace place[max_threads];
};

// The threads that can run, oldest first. After a barrier that every thread reached in a fixed schedule the ring still
// holds the same threads in the same order, so releasing the barrier is one subtraction.
struct Ring {
  static constexpr uint32_t capacity = 2 * max_threads;
  uint16_t thread[capacity];
  uint32_t head, tail;
  bool empty() const { return head == tail; }
  void push_back(int t) { thread[tail++ & (capacity - 1)] = static_cast<uint16_t>(t); }
  void push_front(int t) { thread[--head & (capacity - 1)] = static_cast<uint16_t>(t); }
  int front() const { return thread[head & (capacity - 1)]; }
  void drop_front() { head++; }
};

// Lanes of one warp that a collective has woken. They run before everything in the ring: one warp's lanes stay
// together, hot in the cache, and the ring does not change.
struct Woken {
  uint32_t lanes;    // bit i: lane ((i + turn) % 32) ^ flip; the lowest bit runs first
  int first_thread;  // of the warp
  int turn, flip;
  int front() const { return first_thread + (((__builtin_ctz(lanes) + turn) & (warp_lanes - 1)) ^ flip); }
  void drop_front() { lanes &= lanes - 1; }
};

// PTX has barriers 0 to 15.
constexpr uint32_t named_barriers = 16;
struct NamedBarrier {
  uint32_t arrived, phase;
};

struct Block {
  int size, live, exited;
  int current;
  uint64_t number;  // in the grid
  int at_grid_barrier;
  int arrived;       // threads waiting in the barrier
  int barrier_line;  // where the first of them waits
  int barrier_value, barrier_result;
  int first_exited;
  bool ring_is_stale;  // the ring no longer holds every thread in schedule order
  uint32_t polls;       // consecutive polls since something in the block last made progress
  uint32_t polls_in_all;  // since it last began to run
  bool has_left;        // other threads must run: this one only polls, or it is another block's turn
  bool is_light;        // checked lightly (light_checks.h)
  bool has_met;         // a lightly checked block has accessed a word that another block has accessed
  NamedBarrier named[named_barriers];
  Cluster *cluster;     // null: no other block is in it, and the kernel has not asked for it
  uint32_t rank;        // in its cluster
  int at_cluster_barrier;
  uint32_t waits_in_phase;  // threads that wait at the cluster's barrier
  // For each thread: it has arrived at the cluster's barrier and not waited yet; in an odd phase; to wait later.
  uint64_t has_arrived[max_threads / 64], arrived_in_odd[max_threads / 64], arrived_apart[max_threads / 64];
};

struct Turns {
  void *main_stack_pointer;
  ThreadPlace *current_place;   // the kernel library's threadIdx
  uint64_t progress;            // counts everything that another thread may have waited for
  uint64_t polls;
  uint64_t threads_ended;
  uint64_t random_state;
  uint16_t order[max_threads];  // the schedule: which thread runs first after a barrier
};

extern PerRun<Threads> threads;
extern PerRun<Ring> ring;
extern PerRun<Woken> woken;
extern PerRun<Block> block;
extern PerRun<Turns> turns;

// The request and its results: of the current run, and between two runs, of the last one.
extern Run *run;

void *start_stack(int thread);
void begin_block(uint64_t number);
void run_block();  // until it ends, or yields the processor to other blocks
void release_from_grid_barrier();
void prepare_threads(const Step &step);
uint64_t random_bits();
void reseed(uint64_t seed);

static inline void make_current(int t) {
  block.current = t;
  *turns.current_place = threads.place[t];
  cuda_on_cpu_settled.not_mine = ~warp_codes.of[t / warp_lanes];
}

static inline void switch_to(int from, int to) {
  switch_stack(from == main_context ? &turns.main_stack_pointer : &threads.stack_pointer[from],
               to == main_context ? turns.main_stack_pointer : threads.stack_pointer[to]);
}

static inline bool nobody_can_run() { return !woken.lanes && ring.empty(); }

// With many threads their stacks lie in the second-level cache. This prefetches the lines that the next thread begins
// with, before its turn.
static inline void prefetch_stack(int t) {
  const char *lines = static_cast<const char *>(threads.stack_pointer[t]);
  if (!lines) return;  // a thread without a stack yet: the processor would look up null in the tables of pages each time
  __builtin_prefetch(lines);
  __builtin_prefetch(lines + 64);
  __builtin_prefetch(lines + 128);
}

// The thread whose turn it is; at least one thread must be able to run.
static inline int take_next() {
  int t;
  if (woken.lanes) {
    t = woken.front();
    woken.drop_front();
  } else {
    t = ring.front();
    ring.drop_front();
    prefetch_stack(ring.front());  // with an empty ring: any thread's stack, which is harmless
  }
  return t;
}

// Switches to the thread whose turn it is.
static inline void run_next(int from) {
  int t = take_next();
  make_current(t);
  if (t == from) return;
  if (!threads.stack_pointer[t]) threads.stack_pointer[t] = start_stack(t);
  switch_to(from, t);
}

// The current thread waits; it runs again once another thread has put it back into the ring.
static inline void wait() {
  if (nobody_can_run())
    switch_to(block.current, main_context);
  else
    run_next(block.current);
}

// The current thread goes to the end of the queue.
static inline void yield() {
  if (nobody_can_run()) return;
  block.ring_is_stale = true;
  ring.push_back(block.current);
  run_next(block.current);
}

// The current thread polls memory, most likely until another one writes there.
void poll();
bool only_polls();  // nothing else has happened in the block for a while

// The block lets the other blocks of its launch run first.
void leave_block();

// Ends the current thread, at any depth of its stack.
[[noreturn]] void end_thread();

// Reports an event that other threads may have waited for.
static inline void came_on() {
  block.polls = 0;
  turns.progress++;
}

// warp.cpp
void start_warps(int threads_in_block);
size_t bytes_of_warps(int threads_in_block);
void save_warps(char *to);
void restore_warps(const char *from);
void leave_warp(int thread);
bool go_on_in_warps();  // lanes that converge, or take a step together, when no other thread can run
void report_stuck_warp();
bool lane_is_live(int thread);
// The current thread waits until every lane of its warp comes to this place in the library, too, or never will.
void step_with_warp(uint32_t place, const void *frame);

}  // namespace cuda_on_cpu
