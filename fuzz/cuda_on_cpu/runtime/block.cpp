// The scheduler of a block: it starts threads, runs barriers and exits, and decides what to do when no thread can run.
#include "block.h"

#include "checker.h"
#include "cluster.h"
#include "grid.h"
#include "late_writes.h"
#include "report.h"
#include "stacks.h"
#include "warpgroups.h"

namespace cuda_on_cpu {

PerRun<Threads> threads;
PerRun<Ring> ring;
PerRun<Woken> woken;
PerRun<Block> block;
PerRun<Turns> turns;
Run *run;

void reseed(uint64_t seed) { turns.random_state = seed * 0x9E3779B97F4A7C15ull + 0x2545F4914F6CDD1Dull; }

uint64_t random_bits() {  // xorshift64
  turns.random_state ^= turns.random_state << 13;
  turns.random_state ^= turns.random_state >> 7;
  turns.random_state ^= turns.random_state << 17;
  return turns.random_state;
}

static void shuffle_order() {
  for (int i = block.size - 1; i > 0; i--) {
    auto j = (random_bits() >> 32) * static_cast<uint64_t>(i + 1) >> 32;  // in [0, i], without division
    uint16_t other = turns.order[i];
    turns.order[i] = turns.order[j];
    turns.order[j] = other;
  }
}

static void release_barrier() {
  if (block.exited) report_barrier_after_exit(block.barrier_line, block.exited, block.first_exited);
  if (run->check) checker_passed_barrier();
  came_on();
  run->thread_steps += static_cast<uint64_t>(block.live);
  block.arrived = 0;
  block.barrier_result = block.barrier_value;
  if (run->schedule != shuffled && !block.ring_is_stale) {
    ring.head -= static_cast<uint32_t>(block.size);
    return;
  }
  if (run->schedule == shuffled) shuffle_order();
  for (int i = 0; i < block.size; i++)
    if (threads.state[turns.order[i]] == State::at_barrier) ring.push_back(turns.order[i]);
  block.ring_is_stale = block.exited > 0 || run->schedule == shuffled;
}

static void thread_is_done(int t) {
  end_of_read();
  came_on();
  turns.threads_ended++;
  threads.state[t] = State::done;
  block.ring_is_stale = true;
  block.live--;
  if (block.exited++ == 0) block.first_exited = t;
  run->thread_steps++;
  leave_warp(t);
  if (block.arrived && block.arrived == block.live) release_barrier();
  if (block.cluster) leave_cluster(t);
}

// What every stack runs: one thread after another, until one of them waits and another stack takes over.
static void stack_main() {
  for (;;) {
    int me = block.current;
    uint16_t stack = threads.stack[me];
    call_kernel();
    thread_is_done(me);
    if (nobody_can_run()) {
      give_stack(stack);
      switch_to(me, main_context);
    }
    int next = take_next();
    make_current(next);
    if (threads.stack_pointer[next]) {
      give_stack(stack);
      switch_to(me, next);  // never returns
    }
    threads.stack[next] = stack;
    threads.stack_pointer[next] = &threads;  // started: any address but null; the first switch away overwrites it
  }
}

void *start_stack(int thread) {
  int stack = take_stack();
  threads.stack[thread] = static_cast<uint16_t>(stack);
  return prepare_stack(stack_top(stack), stack_main);
}

void end_thread() {
  int me = block.current;
  thread_is_done(me);
  give_stack(threads.stack[me]);  // nothing runs on it before this thread leaves it: the next may use it from its top
  if (nobody_can_run()) {
    switch_to(me, main_context);
  } else {
    int next = take_next();
    make_current(next);
    if (!threads.stack_pointer[next]) threads.stack_pointer[next] = start_stack(next);
    switch_to(me, next);
  }
  __builtin_unreachable();
}

void prepare_threads(const Step &step) {
  memset(threads.line, 0, sizeof threads.line);
  int t = 0;
  for (uint32_t z = 0; z < step.block[2]; z++)
    for (uint32_t y = 0; y < step.block[1]; y++)
      for (uint32_t x = 0; x < step.block[0]; x++, t++) threads.place[t] = {x, y, z, t};
  block.size = t;
}

void begin_block(uint64_t number) {
  int size = block.size;
  block = Block{};
  block.size = block.live = size;
  block.number = number;
  ring.head = ring.tail = Ring::capacity;
  woken.lanes = 0;
  for (int i = 0; i < size; i++) {
    turns.order[i] = static_cast<uint16_t>(run->schedule == reverse ? size - 1 - i : i);
    threads.stack_pointer[i] = nullptr;
    threads.state[i] = State::ready;
  }
  if (run->schedule == shuffled) shuffle_order();
  for (int i = 0; i < size; i++) ring.push_back(turns.order[i]);
  start_warps(size);
}

void run_block() {
  block.has_left = false;
  block.polls_in_all = 0;
  if (only_polls()) block.polls -= static_cast<uint32_t>(block.live);  // one look each
  while (block.live) {
    if (!nobody_can_run()) run_next(main_context);
    if (block.has_left) return;
    if (!block.live || !nobody_can_run() || go_on_in_warps()) continue;
    if (block.at_cluster_barrier || (block.at_grid_barrier && block.at_grid_barrier == block.live)) {
      block.has_left = true;
      return;
    }
    if (!report_stuck_warpgroup()) report_stuck_warp();
    stop_run(Status::stopped);
  }
}

void leave_block() {
  end_of_read();
  block.has_left = true;
  block.ring_is_stale = true;
  ring.push_back(block.current);
  switch_to(block.current, main_context);
}

void release_from_grid_barrier() {
  block.at_grid_barrier = 0;
  block.ring_is_stale = true;
  for (int i = 0; i < block.size; i++)
    if (threads.state[turns.order[i]] == State::at_grid_barrier) ring.push_back(turns.order[i]);
}

constexpr uint32_t patience = 4, patience_of_block = 1 << 15;

bool only_polls() { return block.polls > 4 * patience * static_cast<uint32_t>(block.live); }

// Every so often the others of its block run; when all of them do nothing but poll, other blocks run.
void poll() {
  block.polls++;
  turns.polls++;
  if ((only_polls() || ++block.polls_in_all > patience_of_block) && has_other_blocks()) return leave_block();
  if (block.polls % patience == 0) yield();
}

enum BarrierOperation { plain, count, all, any };

static inline int barrier(BarrierOperation operation, int predicate, int line) {
  end_of_read();
  if (!block.arrived) {
    block.barrier_line = line;
    block.barrier_value = operation == all;
  } else if (line != block.barrier_line) {
    report_divergent_barrier(line, block.barrier_line);
  }
  bool holds = predicate != 0;
  if (operation == count) block.barrier_value += holds;
  if (operation == all) block.barrier_value &= holds;
  if (operation == any) block.barrier_value |= holds;
  threads.state[block.current] = State::at_barrier;
  threads.line[block.current] = line;
  if (++block.arrived == block.live) release_barrier();
  wait();
  return block.barrier_result;
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

CUDA_ON_CPU_API void cuda_on_cpu_barrier(int line) { barrier(plain, 0, line); }
CUDA_ON_CPU_API int cuda_on_cpu_barrier_count(int predicate, int line) { return barrier(count, predicate, line); }
CUDA_ON_CPU_API int cuda_on_cpu_barrier_and(int predicate, int line) { return barrier(all, predicate, line); }
CUDA_ON_CPU_API int cuda_on_cpu_barrier_or(int predicate, int line) { return barrier(any, predicate, line); }

CUDA_ON_CPU_API void cuda_on_cpu_grid_barrier(int line) {
  end_of_read();
  if (!running_step()->cooperative) {
    report(Kind::grid_not_cooperative, 0, static_cast<uint32_t>(line));
    stop_run(Status::stopped);
  }
  threads.state[block.current] = State::at_grid_barrier;
  threads.line[block.current] = line;
  block.at_grid_barrier++;
  wait();
}

CUDA_ON_CPU_API void cuda_on_cpu_came_on() { came_on(); }

CUDA_ON_CPU_API void cuda_on_cpu_poll() { poll(); }
