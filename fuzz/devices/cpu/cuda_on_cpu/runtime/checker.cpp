#include "checker.h"

#include <initializer_list>

#include "block.h"
#include "common_access.h"
#include "late_writes.h"
#include "memory_map.h"
#include "ordering.h"
#include "report.h"
#include "same_value.h"

namespace cuda_on_cpu {

CheckerState checker;

namespace {

struct Seen {
  uintptr_t address;
  uint32_t bytes;
  Access access;
  uint64_t pc;  // relative
  bool writes() const { return access == Access::write || access == Access::volatile_write || access == Access::atomic; }
  bool reads() const { return access == Access::read || access == Access::volatile_read || access == Access::atomic; }
  bool is_volatile() const { return access == Access::volatile_read || access == Access::volatile_write; }
};

Finding *report_access(Kind kind, const Seen &s) {
  Finding *f = report(kind, s.pc, 0);
  if (!f) return nullptr;
  f->bytes = s.bytes;
  f->writes = s.writes();
  locate(s.address, *f);
  return f;
}

// Whether some byte of an access is initialised: then it reads a struct with padding, most likely.
bool is_partly_initialised(const Seen &s, bool shared) {
  bool also_shared;
  const Region *region = region_of(s.address, also_shared);
  for (uintptr_t word = s.address & ~uintptr_t{3}; word < s.address + s.bytes; word += 4) {
    const Cell &cell = *region->cell(word);
    if (cell.initialised && !(shared && cell.write.when < ordering.block_start)) return true;
  }
  return false;
}

void report_read_race(const Seen &s, const Trace &before) {
  Finding *f = report(Kind::race, s.pc, 0, before.pc());
  if (!f) return;
  f->bytes = s.bytes;
  f->other_writes = 1;
  f->other_thread = before.thread();
  f->other_block = before.when < ordering.block_start;
  locate(s.address, *f);
}

// Two atomics never race. Neither do two volatile accesses of global memory, or a volatile and an atomic one: that is
// how a flag is polled. In shared memory volatile counts for that much only where the block uses fences, too: without
// them it is the last-warp idiom, which takes the lanes of a warp to go in step.
bool is_strong(const Seen &s, bool shared) {
  return s.access == Access::atomic || (s.is_volatile() && (!shared || ordering.fenced));
}

bool may_race(const Seen &s, const Trace &before, bool shared) {
  return !is_strong(s, shared) || !(before.is_atomic() || before.is_volatile());
}

bool races(const Seen &s, const Trace &before, uint32_t mask, bool shared) {
  return before.bytes() & mask && !is_ordered(before, block.current) && may_race(s, before, shared);
}

// Whether the reader may yet swap what it has read: what earlier blocks have swapped is forgotten (checker_swaps).
bool may_be_guess(const Seen &s, const Trace &reader) {
  bool plain = !reader.is_atomic() && !reader.is_volatile();
  return s.access == Access::atomic && plain && reader.when >= ordering.block_start;
}

Trace trace_of(const Seen &s, uint32_t mask) {
  uint32_t what = what_is(s.pc, mask);
  if (s.access == Access::atomic) what |= Trace::atomic_bit;
  if (s.is_volatile()) what |= Trace::volatile_bit;
  return {ordering.now, who_is(static_cast<uint32_t>(block.current), ordering.own_clock[block.current]), what};
}

bool same_moment(const Trace &a, const Trace &b) {
  return a.when == b.when && a.who == b.who && a.is_atomic() == b.is_atomic() && a.is_volatile() == b.is_volatile();
}

void remember(Trace &slot, Trace t) {
  if (same_moment(slot, t)) t.what |= slot.bytes() << Trace::pc_bits;
  slot = t;
}

void remember_read(Cell &cell, const Trace &t) {
  if (cell.read.when && cell.read.thread() != t.thread() && !is_ordered(cell.read, block.current))
    cell.other_read = cell.read;
  remember(cell.read, t);
}

// Bytes of an access in one cell. False: the access is out of bounds, which is reported once and not looked at more.
bool check_cell(Cell &cell, uintptr_t word, const Seen &s, uint32_t mask, bool shared) {
  if ((cell.addressable & mask) != mask) {
    if (!(shared && is_constructor_guard(word))) report_access(Kind::out_of_bounds, s);
    return false;
  }
  if (shared && cell.write.when < ordering.block_start) cell.initialised = 0;  // shared memory dies with its block
  bool stale = shared && cell.write.when < ordering.block_start;
  if (s.reads() && (cell.initialised & mask) != mask)
    report_access(is_partly_initialised(s, shared) ? Kind::partly_uninitialised : Kind::uninitialised, s);
  if (!stale && races(s, cell.write, mask, shared)) {
    if (s.writes()) {
      hold_racing_write(s.address, s.bytes, s.pc, cell.write, true);
    } else {
      if (s.access == Access::read && cell.write.is_atomic())
        hold_racing_read(s.address, s.bytes, s.pc, cell.write);
      else
        report_read_race(s, cell.write);
      show_before_write(word);
    }
  }
  Trace t = trace_of(s, mask);
  if (!s.writes()) {
    remember_read(cell, t);
    return true;
  }
  for (const Trace *reader : {&cell.read, &cell.other_read})
    if (!(shared && reader->when < ordering.block_start) && races(s, *reader, mask, shared)) {
      if (may_be_guess(s, *reader))
        hold_racing_atomic(s.address, s.bytes, s.pc, *reader);
      else
        hold_racing_write(s.address, s.bytes, s.pc, *reader, false);
    }
  if (!same_moment(cell.write, t)) note_before_write(word);
  remember(cell.write, t);
  cell.initialised = static_cast<uint8_t>(cell.initialised | mask);
  return true;
}

void check_cells(const Region &region, const Seen &s, bool shared) {
  uintptr_t end = s.address + s.bytes;
  for (uintptr_t word = s.address & ~uintptr_t{3}; word < end; word += 4) {
    uint32_t mask = 15;
    if (word < s.address) mask &= 15u << (s.address - word);
    if (word + 4 > end) mask &= 15u >> (word + 4 - end);
    if (!check_cell(*region.cell(word), word, s, mask, shared)) return;
  }
}

// Turns come at random, at one in so many accesses in the mean; without turns, hardly ever and to no effect. Where
// writes are seen late, every access ends the read before it, and goes the long way.
void draw_turn() {
  uint64_t below = run->late_writes ? 1 : 2 * uint64_t{run->preempt_one_in};
  checker.until_turn = below ? 1 + static_cast<uint32_t>((random_bits() >> 32) * below >> 32) : ~0u;
}

}  // namespace

void take_turn() {
  end_of_read();
  draw_turn();
  if (run->preempt_one_in) yield();
}

bool checker_prepare(const Run &the_run, uintptr_t library_start, uintptr_t library_end) {
  // The clock has 32 bits: long before they are spent, all that was remembered is dropped and it starts anew. One run
  // cannot use up the other half.
  if (ordering.now > 1u << 31) {
    forget_memory();
    order_from_start();
  }
  if (!map_memory(the_run, library_start, library_end)) return false;
  forget_races();
  checker = {0, true, 0};
  draw_turn();
  return prepare_late_writes(the_run.late_writes, memory_map.buffers);
}

void checker_finish() {
  end_of_read();
  checker.active = false;
}

void checker_starts_launch(uint32_t bytes) {
  order_launch();
  map_dynamic_shared(bytes);
}

void checker_starts_block() { order_block(); }
void checker_ends_block() { settle_races(); }

void checker_passed_barrier() {
  settle_races();
  order_barrier();
}

void checker_synced_warp(int first_thread, uint32_t lanes) { order_warp(first_thread, lanes); }
void checker_fence() { order_fence(); }
uintptr_t checker_last_pc() { return checker.last_pc; }

void checker_access(uintptr_t address, uint32_t bytes, Access access, uintptr_t pc) {
  checker.last_pc = pc;
  Seen s = {address, bytes, access, pc - memory_map.library_start};
  bool shared;
  const Region *region = region_of(address, shared);
  if (!region) {
    if (is_device_variable(address) && is_strong(s, false)) order_atomic(block.current);  // a ticket may be one
    if (is_unchecked(address)) return;
    report_access(Kind::illegal_address, s);
    stop_run(Status::stopped);
  }
  if (is_strong(s, shared)) order_atomic(block.current);
  check_cells(*region, s, shared);
}

void checker_swaps(uintptr_t address, uint32_t bytes) {
  bool shared;
  const Region *region = region_of(address, shared);
  if (!region) return;
  auto me = static_cast<uint32_t>(block.current);
  for (uintptr_t word = address; word < address + bytes; word += 4) {
    Cell &cell = *region->cell(word);
    for (Trace *reader : {&cell.read, &cell.other_read})
      if (reader->when >= ordering.block_start && reader->thread() == me) *reader = {};
  }
  forgive_guesses(address, bytes);
}

// A GPU stops here too.
[[noreturn]] static void stop_misaligned(Finding *f, uintptr_t address, uint32_t alignment) {
  if (f) {
    f->bytes = alignment;
    locate(address, *f);
  }
  stop_run(Status::stopped);
}

void report_misaligned(uintptr_t address, uint32_t alignment, uintptr_t pc) {
  stop_misaligned(report(Kind::misaligned, pc - memory_map.library_start, 0), address, alignment);
}

void report_misaligned_at_line(uintptr_t address, uint32_t alignment, uint32_t line) {
  stop_misaligned(report(Kind::misaligned, 0, line), address, alignment);
}

}  // namespace cuda_on_cpu
