// The short path through the checker: an access of whole words, or of part of one, in bounds, initialised, and ordered
// after earlier accesses by the last barrier or because they are the same thread's. Nearly every access of a correct
// kernel is like that.
//
// It decides nothing: anything that is not plainly fine takes the long path (checker.cpp), which would have done the
// same.
#pragma once
#include "checker.h"
#include "memory_map.h"
#include "ordering.h"

namespace cuda_on_cpu {

struct CheckerState {
  uintptr_t last_pc;
  uint32_t until_turn = 1;  // after this many accesses another thread may run
  bool has_turns;
  bool active;          // while kernels run: the constructors of a library that is being loaded call the hooks, too
  bool is_light;        // the running block is checked lightly (light_checks.h)
  bool has_updated;     // another block must run at the next turn
  bool watches_host;    // while the host runs, and there is work that it has not waited for
  uint32_t updates;     // after this place another block ran, in this launch
  uint32_t until_turn_in_full;  // while a block is checked lightly: what `until_turn` was before
  uint64_t drawn;       // the sum of all `until_turn` of blocks that are checked in full
  uintptr_t strong_read;  // the place last read by an atomic or as volatile: a thread that waits, waits for it
};

extern PerRun<CheckerState> checker;

// Called where an access from `pc` is next, in a function whose stack frame lies at `frame`.
void take_turn(uintptr_t pc, const void *frame);

// Called where an atomic reads and writes global memory.
void turn_behind_update();

// Precedes every access: is it another thread's turn now? Where the checker is not active, it is at every access.
static inline bool turn_is_over() { return __builtin_expect(!--checker.until_turn, false); }

static inline Trace trace_of_word(uint32_t me, uintptr_t pc) {
  uint64_t place = pc - memory_map.library_start;
  return {ordering.now, who_is(me, place), how_is(place, Trace::whole)};
}

static inline uint16_t settled_by(uint32_t warp) { return static_cast<uint16_t>((ordering.now & 0xff) | warp << 8); }

// The generated code looks there first. Where another thread may run at any access, it must ask each time.
static inline void settle_for_reads(uintptr_t address, uint16_t &settled, bool for_all, uint32_t warp) {
  settled = settled_by(for_all ? 0 : 1 + warp);
  if (!checker.has_turns) settle(address, for_all ? 0 : warp_codes.of[warp]);
}

// Suppose a barrier has ordered the last write before all that the block does, and two readers are remembered, of two
// warps or of this one. Then another read (by this one) changes nothing until the clock ticks or a thread writes. (The
// eight bits repeat after 255 ticks: then a reader may be forgotten.) False: there are not two such readers.
static inline bool are_two_readers(const Cell &cell, uintptr_t address, uint16_t &settled, uint32_t me) {
  if (cell.read.when < ordering.alone_interval || cell.other_read.when < ordering.alone_interval) return false;
  uint32_t first = cell.read.thread(), second = cell.other_read.thread();
  bool of_two_warps = (first ^ second) >= warp_lanes;
  if (!of_two_warps && ((first ^ me) >= warp_lanes || first == second)) return false;
  if (!of_two_warps && (first == me ? cell.read.when : second == me ? cell.other_read.when : ordering.now) != ordering.now) return false;
  if (cell.write.when < ordering.alone_interval) settle_for_reads(address, settled, of_two_warps, me / warp_lanes);
  return true;
}

static inline bool read_word(uintptr_t address, Cell &cell, uint16_t &settled, uint32_t me, uint32_t all_before, bool shared, uintptr_t pc) {
  if (cell.state != Cell::all || !is_plainly_ordered(cell.write, me, all_before)) return false;
  if (shared && cell.write.when < all_before) return false;  // left by an earlier block
  if (are_two_readers(cell, address, settled, me)) return true;
  Trace now = trace_of_word(me, pc);
  if (cell.read.when == now.when && cell.read.thread() == me && cell.read.how == now.how) return true;
  if (!is_plainly_ordered(cell.read, me, all_before)) {
    bool other_block = cell.other_read.when < ordering.alone_from && !is_plainly_ordered(cell.other_read, me, all_before);
    if (other_block && cell.read.when >= ordering.alone_interval) return true;  // one of this block, and one of another
    cell.other_read = cell.read;
    cell.read = now;
    are_two_readers(cell, address, settled, me);
    return true;
  }
  cell.read = now;
  return true;
}

static inline bool write_word(uintptr_t address, Cell &cell, uint16_t &settled, uint32_t me, uint32_t all_before, uintptr_t pc) {
  if (cell.plainly_addressable() != 15 || !is_plainly_ordered(cell.write, me, all_before)) return false;
  if (!is_plainly_ordered(cell.read, me, all_before) || !is_plainly_ordered(cell.other_read, me, all_before)) return false;
  cell.write = trace_of_word(me, pc);
  cell.state = Cell::all;
  settled = 0;
  unsettle(address);
  return true;
}

// All that one thread does to the bytes of a word at one moment is remembered as one access.
static inline Trace joined_with(const Trace &before, Trace now) {
  constexpr uint32_t flags = Trace::atomic_bit | Trace::volatile_bit | Trace::block_bit;
  if (before.when == now.when && before.thread() == now.thread() && !(before.how & flags)) now.how = static_cast<uint16_t>(now.how | before.bytes());
  return now;
}

static inline Trace trace_of_part(uint32_t me, uintptr_t pc, uint32_t bytes) {
  uint64_t place = pc - memory_map.library_start;
  return {ordering.now, who_is(me, place), how_is(place, bytes)};
}

// Two threads on different bytes of a word do not conflict.
static inline bool is_no_meeting(const Trace &before, uint32_t bytes, uint32_t me, uint32_t all_before) {
  return !(before.bytes() & bytes) || is_plainly_ordered(before, me, all_before);
}

static inline bool read_part(Cell &cell, uint32_t bytes, uint32_t me, uint32_t all_before, bool shared, uintptr_t pc) {
  if ((cell.plainly_addressable() & cell.initialised() & bytes) != bytes || !is_no_meeting(cell.write, bytes, me, all_before)) return false;
  if (shared && cell.write.when < all_before) return false;  // left by an earlier block
  Trace now = trace_of_part(me, pc, bytes);
  if (cell.read.when && cell.read.thread() != me && !is_plainly_ordered(cell.read, me, all_before)) cell.other_read = cell.read;
  cell.read = joined_with(cell.read, now);
  return true;
}

static inline bool write_part(uintptr_t word, Cell &cell, uint16_t &settled, uint32_t bytes, uint32_t me, uint32_t all_before, bool shared, uintptr_t pc) {
  if ((cell.plainly_addressable() & bytes) != bytes || !is_no_meeting(cell.write, bytes, me, all_before)) return false;
  if (!is_no_meeting(cell.read, bytes, me, all_before) || !is_no_meeting(cell.other_read, bytes, me, all_before)) return false;
  bool stale = shared && cell.write.when < all_before;  // left by an earlier block: nothing in it is initialised here
  cell.write = joined_with(cell.write, trace_of_part(me, pc, bytes));
  cell.set_initialised(stale ? bytes : cell.initialised() | bytes);
  settled = 0;
  unsettle(word);
  return true;
}

// One or two bytes, which lie in one word. False: nothing was done.
template <uint32_t size, bool writes>
static inline bool part_access(uintptr_t address, uintptr_t pc) {
  bool shared;
  const Region *region = common_region_of(address, shared);
  if (!region) return false;
  uint32_t me = static_cast<uint32_t>(block.current), all_before = shared ? ordering.own_start : ordering.all_before;
  uintptr_t word = address & ~uintptr_t{3};
  uint32_t bytes = ((1u << size) - 1) << (address & 3);
  Cell &cell = *region->cell(word);
  __builtin_prefetch(&cell + 8, 1);
  if (writes) return write_part(word, cell, *region->settled_at(word), bytes, me, all_before, shared, pc);
  return read_part(cell, bytes, me, all_before, shared, pc);
}

template <uint32_t size>
static inline bool is_settled(uintptr_t address) {
  bool shared;
  const Region *region = common_region_of(address, shared);
  if (!region) return false;
  const uint16_t *settled = region->settled_at(address);
  uint32_t warp = static_cast<uint32_t>(block.current) / warp_lanes;
  for (uint32_t i = 0; i < size / 4; i++)
    if (settled[i] != settled_by(0) && settled[i] != settled_by(1 + warp)) return false;
  if (size == 4 && !checker.has_turns) settle(address, settled[0] == settled_by(0) ? 0 : warp_codes.of[warp]);
  return true;
}

// The shortest path, for a word that only the current thread has touched since the last barrier: read_word and
// write_word in one piece. False: nothing was done.
template <bool writes, bool shared>
static inline bool own_word(const Region &region, uintptr_t address, uintptr_t pc) {
  Cell &cell = *region.cell(address);
  if (!shared) __builtin_prefetch(&cell + 8, 1);
  uint32_t me = static_cast<uint32_t>(block.current), interval = ordering.alone_interval;
  uint32_t all_before = shared ? ordering.own_start : ordering.all_before;
  uint32_t before = all_before >= ordering.alone_from ? interval : all_before;  // accesses of then are plainly ordered
  auto is_own = [=](const Trace &t) { return t.when < before || (t.when >= interval && t.thread() == me); };
  if (!is_own(cell.write) || !is_own(cell.read)) return false;
  if (writes) {
    if (cell.plainly_addressable() != 15 || !is_own(cell.other_read)) return false;
    cell.write = trace_of_word(me, pc);
    cell.state = Cell::all;
    if (uint16_t &settled = *region.settled_at(address)) settled = 0, unsettle(address);
    return true;
  }
  if (cell.state != Cell::all || (shared && cell.write.when < all_before) || cell.other_read.when >= interval) return false;
  cell.read = trace_of_word(me, pc);
  return true;
}

// False: nothing was done for the words from `address` on, which now is the first such word.
template <uint32_t size, bool writes>
static inline bool common_access(uintptr_t &address, uintptr_t pc) {
  bool shared;
  const Region *region = common_region_of(address, shared);
  if (!region) return false;
  uint32_t me = static_cast<uint32_t>(block.current), all_before = shared ? ordering.own_start : ordering.all_before;
  Cell *cell = region->cell(address);
  uint16_t *settled = region->settled_at(address);
  __builtin_prefetch(cell + 8, 1);
  for (uint32_t i = 0; i < size / 4; i++, cell++, settled++, address += 4)
    if (!(writes ? write_word(address, *cell, *settled, me, all_before, pc) : read_word(address, *cell, *settled, me, all_before, shared, pc)))
      return false;
  return true;
}

}  // namespace cuda_on_cpu
