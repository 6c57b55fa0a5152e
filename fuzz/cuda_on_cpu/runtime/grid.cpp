// Blocks run one after the other, each to its end, as long as none of them waits for another. A block that only polls
// makes room for the next: then several are resident together, as they are on a GPU, and take turns. CUDA promises no
// more than that: a grid may not wait for more blocks than the GPU holds at once.
// Long, because the same lists decide which block runs next, which one waits and which one can never continue.
#include "grid.h"

#include <sys/mman.h>

#include <cstring>
#include <initializer_list>

#include "async_copies.h"
#include "block.h"
#include "bulk_copies.h"
#include "checker.h"
#include "cluster.h"
#include "memory_map.h"
#include "ordering.h"
#include "report.h"
#include "sampling.h"
#include "shared_memory.h"
#include "signals.h"
#include "stacks.h"
#include "tensor_memory.h"
#include "warpgroups.h"

namespace cuda_on_cpu {

namespace {

// An H200's: a kernel that waits for more blocks than that finishes on no current GPU.
constexpr uint64_t threads_each = 2048, blocks_each = 32, shared_each = 233472, shared_reserved = 1024;
constexpr uint32_t residents_by_turns = 4;  // where no block waits, and blocks only switch now and then
constexpr uint32_t rounds_in_vain = 64;  // all have polled this many times without progress

struct Resident {
  BlockOrdering *ordering;
  Threads *threads;
  char *warps;
  Block block;
  Ring ring;
  Woken woken;
  uint16_t order[max_threads];
  Cluster *cluster;
};

// Numbers of residents; the one that has waited longest comes first.
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

// Their memory is kept for the next run.
struct Residents {
  Resident at[max_residents];
};
PerProcess<Residents> residents;

struct Grid {
  Queue waiting, at_barrier;
  uint32_t unused[max_residents], unused_count, used_count;  // the most recently used first: its memory is in the caches
  uint32_t loaded;                // the block that runs
  uint32_t limit;
  uint32_t cluster_size, parked;  // blocks that wait for others of their cluster
  bool limited_by_gpu, last_only_polls, starts_next;
  uint32_t waiting_in_full;  // blocks in `waiting` that are checked in full, in a launch that may be sampled
  uint64_t next_position, starts_in_all, progress_before, in_vain;
  const Step *step;
  const BlockOrder *order;
  Index *block_index;
  Grid() : step(nullptr) { waiting.head = at_barrier.head = 0; }  // run_grid sets the rest
};
PerRun<Grid> grid;

template <class T>
bool allocate(T *&made, size_t count = 1) {
  if (made) return true;
  void *memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) made = static_cast<T *>(memory);
  return made;
}

// The residents that begin next: those that ended last, then new ones.
uint32_t unused_at(uint32_t which) { return which < grid.unused_count ? grid.unused[grid.unused_count - 1 - which] : grid.used_count + which - grid.unused_count; }

uint32_t take_unused() { return grid.unused_count ? grid.unused[--grid.unused_count] : grid.used_count++; }

bool prepare_residents(uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t number = unused_at(i);
    if (number >= max_residents) return false;
    Resident &r = residents.at[number];
    if (!allocate(r.ordering) || !allocate(r.threads) || !allocate(r.warps, bytes_of_warps(max_threads)) || (grid.cluster_size > 1 && !allocate(r.cluster)) ||
        !map_shared_of(number, grid.step->shared, grid.cluster_size > 1))
      return false;
  }
  return true;
}

void copy_threads(Threads &to, const Threads &from) {
  auto copied = [](auto *into, const auto *out_of) { memcpy(into, out_of, static_cast<size_t>(block.size) * sizeof *into); };
  copied(to.stack_pointer, from.stack_pointer);
  copied(to.state, from.state);
  copied(to.stack, from.stack);
  copied(to.line, from.line);
}

void save() {
  Resident &r = residents.at[grid.loaded];
  r.block = block;
  r.ring = ring;
  r.woken = woken;
  copy_threads(*r.threads, threads);
  memcpy(r.order, turns.order, sizeof turns.order);
  save_warps(r.warps);
}

// The first thread that waits for this; -1 if none does.
int waiting_in(const Threads &those, State state) {
  for (int t = 0; t < block.size; t++)
    if (those.state[t] == state) return t;
  return -1;
}

