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
  bool active;  // while kernels run: the constructors of a library that is being loaded call the hooks, too
  uint32_t until_turn;  // so many accesses from now another thread may go on
};

extern CheckerState checker;

void take_turn();

// Comes before every access: is it now another thread's turn?
static inline bool turn_is_over() { return __builtin_expect(!--checker.until_turn, false); }

// True only where is_ordered (ordering.h) is: before this interval but in this block, before this launch, or own.
static inline bool is_plainly_ordered(const Trace &before, uint32_t me) {
  uint32_t when = before.when;
  return when - ordering.block_start < ordering.interval_start - ordering.block_start || when < ordering.launch_start ||
         (when >= ordering.interval_start && before.thread() == me);
}

static inline bool read_word(Cell &cell, const Trace &now, bool shared) {
  if (cell.addressable != 15 || cell.initialised != 15 || !is_plainly_ordered(cell.write, now.thread())) return false;
  if (shared && cell.write.when < ordering.block_start) return false;  // left by an earlier block
  if (cell.read.thread() != now.thread() && cell.read.when >= ordering.interval_start) cell.other_read = cell.read;
  cell.read = now;
  return true;
}

static inline bool write_word(Cell &cell, const Trace &now) {
  uint32_t me = now.thread();
  if (cell.addressable != 15 || !is_plainly_ordered(cell.write, me)) return false;
  if (!is_plainly_ordered(cell.read, me) || !is_plainly_ordered(cell.other_read, me)) return false;
  cell.write = now;
  cell.initialised = 15;
  return true;
}

// False: nothing was done of the words from `address` on, which now is where the first such word lies.
static inline bool common_access(uintptr_t &address, uint32_t &bytes, bool writes, uintptr_t pc) {
  bool shared;
  const Region *region = region_of(address, shared);
  if (!region) return false;
  uint32_t me = static_cast<uint32_t>(block.current);
  Trace now = {ordering.now, who_is(me, ordering.own_clock[me]), what_is(pc - memory_map.library_start, Trace::whole)};
  for (Cell *cell = region->cell(address); bytes; cell++, address += 4, bytes -= 4)
    if (!(writes ? write_word(*cell, now) : read_word(*cell, now, shared))) return false;
  return true;
}

}  // namespace cuda_on_cpu
