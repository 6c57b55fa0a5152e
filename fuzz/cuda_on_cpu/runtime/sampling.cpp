#include "sampling.h"

#include <algorithm>

#include "arena.h"
#include "block.h"
#include "checker.h"
#include "chunks.h"
#include "light_checks.h"
#include "state.h"
#include "unwritten.h"

namespace cuda_on_cpu {

namespace {

// The sample: one block in so many, but not fewer or more than this. Half of it are the first and the last blocks; half are
// pairs of neighbours between them, others in other runs.
constexpr uint64_t one_in = 16, fewest = 2, most = 32;

// Threads that do much lie in few blocks: a thread for each row of 50,000 elements. Of fewer blocks than these the sample
// would be most.
constexpr uint64_t few_blocks = 8;

struct Sample {
  uint64_t chosen[most];  // in order
  uint64_t count, next;   // next: of the chosen ones, and of all others the position of the next
  uint64_t next_position;
  uint64_t blocks;
  uint64_t made_before;   // accesses in full
  uint64_t chunks_before;
  uint64_t wanted;        // accesses in full after which the launch is sampled
  bool is_allowed, is_drawn;
  Sample() : is_allowed(false), is_drawn(false) {}
};
PerRun<Sample> sample;

struct Budget {
  uint64_t made, made_by_libraries;  // accesses in full, by all launches before this one; and by products of matrices
};
PerRun<Budget> budget;

bool is_chosen(uint64_t block) { return std::binary_search(sample.chosen, sample.chosen + sample.count, block); }

void choose(uint64_t block) {
  if (sample.count < most && block < sample.blocks && std::find(sample.chosen, sample.chosen + sample.count, block) == sample.chosen + sample.count)
    sample.chosen[sample.count++] = block;
}

// Those of the blocks that have not run yet: the positions from `position` on.
void draw_sample(const BlockOrder &order, uint64_t position) {
  uint64_t wanted = std::clamp(sample.blocks / one_in, fewest, most), ends = std::max<uint64_t>(wanted / 4, 1);
  sample.count = sample.next = 0;
  for (uint64_t i = 0; i < ends; i++) choose(i), choose(sample.blocks - 1 - i);
  uint64_t pairs = wanted / 4, apart = sample.blocks / (pairs + 1), from = (2 * run->seed + run->schedule) * 0x9E3779B97F4A7C15ull >> 32;
  for (uint64_t i = 0; i < pairs; i++) {
    uint64_t between = apart * i + apart / 2 + from % apart;
    choose(between), choose(between + 1);
  }
  std::sort(sample.chosen, sample.chosen + sample.count);
  for (uint64_t i = 0; i < position; i++)
    if (uint64_t *known = std::lower_bound(sample.chosen, sample.chosen + sample.count, order.at(i)); known != sample.chosen + sample.count && *known == order.at(i)) {
      std::copy(known + 1, sample.chosen + sample.count, known);
      sample.count--;
    }
  sample.is_drawn = true;
  sample.next_position = position;
  run->sampled_launches++;
  run->sampled_blocks += sample.blocks;
  run->blocks_in_full += position;
}

// The cells of a chunk of a large array are a thousand pages that the system has to find and fill: as much work as so many
// accesses. Where hardly any of its words are accessed, hardly any of these pages is touched.
uint64_t made_in_this_launch() {
  constexpr uint64_t of_chunk = 1 << 20, pages_each = 16;
  uint64_t accesses = checker_accesses_in_full() - sample.made_before, chunks = chunks_with_cells() - sample.chunks_before;
  return accesses + std::min(chunks * of_chunk, accesses * pages_each);
}

}  // namespace

void begin_sampling(const Step &step, uint64_t blocks) {
  sample = Sample{};
  sample.blocks = blocks;
  sample.made_before = checker_accesses_in_full();
  sample.chunks_before = chunks_with_cells();
  bool has_few = blocks < run->sampled_from;
  sample.wanted = has_few ? run->accesses_before_few : run->accesses_in_full;
  bool is_wanted = run->check && run->sampled_from && (!has_few || blocks >= few_blocks);
  sample.is_allowed = is_wanted && !step.cooperative && size_of_cluster(step) == 1 && !(run->assume & warps_in_step) && arena_start() == usual_arena;
}

void end_sampling() {
  budget.made += made_in_this_launch();
  forget_lines();
  if (run->check) checker_goes_lightly(false);
}

bool has_spent_budget() { return budget.made + budget.made_by_libraries >= run->accesses_in_full; }
void count_accesses_of_library(uint64_t accesses) { budget.made_by_libraries += accesses; }

bool next_starts_lightly(const BlockOrder &order, uint64_t position) {
  if (sample.is_allowed && !sample.is_drawn && budget.made + made_in_this_launch() >= sample.wanted) draw_sample(order, position);
  return sample.is_allowed && sample.is_drawn && sample.next == sample.count;
}

Start next_start(const BlockOrder &order, uint64_t position) {
  if (!sample.is_drawn) return {order.at(position), false};
  if (sample.next < sample.count) {
    run->blocks_in_full++;
    uint64_t next = sample.next++;
    return {sample.chosen[run->schedule == reverse ? sample.count - 1 - next : next], false};
  }
  while (is_chosen(order.at(sample.next_position))) sample.next_position++;
  if (sample.is_allowed) remember_lines();
  run->blocks_in_full += !sample.is_allowed;
  return {order.at(sample.next_position++), sample.is_allowed};
}

void check_all_that_start() {
  if (!sample.is_allowed) return;
  sample.is_allowed = false;
  forget_lines();
}

void count_ended_block() {
  run->blocks_run++;
  run->blocks_checked += !block.is_light;
  run->blocks_in_part += block.is_light && block.has_met;
}

}  // namespace cuda_on_cpu
