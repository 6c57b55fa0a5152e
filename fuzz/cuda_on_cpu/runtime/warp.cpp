// Warp collectives: shuffles, votes, matches, reductions and __syncwarp.
//
// A lane posts its operand and waits; when the last live lane of the mask arrives, the results of all are computed at
// once. A lane that reads from one that takes no part gets the value that the run specifies.
// Long, since who meets, what results and who is woken are one piece of work on the same lanes.
//
// CUDA leaves open which lanes have converged (__activemask, coalesced_threads): here, all that reach the same line
// before nothing else in the block can run. So a branch that some lanes never enter has a group of those that do.
//
// If the run makes warps go in step, as all did before Volta, each access is such a meeting (step_with_warp). Of lanes
// that have diverged, those deepest in calls and earliest in the code go first: so they meet again after branches and
// loops, as far as the compiler has preserved the order of the code.
#include "block.h"
#include "checker.h"
#include "late_writes.h"
#include "report.h"
#include "stacks.h"
#include "state.h"
#include "warp_operations.h"

namespace cuda_on_cpu {

namespace {

// Lanes that have met so far: collectives with different masks can be open in one warp at the same time.
struct Meeting {
  uint32_t mask, arrived;
  WarpOperation operation;
  int line;  // for lanes that converge; for a step, its place in the library; else 0
  uint32_t depth;  // for a step: how much stack the function and its callers take
};

struct Warp {
  uint32_t live;
  int meetings;
  Meeting meeting[warp_lanes];
};

// The operands of a warp's lanes, and their results.
struct Lanes {
  uint64_t value[warp_lanes], result[warp_lanes];
  uint32_t source[warp_lanes];  // for shuffles: the lane to read from
};

struct Warps {
  Lanes lanes[max_warps];
  Warp warps[max_warps];
  Warps() {}  // start_warps begins the warps of a block
};
PerRun<Warps> all;

uint32_t lanes_of_warp(int first_thread) {
  int rest = block.size - first_thread;
  return rest >= warp_lanes ? ~0u : (1u << rest) - 1;
}

template <class Number>
uint64_t fold(const Meeting &m, const Lanes &lane) {
  bool first = true;
  Number total = 0;
  for (int l = 0; l < warp_lanes; l++) {
    if (!(m.arrived >> l & 1)) continue;
    Number value = static_cast<Number>(lane.value[l]);
    switch (m.operation) {
      case WarpOperation::add: total = static_cast<Number>(static_cast<uint32_t>(total) + static_cast<uint32_t>(value)); break;
      case WarpOperation::min_signed:
      case WarpOperation::min_unsigned: total = first || value < total ? value : total; break;
      case WarpOperation::max_signed:
      case WarpOperation::max_unsigned: total = first || value > total ? value : total; break;
      case WarpOperation::bit_and: total = first ? value : total & value; break;
      case WarpOperation::bit_or: total |= value; break;
      case WarpOperation::bit_xor: total ^= value; break;
      default: break;
    }
    first = false;
  }
  return static_cast<uint32_t>(total);
}

uint32_t ballot(const Meeting &m, const Lanes &lane) {
  uint32_t votes = 0;
  for (int l = 0; l < warp_lanes; l++)
    if (m.arrived >> l & 1 && lane.value[l] & 1) votes |= 1u << l;
  return votes;
}

uint32_t lanes_with(uint64_t value, const Meeting &m, const Lanes &lane) {
  uint32_t same = 0;
  for (int l = 0; l < warp_lanes; l++)
    if (m.arrived >> l & 1 && lane.value[l] == value) same |= 1u << l;
  return same;
}

void shuffle(const Meeting &m, Lanes &lane, int first_thread) {
  if (m.arrived == ~0u) {
    for (int l = 0; l < warp_lanes; l++) lane.result[l] = lane.value[lane.source[l] % warp_lanes];
    return;
  }
  for (int l = 0; l < warp_lanes; l++) {
    if (!(m.arrived >> l & 1)) continue;
    int source = static_cast<int>(lane.source[l] % warp_lanes);
    if (m.arrived >> source & 1) {
      lane.result[l] = lane.value[source];
    } else {
      lane.result[l] = run->missing_lane | static_cast<uint64_t>(run->missing_lane) << 32;
      report_inactive_lane(first_thread + l, source, m.mask);
    }
  }
}

// Nothing is known of lanes that do not exist, and so nothing of the result.
void work_together(const Meeting &m, const Lanes &lane, int first_thread) {
  int first = __builtin_ctz(m.arrived);
  if (m.arrived != ~0u)
    report_inactive_lane(first_thread + first, __builtin_ctz(~m.arrived), m.mask);
  else
    reinterpret_cast<const TogetherWork *>(lane.value[first])->work(lane.value);
}

void compute(const Meeting &m, Lanes &lane, int first_thread) {
  switch (m.operation) {
    case WarpOperation::sync:
      if (run->check) checker_synced_warp(first_thread, m.arrived, lanes_of_warp(first_thread));
      return;
    case WarpOperation::step:  // all that the warp has done so far came before this step
      checker_stepped_warp(first_thread, lanes_of_warp(first_thread));
      return;
    case WarpOperation::shuffle: shuffle(m, lane, first_thread); return;
    case WarpOperation::together: work_together(m, lane, first_thread); return;
    case WarpOperation::converge:
      for (int l = 0; l < warp_lanes; l++) lane.result[l] = m.arrived >> l & 1 ? m.arrived : lane.result[l];
      return;
    case WarpOperation::match:
      for (int l = 0; l < warp_lanes; l++)
        if (m.arrived >> l & 1) lane.result[l] = lanes_with(lane.value[l], m, lane);
      return;
    case WarpOperation::match_all: {
      bool all_same = lanes_with(lane.value[__builtin_ctz(m.arrived)], m, lane) == m.arrived;
      for (int l = 0; l < warp_lanes; l++)
        if (m.arrived >> l & 1) lane.result[l] = all_same ? m.mask : 0;
      return;
    }
    default: break;
  }
  bool is_signed = m.operation == WarpOperation::min_signed || m.operation == WarpOperation::max_signed;
  uint64_t result = m.operation == WarpOperation::ballot ? ballot(m, lane)
                    : is_signed                          ? fold<int32_t>(m, lane)
                                                         : fold<uint32_t>(m, lane);
  for (int l = 0; l < warp_lanes; l++)
    if (m.arrived >> l & 1) lane.result[l] = result;
}

uint32_t reversed(uint32_t bits) {
  bits = (bits & 0x55555555) << 1 | (bits >> 1 & 0x55555555);
  bits = (bits & 0x33333333) << 2 | (bits >> 2 & 0x33333333);
  bits = (bits & 0x0f0f0f0f) << 4 | (bits >> 4 & 0x0f0f0f0f);
  return __builtin_bswap32(bits);
}

// Woken lanes of another warp that have not run yet: the front of the ring is for them.
void put_back_woken() {
  int pending[warp_lanes], count = 0;
  for (; woken.lanes; woken.drop_front()) pending[count++] = woken.front();
  while (count) ring.push_front(pending[--count]);
  block.ring_is_stale = true;
}

void wake(uint32_t lanes_to_wake, int first_thread) {
  if (!lanes_to_wake) return;
  if (woken.lanes) put_back_woken();
  woken.first_thread = first_thread;
  woken.turn = run->schedule == shuffled ? static_cast<int>(random_bits() >> 59) : 0;
  woken.flip = run->schedule == reverse ? warp_lanes - 1 : 0;
  woken.lanes = run->schedule == reverse ? reversed(lanes_to_wake)
                                         : lanes_to_wake >> woken.turn | lanes_to_wake << (-woken.turn & 31);
}

void complete(Warp &warp, int number, int first_thread, uint32_t asleep) {
  Meeting meeting = warp.meeting[number];
  warp.meeting[number] = warp.meeting[--warp.meetings];
  compute(meeting, all.lanes[first_thread / warp_lanes], first_thread);
  if (meeting.operation != WarpOperation::step) {  // lanes that only poll take these as well
    came_on();
    run->thread_steps += static_cast<uint64_t>(__builtin_popcount(meeting.arrived));
  }
  wake(meeting.arrived & asleep, first_thread);
}

bool everyone_came(const Warp &warp, const Meeting &m) {
  uint32_t expected = m.mask & warp.live;
  return (m.arrived & expected) == expected;
}

Meeting &find_meeting(Warp &warp, const Meeting &like) {
  for (int i = 0; i < warp.meetings; i++) {
    Meeting &m = warp.meeting[i];
    if (m.mask == like.mask && m.operation == like.operation && m.line == like.line && m.depth == like.depth) return m;
  }
  warp.meeting[warp.meetings] = like;
  return warp.meeting[warp.meetings++];
}

// The current thread comes to a meeting, and goes on when it is over.
inline __attribute__((always_inline)) void meet(const Meeting &like) {  // a call would save all registers once more
  auto me = static_cast<uint32_t>(block.current), lane = me % warp_lanes;
  Warp &warp = all.warps[me / warp_lanes];
  Meeting &meeting = find_meeting(warp, like);
  meeting.arrived |= 1u << lane;
  if (everyone_came(warp, meeting)) {
    complete(warp, static_cast<int>(&meeting - warp.meeting), static_cast<int>(me - lane), ~(1u << lane));
  } else {
    threads.state[me] = State::in_warp;
    wait();
  }
}

// Of the lanes that go in step, those whose turn it is; -1 if there are none.
int next_step(const Warp &warp) {
  int next = -1;
  for (int i = 0; i < warp.meetings; i++) {
    const Meeting &m = warp.meeting[i];
    if (m.operation != WarpOperation::step) continue;
    bool is_deeper = next >= 0 && m.depth > warp.meeting[next].depth;
    bool is_earlier = next >= 0 && m.depth == warp.meeting[next].depth && m.line < warp.meeting[next].line;
    if (next < 0 || is_deeper || is_earlier) next = i;
  }
  return next;
}

// No thread can run. In every warp that goes in step some lanes continue without the others; true if there are any.
bool take_steps() {
  bool any = false;
  for (int w = 0; w * warp_lanes < block.size; w++) {
    int next = next_step(all.warps[w]);
    if (next < 0) continue;
    complete(all.warps[w], next, w * warp_lanes, ~0u);
    any = true;
  }
  return any;
}

}  // namespace

void start_warps(int threads_in_block) {
  for (int w = 0; w * warp_lanes < threads_in_block; w++) {
    all.warps[w].live = lanes_of_warp(w * warp_lanes);
    all.warps[w].meetings = 0;
  }
}

static size_t count_of_warps(int threads_in_block) {
  return (static_cast<size_t>(threads_in_block) + warp_lanes - 1) / warp_lanes;
}

size_t bytes_of_warps(int threads_in_block) { return count_of_warps(threads_in_block) * (sizeof *all.warps + sizeof *all.lanes); }

void save_warps(char *to) {
  size_t count = count_of_warps(block.size);
  memcpy(to, all.warps, count * sizeof *all.warps);
  memcpy(to + count * sizeof *all.warps, all.lanes, count * sizeof *all.lanes);
}

void restore_warps(const char *from) {
  size_t count = count_of_warps(block.size);
  memcpy(static_cast<void *>(all.warps), from, count * sizeof *all.warps);
  memcpy(static_cast<void *>(all.lanes), from + count * sizeof *all.warps, count * sizeof *all.lanes);
}

bool lane_is_live(int thread) { return all.warps[thread / warp_lanes].live >> (thread % warp_lanes) & 1; }

static void complete_all_that_can(Warp &warp, int first_thread) {
  for (int i = 0; i < warp.meetings; i++)
    if (everyone_came(warp, warp.meeting[i])) complete(warp, i--, first_thread, ~0u);
}

void leave_warp(int thread) {
  Warp &warp = all.warps[thread / warp_lanes];
  warp.live &= ~(1u << (thread % warp_lanes));
  if (__builtin_expect(warp.meetings, 0)) complete_all_that_can(warp, thread & ~(warp_lanes - 1));
}

void step_with_warp(uint32_t place, const void *frame) {
  auto depth = static_cast<uint32_t>(stack_top(threads.stack[block.current]) - static_cast<const char *>(frame));
  meet({~0u, 0, WarpOperation::step, static_cast<int>(place), depth});
}

// No thread can run. Lanes that converge continue with those that came; true if there are any.
static bool go_on_without_the_others() {
  for (int w = 0; w * warp_lanes < block.size; w++)
    for (int i = 0; i < all.warps[w].meetings; i++)
      if (all.warps[w].meeting[i].operation == WarpOperation::converge) {
        complete(all.warps[w], i, w * warp_lanes, ~0u);
        return true;
      }
  return false;
}

bool go_on_in_warps() { return take_steps() || go_on_without_the_others(); }

// No thread can run. Threads in a collective wait for lanes that wait elsewhere: no hardware can resolve this.
void report_stuck_warp() {
  for (int w = 0; w * warp_lanes < block.size; w++) {
    Warp &warp = all.warps[w];
    if (!warp.meetings) continue;
    const Meeting &m = warp.meeting[0];
    int waiting = w * warp_lanes + __builtin_ctz(m.arrived);
    int missing = w * warp_lanes + __builtin_ctz(m.mask & warp.live & ~m.arrived);
    report_lanes_never_meet(waiting, missing, m.mask, threads.state[missing] == State::at_barrier);
    return;
  }
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

CUDA_ON_CPU_API uint64_t cuda_on_cpu_warp(WarpOperation operation, uint32_t mask, uint64_t value, int source,
                                          int line) {
  end_of_read();
  auto me = static_cast<uint32_t>(block.current), lane = me % warp_lanes, number = me / warp_lanes;
  uint32_t my_bit = 1u << lane;
  threads.line[me] = line;
  if (!(mask & my_bit)) {
    report_mask_without_caller(mask, line);
    mask |= my_bit;
  }
  all.lanes[number].value[lane] = value;
  all.lanes[number].source[lane] = static_cast<uint32_t>(source);
  meet({mask, 0, operation, operation == WarpOperation::converge ? line : 0, 0});
  return all.lanes[number].result[lane];
}