uint64_t cluster_of_block(uint64_t number) {
  uint64_t cluster = 0, row = 1;
  for (int axis = 0; axis < 3; axis++) {
    cluster += row * (number % grid.step->grid[axis] / grid.step->cluster[axis]);
    row *= grid.step->grid[axis] / grid.step->cluster[axis];
    number /= grid.step->grid[axis];
  }
  return cluster;
}

// The grid's number of the block with this rank in a cluster.
uint64_t block_of_cluster(uint64_t cluster, uint32_t rank) {
  uint64_t at[3], rest = cluster;
  for (int axis = 0; axis < 3; axis++) {
    uint64_t side = grid.step->cluster[axis], clusters = grid.step->grid[axis] / side;
    at[axis] = rest % clusters * side + rank % side;
    rest /= clusters;
    rank /= static_cast<uint32_t>(side);
  }
  return at[0] + grid.step->grid[0] * (at[1] + grid.step->grid[1] * at[2]);
}

Index index_of(uint64_t number) {
  return {static_cast<uint32_t>(number % grid.step->grid[0]), static_cast<uint32_t>(number / grid.step->grid[0] % grid.step->grid[1]),
          static_cast<uint32_t>(number / grid.step->grid[0] / grid.step->grid[1])};
}

void show_block(uint64_t number) { *grid.block_index = index_of(number); }

void start(uint32_t number, uint64_t block_number, bool lightly) {
  grid.loaded = number;
  enter_shared_of(number);
  forget_copies_of(number);
  enter_copies_of(number);
  forget_mbarriers_of(number);
  forget_bulk_copies_of(number);
  forget_products_of(number);
  forget_tensor_memory_of(number);
  enter_mbarriers_of(number);
  enter_bulk_copies_of(number);
  enter_products_of(number);
  enter_tensor_memory_of(number);
  poison_shared(grid.step->shared);
  note_block_start();
  begin_block(block_number);
  block.is_light = lightly;
  show_block(block_number);
  if (!run->check) return;
  checker_goes_lightly(lightly);
  checker_starts_block(*residents.at[number].ordering);
}

void resume(uint32_t number) {
  Resident &r = residents.at[number];
  if (number != grid.loaded) {
    grid.loaded = number;
    enter_shared_of(number);
    enter_copies_of(number);
    enter_mbarriers_of(number);
    enter_bulk_copies_of(number);
    enter_products_of(number);
    enter_tensor_memory_of(number);
    block = r.block;
    ring = r.ring;
    woken = r.woken;
    copy_threads(threads, *r.threads);
    memcpy(turns.order, r.order, sizeof turns.order);
    restore_warps(r.warps);
    show_block(block.number);
  }
  if (run->check) {
    checker_goes_lightly(block.is_light);
    checker_resumes_block(*r.ordering);
  }
  if (block.cluster) release_from_cluster_barrier();
}

// The blocks of a cluster begin together; the first in the schedule runs.
uint32_t start_blocks(const Start &next) {
  uint32_t first = take_unused();
  uint64_t number = next.block;
  if (grid.cluster_size == 1) {
    start(first, number, next.lightly);
    return first;
  }
  if (run->only_block_count) number = cluster_of_block(number);
  Cluster &c = *residents.at[first].cluster;
  c = {};
  c.size = c.left = grid.cluster_size;
  c.live = grid.cluster_size * static_cast<uint32_t>(block.size);
  memcpy(c.side, grid.step->cluster, sizeof c.side);
  uint32_t first_rank = run->schedule == forward ? 0 : run->schedule == reverse ? grid.cluster_size - 1 : static_cast<uint32_t>(random_bits() % grid.cluster_size);
  for (uint32_t i = 0; i < grid.cluster_size; i++) {
    uint32_t rank = (run->schedule == reverse ? first_rank - i + grid.cluster_size : first_rank + i) % grid.cluster_size;
    uint32_t resident = i ? take_unused() : first;
    uint64_t in_grid = block_of_cluster(number, rank);
    c.member[rank].resident = resident;
    c.member[rank].block = in_grid;
    c.member[rank].ordering = residents.at[resident].ordering;
    start(resident, in_grid, false);
    block.cluster = &c;
    block.rank = rank;
    save();
    if (i) grid.waiting.push(resident);
  }
  resume(first);
  return first;
}

