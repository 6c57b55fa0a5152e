// Blocks run one after the other, each to its end, as long as none of them waits for another. One that only polls makes
// room for the next: then several are resident together, as they are on a card, and take turns. CUDA promises no more
// than that: a grid may not wait for more blocks than the card holds at once.
#include "grid.h"

#include <sys/mman.h>

#include <cstring>

#include "async_copies.h"
#include "block.h"
#include "checker.h"
#include "memory_map.h"
#include "ordering.h"
#include "report.h"
#include "shared_memory.h"
#include "signals.h"
#include "stacks.h"

namespace cuda_on_cpu {

uint64_t progress;

namespace {

// An H200's: what waits for more blocks than that comes to its end on no card of today.
constexpr uint64_t multiprocessors = 132, threads_each = 2048, blocks_each = 32, shared_each = 233472, shared_reserved = 1024;
constexpr uint32_t residents_by_turns = 4;  // where nobody waits, and blocks only change over now and then
constexpr uint32_t rounds_in_vain = 64;  // all have polled, so many times, and nothing has come on

struct Resident {
  BlockOrdering *ordering;
  Threads *threads;
  char *warps;
  Block block;
  Ring ring;
  Woken woken;
  uint16_t order[max_threads];
};

// Numbers of residents, the one that has waited longest first.
struct Queue {
  uint16_t number[max_residents];
  uint32_t head, count;
  void push(uint32_t r) { number[(head + count++) % max_residents] = static_cast<uint16_t>(r); }
  uint32_t pop() {
    uint32_t r = number[head];
    head = (head + 1) % max_residents, count--;
    return r;
  }
};

Resident residents[max_residents];
Queue waiting, at_barrier;
uint32_t unused[max_residents], unused_count, used_count;  // the last one used first: its memory is in the caches
uint32_t loaded;  // whose state the globals hold
uint32_t limit;
bool limited_by_card, last_only_polls, starts_next;
uint64_t next_position, blocks_in_all, progress_seen, in_vain;
const Step *step;
Index *block_index;

template <class T>
bool allocate(T *&made, size_t count = 1) {
  if (made) return true;
  void *memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) made = static_cast<T *>(memory);
  return made;
}

uint32_t next_unused() { return unused_count ? unused[unused_count - 1] : used_count; }

bool prepare_resident(uint32_t number) {
  if (number == max_residents) return false;
  Resident &r = residents[number];
  return allocate(r.ordering) && allocate(r.threads) && allocate(r.warps, bytes_of_warps(max_threads)) &&
         map_shared_of(number, step->shared);
}

void copy_threads(Threads &to, const Threads &from) {
  auto copied = [](auto *into, const auto *out_of) { memcpy(into, out_of, static_cast<size_t>(block.size) * sizeof *into); };
  copied(to.stack_pointer, from.stack_pointer);
  copied(to.state, from.state);
  copied(to.stack, from.stack);
  copied(to.line, from.line);
}

void save() {
  Resident &r = residents[loaded];
  r.block = block;
  r.ring = ring;
  r.woken = woken;
  copy_threads(*r.threads, threads);
  memcpy(r.order, order, sizeof order);
  save_warps(r.warps);
}

void show_block(uint64_t number) {
  *block_index = {static_cast<uint32_t>(number % step->grid[0]), static_cast<uint32_t>(number / step->grid[0] % step->grid[1]),
                  static_cast<uint32_t>(number / step->grid[0] / step->grid[1])};
}

void start(uint32_t number, uint64_t block_number) {
  loaded = number;
  enter_shared_of(number);
  forget_copies_of(number);
  enter_copies_of(number);
  poison_shared(step->shared);
  note_block_start();
  begin_block(block_number);
  show_block(block_number);
  if (run->check) checker_starts_block(*residents[number].ordering);
}

void resume(uint32_t number) {
  Resident &r = residents[number];
  if (number != loaded) {
    loaded = number;
    enter_shared_of(number);
    enter_copies_of(number);
    block = r.block;
    ring = r.ring;
    woken = r.woken;
    copy_threads(threads, *r.threads);
    memcpy(order, r.order, sizeof order);
    restore_warps(r.warps);
    show_block(block.number);
  }
  if (run->check) checker_resumes_block(*r.ordering);
}

uint32_t card_limit() {
  uint64_t each = threads_each / static_cast<uint64_t>(block.size);
  uint64_t by_shared = shared_each / (shared_reserved + step->shared + shared_bytes_of_arrays());
  if (by_shared < each) each = by_shared;
  if (blocks_each < each) each = blocks_each;
  return static_cast<uint32_t>((each ? each : 1) * multiprocessors);
}

bool can_start() {
  uint32_t resident = waiting.count + at_barrier.count;
  if (next_position == blocks_in_all || resident >= limit) return false;
  if (waiting.count && !last_only_polls && resident >= residents_by_turns) return false;
  if (!has_stacks_for(uint64_t{resident + 1} * static_cast<uint64_t>(block.size)) || !prepare_resident(next_unused())) {
    if (resident) limit = resident, limited_by_card = false;
    return !resident;
  }
  return true;
}

// All who are left have come to grid.sync().
void pass_grid_barrier() {
  if (run->check) checker_passed_grid_barrier();
  while (at_barrier.count) {
    uint32_t number = at_barrier.pop();
    resume(number);
    release_from_grid_barrier();
    save();
    waiting.push(number);
  }
}

void look_whether_anything_comes_on() {
  if (progress != progress_seen || !last_only_polls) in_vain = 0;
  progress_seen = progress;
  if (++in_vain > uint64_t{rounds_in_vain} * (waiting.count + 1) && next_position < blocks_in_all) {
    report_waits_for_more_blocks(waiting.count + at_barrier.count, limited_by_card);
    stop_run(Status::stopped);
  }
}

uint64_t greatest_common_divisor(uint64_t a, uint64_t b) { return b ? greatest_common_divisor(b, a % b) : a; }

}  // namespace

