// The short way through the checker: an access of whole words, in bounds, initialised, and ordered with what was there
// before by the last barrier or by being the same thread's. Nearly every access of a correct kernel is like that.
//
// It decides nothing: whatever is not plainly fine goes the long way (checker.cpp), which would have done the same.
#pragma once
#include "checker.h"
#include "memory_map.h"
#include "ordering.h"

namespace cuda_on_cpu {

struct CheckerState {
  uintptr_t last_pc;
  uint32_t until_turn;  // so many accesses from now another thread may go on
  bool active;          // while kernels run: the constructors of a library that is being loaded call the hooks, too
};

extern CheckerState checker;

void take_turn();

// Comes before every access: is it now another thread's turn? Where the checker is not active, it is at every access.
static inline bool turn_is_over() { return __builtin_expect(!--checker.until_turn, false); }

static inline Trace trace_of_word(uint32_t me, uintptr_t pc) {
  uint64_t place = pc - memory_map.library_start;
  return {ordering.now, who_is(me, place), how_is(place, Trace::whole)};
}

static inline bool are_of_two_warps(const Cell &cell) {
  return cell.read.when >= ordering.alone_interval && cell.other_read.when >= ordering.alone_interval &&
         !same_warp(static_cast<int>(cell.read.thread()), static_cast<int>(cell.other_read.thread()));
}

static inline bool are_other_lanes_of_my_warp(const Cell &cell, uint32_t me) {
  uint32_t first = cell.read.thread(), second = cell.other_read.thread();
  return cell.read.when >= ordering.alone_interval && cell.other_read.when >= ordering.alone_interval && (first ^ me) < warp_lanes &&
         first != second && first != me && second != me;
}

static inline uint16_t settled_by(uint32_t warp) { return static_cast<uint16_t>((ordering.now & 0xff) | warp << 8); }

static inline bool read_word(Cell &cell, uint16_t &settled, uint32_t me, uint32_t all_before, bool shared, uintptr_t pc) {
  if (cell.state != Cell::all || !is_plainly_ordered(cell.write, me, all_before)) return false;
  if (shared && cell.write.when < all_before) return false;  // left by an earlier block
  // Where a barrier has ordered the last write before all that the block does, and two readers are remembered, of two
  // warps or of this one, another read (by this one) changes nothing until the clock ticks or somebody writes. (The eight
  // bits are the same again after 255 ticks: then a reader may be forgotten.)
  bool of_two_warps = are_of_two_warps(cell);
  if (of_two_warps || are_other_lanes_of_my_warp(cell, me)) {
    if (cell.write.when < ordering.alone_interval) settled = settled_by(of_two_warps ? 0 : 1 + me / warp_lanes);
    return true;
  }
  Trace now = trace_of_word(me, pc);
  if (cell.read.when == now.when && cell.read.thread() == me && cell.read.how == now.how) return true;
  if (!is_plainly_ordered(cell.read, me, all_before)) {
    bool other_block = cell.other_read.when < ordering.alone_from && !is_plainly_ordered(cell.other_read, me, all_before);
    if (other_block && cell.read.when >= ordering.alone_interval) return true;  // one of this block, and one of another
    cell.other_read = cell.read;
  }
  cell.read = now;
  return true;
}

static inline bool write_word(Cell &cell, uint16_t &settled, uint32_t me, uint32_t all_before, uintptr_t pc) {
  if (cell.addressable() != 15 || !is_plainly_ordered(cell.write, me, all_before)) return false;
  if (!is_plainly_ordered(cell.read, me, all_before) || !is_plainly_ordered(cell.other_read, me, all_before)) return false;
  cell.write = trace_of_word(me, pc);
  cell.state = Cell::all;
  settled = 0;
  return true;
}

template <uint32_t size>
static inline bool is_settled(uintptr_t address) {
  bool shared;
  const Region *region = common_region_of(address, shared);
  if (!region) return false;
  const uint16_t *settled = region->settled_at(address);
  for (uint32_t i = 0; i < size / 4; i++)
    if (settled[i] != settled_by(0) && settled[i] != settled_by(1 + static_cast<uint32_t>(block.current) / warp_lanes)) return false;
  return true;
}

// False: nothing was done of the words from `address` on, which now is where the first such word lies.
template <uint32_t size, bool writes>
static inline bool common_access(uintptr_t &address, uintptr_t pc) {
  bool shared;
  const Region *region = common_region_of(address, shared);
  if (!region) return false;
  uint32_t me = static_cast<uint32_t>(block.current), all_before = shared ? ordering.own_start : ordering.all_before;
  Cell *cell = region->cell(address);
  uint16_t *settled = region->settled_at(address);
  for (uint32_t i = 0; i < size / 4; i++, cell++, settled++, address += 4)
    if (!(writes ? write_word(*cell, *settled, me, all_before, pc) : read_word(*cell, *settled, me, all_before, shared, pc)))
      return false;
  return true;
}

}  // namespace cuda_on_cpu