// Its memory is reused as soon as no block of its cluster may access it there.
void end_block(uint32_t number) {
  if (grid.cluster_size == 1) {
    grid.unused[grid.unused_count++] = number;
    return;
  }
  Cluster &c = *block.cluster;
  c.member[block.rank].has_ended = true;
  if (--c.left) return;
  for (uint32_t rank = 0; rank < c.size; rank++) grid.unused[grid.unused_count++] = c.member[rank].resident;
}

// Other blocks run: this one only polls, or it is their turn, or it waits for them.
void leave(uint32_t number) {
  save();
  if (block.at_cluster_barrier && nobody_can_run() && block.waits_in_phase == block.cluster->phase) {
    block.cluster->member[block.rank].is_parked = true;
    grid.parked++;
  } else {
    bool at_barrier = block.at_grid_barrier == block.live;
    (at_barrier ? grid.at_barrier : grid.waiting).push(number);
    grid.waiting_in_full += !at_barrier && !block.is_light;
  }
}

// No thread can run, and a block waits at the barrier of its cluster: for which thread?
[[noreturn]] void report_stuck_cluster() {
  for (uint32_t r = 0; r < grid.used_count; r++) {
    const Block &b = residents.at[r].block;
    if (!b.cluster || !b.cluster->member[b.rank].is_parked || b.cluster->member[b.rank].resident != r) continue;
    resume(r);
    block.current = waiting_in(threads, State::at_cluster_barrier);
    const Cluster &c = *block.cluster;
    for (uint32_t rank = 0; rank < c.size; rank++) {
      if (c.member[rank].has_ended) continue;
      const Threads &its = *residents.at[c.member[rank].resident].threads;
      for (State state : {State::at_barrier, State::in_warp, State::at_grid_barrier})
        if (int t = waiting_in(its, state); t >= 0) {
          report_cluster_never_meets(c.live - c.arrived, c.member[rank].block, t, its.line[t]);
          stop_run(Status::stopped);
        }
    }
    report_cluster_never_meets(c.live - c.arrived, block.number, block.current, threads.line[block.current]);
    break;
  }
  stop_run(Status::stopped);
}

uint32_t gpu_limit() {
  uint64_t each = threads_each / static_cast<uint64_t>(block.size);
  uint64_t by_shared = shared_each / (shared_reserved + grid.step->shared + shared_bytes_of_arrays());
  if (by_shared < each) each = by_shared;
  if (blocks_each < each) each = blocks_each;
  return static_cast<uint32_t>((each ? each : 1) * usual_multiprocessors);
}

bool can_start(const BlockOrder &order) {
  uint32_t resident = grid.waiting.count + grid.at_barrier.count + grid.parked;
  if (grid.next_position == grid.starts_in_all || resident + grid.cluster_size > grid.limit) return false;
  if (next_starts_lightly(order, grid.next_position) && grid.waiting_in_full) return false;
  if (grid.waiting.count && !grid.last_only_polls && resident >= residents_by_turns) return false;
  uint64_t stacks = uint64_t{resident + grid.cluster_size} * static_cast<uint64_t>(block.size);
  if (!has_stacks_for(stacks) || !prepare_residents(grid.cluster_size)) {
    if (!resident && grid.cluster_size > 1) stop_run(Status::too_large);
    if (resident) grid.limit = resident, grid.limited_by_gpu = false;
    return !resident;
  }
  return true;
}

// All that are left have come to grid.sync().
void pass_grid_barrier() {
  if (run->check) checker_passed_grid_barrier();
  note_block_start();  // a grid that meets again and again makes progress, and does not hang
  while (grid.at_barrier.count) {
    uint32_t number = grid.at_barrier.pop();
    resume(number);
    release_from_grid_barrier();
    save();
    grid.waiting.push(number);
  }
}

void look_whether_anything_comes_on() {
  if (turns.progress != grid.progress_before || !grid.last_only_polls) grid.in_vain = 0;
  grid.progress_before = turns.progress;
  if (++grid.in_vain > uint64_t{rounds_in_vain} * (grid.waiting.count + 1) && grid.next_position < grid.starts_in_all) {
    if (!grid.limited_by_gpu) stop_run(Status::crowded);
    report_waits_for_more_blocks(grid.waiting.count + grid.at_barrier.count + grid.parked);
    stop_run(Status::stopped);
  }
}

uint64_t greatest_common_divisor(uint64_t a, uint64_t b) { return b ? greatest_common_divisor(b, a % b) : a; }

}  // namespace