BlockOrder::BlockOrder(uint64_t blocks) : count(run->only_block_count ? run->only_block_count : blocks), factor(1), shift(0) {
  if (run->schedule != shuffled || blocks < 2) return;
  factor = random_bits() % blocks | 1;
  while (greatest_common_divisor(factor, blocks) != 1) factor++;
  shift = random_bits() % blocks;
}

uint64_t BlockOrder::at(uint64_t position) const {
  if (run->only_block_count) return run->only_blocks[position];
  if (run->schedule == reverse) return count - 1 - position;
  return static_cast<uint64_t>((static_cast<unsigned __int128>(position) * factor + shift) % count);
}

bool has_other_blocks() { return waiting.count || next_position < blocks_in_all; }

void run_grid(const Step &the_step, const BlockOrder &blocks, Index *index) {
  step = &the_step;
  block_index = index;
  waiting.count = at_barrier.count = unused_count = used_count = 0;
  limit = has_place_for_residents() ? card_limit() : 1;
  limited_by_card = limit > 1 && limit <= max_residents;
  if (limit > max_residents) limit = max_residents;
  last_only_polls = starts_next = true;
  next_position = in_vain = 0;
  blocks_in_all = blocks.count;
  for (run->blocks_done = 0; run->blocks_done < blocks.count;) {
    uint32_t number;
    if ((starts_next || !waiting.count) && can_start()) {
      number = next_unused();
      unused_count ? unused_count-- : used_count++;
      start(number, blocks.at(next_position++));
    } else if (waiting.count) {
      number = waiting.pop();
      resume(number);
    } else if (next_position == blocks.count && !run->blocks_done) {
      pass_grid_barrier();
      continue;
    } else {
      report_grid_never_meets(next_position < blocks.count, at_barrier.count, limited_by_card);
      stop_run(Status::stopped);
    }
    run_block();
    starts_next = !starts_next || !waiting.count;
    if (!block.has_left) {
      if (run->check) checker_ends_block();
      run->blocks_done++;
      progress++;
      unused[unused_count++] = number;
      continue;
    }
    last_only_polls = only_polls();
    save();
    (block.at_grid_barrier == block.live ? at_barrier : waiting).push(number);
    look_whether_anything_comes_on();
  }
  enter_shared_of(0);
  if (used_count > 1) unmap_shared_of_residents();
}

}  // namespace cuda_on_cpu