uint32_t size_of_cluster(const Step &s) { return s.cluster[0] ? s.cluster[0] * s.cluster[1] * s.cluster[2] : 1; }

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

bool has_other_blocks() { return grid.waiting.count || grid.next_position < grid.starts_in_all; }

Cluster &own_cluster() {
  if (block.cluster) return *block.cluster;
  Resident &r = residents.at[grid.loaded];
  if (!allocate(r.cluster)) stop_run(Status::too_large);
  *r.cluster = {};
  r.cluster->size = r.cluster->left = 1;
  for (uint32_t &side : r.cluster->side) side = 1;
  r.cluster->live = static_cast<uint32_t>(block.live);
  r.cluster->member[0].resident = grid.loaded;
  r.cluster->member[0].block = block.number;
  r.cluster->member[0].ordering = r.ordering;
  return *(block.cluster = r.cluster);
}

void unpark(Cluster &c) {
  for (uint32_t rank = 0; rank < c.size; rank++)
    if (c.member[rank].is_parked) {
      c.member[rank].is_parked = false;
      grid.waiting.push(c.member[rank].resident);
      grid.parked--;
    }
}

const Step *running_step() { return grid.step; }

bool cancel_next_start(Index &first) {
  if (grid.next_position == grid.starts_in_all) return false;
  uint64_t number = next_start(*grid.order, grid.next_position++).block;
  if (grid.cluster_size > 1) number = block_of_cluster(run->only_block_count ? cluster_of_block(number) : number, 0);
  first = index_of(number);
  run->blocks_done += grid.cluster_size;
  turns.progress++;
  return true;
}

void run_grid(const Step &the_step, const BlockOrder &order_of_starts, Index *index) {
  grid.step = &the_step;
  grid.block_index = index;
  grid.order = &order_of_starts;
  grid.waiting.count = grid.waiting_in_full = grid.at_barrier.count = grid.unused_count = grid.used_count = grid.parked = 0;
  grid.cluster_size = size_of_cluster(the_step);
  grid.limit = has_place_for_residents() ? gpu_limit() : 1;
  grid.limited_by_gpu = grid.limit > 1 && grid.limit <= max_residents;
  if (grid.limit > max_residents) grid.limit = max_residents;
  if (grid.limit < grid.cluster_size) stop_run(Status::too_large);
  grid.last_only_polls = grid.starts_next = true;
  grid.next_position = grid.in_vain = 0;
  grid.progress_before = turns.progress;
  grid.starts_in_all = order_of_starts.count;
  begin_sampling(the_step, grid.starts_in_all);
  run->launches_begun++;
  run->blocks_of_launch = grid.starts_in_all * grid.cluster_size;
  for (run->blocks_done = 0; run->blocks_done < grid.starts_in_all * grid.cluster_size;) {
    uint32_t number;
    if ((grid.starts_next || !grid.waiting.count) && can_start(order_of_starts)) {
      number = start_blocks(next_start(order_of_starts, grid.next_position++));
    } else if (grid.waiting.count) {
      number = grid.waiting.pop();
      resume(number);
      if (grid.waiting_in_full && !block.is_light) grid.waiting_in_full--;
    } else if (grid.parked) {
      report_stuck_cluster();
    } else if (grid.next_position == grid.starts_in_all && !run->blocks_done) {
      pass_grid_barrier();
      continue;
    } else {
      bool some_cannot_start = grid.next_position < grid.starts_in_all;
      if (some_cannot_start && !grid.limited_by_gpu) stop_run(Status::crowded);
      report_grid_never_meets(grid.at_barrier.count, some_cannot_start);
      stop_run(Status::stopped);
    }
    run_block();
    grid.starts_next = !grid.starts_next || !grid.waiting.count;
    if (!block.has_left) {
      end_bulk_copies();
      end_tensor_memory();
      if (run->check) checker_ends_block();
      run->blocks_done++;
      turns.progress++;
      count_ended_block();
      end_block(number);
      continue;
    }
    grid.last_only_polls = only_polls();
    if (grid.last_only_polls) check_all_that_start();
    leave(number);
    look_whether_anything_comes_on();
  }
  end_sampling();
  enter_shared_of(0);
  if (grid.used_count > 1) unmap_shared_of_residents();
}

}  // namespace cuda_on_cpu
