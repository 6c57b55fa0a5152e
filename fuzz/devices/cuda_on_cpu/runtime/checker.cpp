#include "checker.h"

#include <initializer_list>

#include "arena.h"
#include "common_access.h"
#include "block.h"
#include "device_functions.h"
#include "dynamic_shared.h"
#include "ordering.h"
#include "report.h"
#include "same_value.h"
#include "shadow.h"
#include "stacks.h"

namespace cuda_on_cpu {

CheckerState checker;

namespace {

Region &buffers = checker.buffers, &static_shared = checker.static_shared, &dynamic_shared = checker.dynamic_shared;
uintptr_t &library_start_address = checker.library_start;

const Module *marked_module;  // whose static shared arrays are marked
uint32_t marked_dynamic_bytes;
Buffer marked_buffers[max_buffers];
uint32_t marked_buffer_count;
uintptr_t library_end_address;

uintptr_t static_shared_start() {
  return reinterpret_cast<uintptr_t>(run->module->thread_local_anchor()) - run->thread_local_anchor_offset;
}

bool map_libraries_shared() {
  unmap_shadow(static_shared);
  uintptr_t end = 0;
  for (uint32_t i = 0; i < run->shared_array_count; i++)
    if (run->shared_arrays[i].offset + run->shared_arrays[i].bytes > end)
      end = run->shared_arrays[i].offset + run->shared_arrays[i].bytes;
  if (!map_shadow(static_shared, static_shared_start(), end + dynamic_shared_red_zone)) return false;
  for (uint32_t i = 0; i < run->shared_array_count; i++)
    mark(static_shared, static_shared.start + run->shared_arrays[i].offset, run->shared_arrays[i].bytes, false);
  return true;
}

bool is_initialised_buffer(const Buffer &b) { return b.flags & (has_content | is_initialised); }

// The same arrays at the same places as in the run before: what the cells remember of that run is older than this
// launch, and does no harm. Only what is initialised has to be told anew.
bool lies_as_before() {
  if (run->buffer_count != marked_buffer_count) return false;
  for (uint32_t i = 0; i < run->buffer_count; i++)
    if (run->buffers[i].address != marked_buffers[i].address || run->buffers[i].bytes != marked_buffers[i].bytes)
      return false;
  return true;
}

void mark_buffers() {
  if (!lies_as_before()) {
    for (uint32_t i = 0; i < marked_buffer_count; i++)
      unmark(buffers, reinterpret_cast<uintptr_t>(marked_buffers[i].address), marked_buffers[i].bytes);
    marked_buffer_count = 0;
    for (uint32_t i = 0; i < run->buffer_count; i++) {
      const Buffer &b = run->buffers[i];
      mark(buffers, reinterpret_cast<uintptr_t>(b.address), b.bytes, is_initialised_buffer(b));
      marked_buffers[marked_buffer_count++] = b;
    }
    return;
  }
  for (uint32_t i = 0; i < run->buffer_count; i++) {
    const Buffer &b = run->buffers[i];
    bool initialised = is_initialised_buffer(b);
    if (initialised && is_initialised_buffer(marked_buffers[i])) continue;
    set_initialised(buffers, reinterpret_cast<uintptr_t>(b.address), b.bytes, initialised);
    marked_buffers[i] = b;
  }
}

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
  checker_locate(s.address, *f);
  return f;
}

const Region *region_of(uintptr_t address, bool &shared) {
  shared = true;
  if (dynamic_shared.holds(address)) return &dynamic_shared;
  if (static_shared.holds(address)) return &static_shared;
  shared = false;
  if (buffers.holds(address)) return &buffers;
  return nullptr;
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
  Finding *f = report(Kind::race, s.pc, 0, before.pc);
  if (!f) return;
  f->bytes = s.bytes;
  f->other_writes = 1;
  f->other_thread = before.thread;
  f->other_block = before.when < ordering.block_start;
  checker_locate(s.address, *f);
}

// Two atomics never race. Neither do two volatile accesses of global memory, or a volatile and an atomic one: that is
// how a flag is polled. In shared memory volatile counts for that much only where the block uses fences, too: without
// them it is the last-warp idiom, which takes the lanes of a warp to go in step.
bool is_strong(const Seen &s, bool shared) {
  return s.access == Access::atomic || (s.is_volatile() && (!shared || ordering.fenced));
}

bool may_race(const Seen &s, const Trace &before, bool shared) {
  return !is_strong(s, shared) || !(before.atomic || before.is_volatile);
}

bool races(const Seen &s, const Trace &before, uint32_t mask, bool shared) {
  return before.bytes & mask && !is_ordered(before, block.current) && may_race(s, before, shared);
}

Trace trace_of(const Seen &s, uint32_t mask) {
  Trace t = {};
  t.when = ordering.now;
  t.thread = static_cast<uint32_t>(block.current) & 1023;
  t.clock = ordering.warp_clock[block.current][block.current % warp_lanes] & ((1u << 22) - 1);
  t.pc = static_cast<uint32_t>(s.pc) & 0xffffff;
  t.bytes = mask & 15;
  t.atomic = s.access == Access::atomic;
  t.is_volatile = s.is_volatile();
  return t;
}

bool same_moment(const Trace &a, const Trace &b) {
  return a.when == b.when && a.thread == b.thread && a.clock == b.clock && a.atomic == b.atomic &&
         a.is_volatile == b.is_volatile;
}

void remember(Trace &slot, Trace t) {
  if (same_moment(slot, t)) t.bytes |= slot.bytes;
  slot = t;
}

void remember_read(Cell &cell, const Trace &t) {
  if (cell.read.when && cell.read.thread != t.thread && !is_ordered(cell.read, block.current))
    cell.other_read = cell.read;
  remember(cell.read, t);
}

// Bytes of an access in one cell. False: the access is out of bounds, which is reported once and not looked at more.
bool check_cell(Cell &cell, const Seen &s, uint32_t mask, bool shared) {
  if ((cell.addressable & mask) != mask) {
    report_access(Kind::out_of_bounds, s);
    return false;
  }
  if (shared && cell.write.when < ordering.block_start) cell.initialised = 0;  // shared memory dies with its block
  bool stale = shared && cell.write.when < ordering.block_start;
  if (s.reads() && (cell.initialised & mask) != mask)
    report_access(is_partly_initialised(s, shared) ? Kind::partly_uninitialised : Kind::uninitialised, s);
  if (!stale && races(s, cell.write, mask, shared)) {
    if (s.writes())
      hold_racing_write(s.address, s.bytes, s.pc, cell.write, true);
    else
      report_read_race(s, cell.write);
  }
  Trace t = trace_of(s, mask);
  if (!s.writes()) {
    remember_read(cell, t);
    return true;
  }
  for (const Trace *reader : {&cell.read, &cell.other_read})
    if (!(shared && reader->when < ordering.block_start) && races(s, *reader, mask, shared))
      hold_racing_write(s.address, s.bytes, s.pc, *reader, false);
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
    if (!check_cell(*region.cell(word), s, mask, shared)) return;
  }
}

bool is_unchecked(uintptr_t address) {  // local memory, __device__ variables, constants, the device heap
  return is_on_stacks(address) || address - library_start_address < library_end_address - library_start_address ||
         is_on_device_heap(address);
}

}  // namespace

// The clock has 32 bits: long before they are spent, all that was remembered is dropped and it starts anew. A run
// cannot use up the other half.
static void start_clock_anew() {
  for (Region *region : {&buffers, &static_shared, &dynamic_shared}) unmap_shadow(*region);
  marked_module = nullptr;
  marked_buffer_count = marked_dynamic_bytes = 0;
  order_from_start();
}

void checker_forget(const Module &module) {
  if (marked_module == &module) marked_module = nullptr;
}

bool checker_prepare(const Run &the_run, uintptr_t library_start, uintptr_t library_end) {
  if (ordering.now > 1u << 31) start_clock_anew();
  if (!buffers.cells && !map_shadow(buffers, arena_start(), checked_arena_bytes)) return false;
  if (!dynamic_shared.cells &&
      !map_shadow(dynamic_shared, reinterpret_cast<uintptr_t>(cuda_on_cpu_dynamic_shared),
                  dynamic_shared_capacity + dynamic_shared_red_zone))
    return false;
  if (marked_module != the_run.module && !map_libraries_shared()) return false;
  marked_module = the_run.module;
  library_start_address = library_start;
  library_end_address = library_end;
  checker.last_pc = 0;
  forget_racing_writes();
  mark_buffers();
  checker.active = true;
  checker.taking_turns = run->preempt_one_in != 0;
  return true;
}

void checker_finish() { checker.active = false; }

void checker_starts_launch(uint32_t bytes) {
  order_launch();
  if (bytes == marked_dynamic_bytes) return;
  unmark(dynamic_shared, dynamic_shared.start, marked_dynamic_bytes);
  mark(dynamic_shared, dynamic_shared.start, bytes, false);
  marked_dynamic_bytes = bytes;
}

void checker_starts_block() { order_block(); }
void checker_ends_block() { settle_racing_writes(); }

void checker_passed_barrier() {
  settle_racing_writes();
  order_barrier();
}

void checker_synced_warp(int first_thread, uint32_t lanes) { order_warp(first_thread, lanes); }
void checker_fence() { order_fence(); }
uintptr_t checker_last_pc() { return checker.last_pc; }

void checker_access(uintptr_t address, uint32_t bytes, Access access, uintptr_t pc) {
  if (!checker.active) return;
  checker.last_pc = pc;
  if (checker.taking_turns && !(random_bits() >> 20 & (run->preempt_one_in - 1))) yield();
  Seen s = {address, bytes, access, pc - library_start_address};
  bool shared;
  const Region *region = region_of(address, shared);
  if (!region) {
    if (is_unchecked(address)) return;
    report_access(Kind::illegal_address, s);
    stop_run(Status::stopped);
  }
  if (is_strong(s, shared)) order_atomic(block.current);
  check_cells(*region, s, shared);
}

// A GPU stops here too.
[[noreturn]] static void stop_misaligned(Finding *f, uintptr_t address, uint32_t alignment) {
  if (f) {
    f->bytes = alignment;
    checker_locate(address, *f);
  }
  stop_run(Status::stopped);
}

void report_misaligned(uintptr_t address, uint32_t alignment, uintptr_t pc) {
  stop_misaligned(report(Kind::misaligned, pc - library_start_address, 0), address, alignment);
}

void report_misaligned_at_line(uintptr_t address, uint32_t alignment, uint32_t line) {
  stop_misaligned(report(Kind::misaligned, 0, line), address, alignment);
}

static void locate_in(Finding &f, Place place, uint32_t number, uintptr_t start, uintptr_t address) {
  f.place = place;
  f.place_number = number;
  f.offset = static_cast<int64_t>(address - start);
}

// How far an address lies outside [start, start + bytes).
static uintptr_t distance(uintptr_t address, uintptr_t start, uint64_t bytes) {
  if (address < start) return start - address;
  return address < start + bytes ? 0 : address - (start + bytes) + 1;
}

void checker_locate(uintptr_t address, Finding &f) {
  f.address = address;
  uintptr_t dynamic = reinterpret_cast<uintptr_t>(cuda_on_cpu_dynamic_shared);
  if (address - dynamic < dynamic_shared_capacity + dynamic_shared_red_zone)
    return locate_in(f, Place::dynamic_shared, 0, dynamic, address);
  uintptr_t nearest = dynamic_shared_red_zone;
  for (uint32_t i = 0; i < run->shared_array_count; i++) {
    uintptr_t start = static_shared_start() + run->shared_arrays[i].offset;
    uintptr_t d = distance(address, start, run->shared_arrays[i].bytes);
    if (d < nearest) nearest = d, locate_in(f, Place::static_shared, i, start, address);
  }
  nearest = ~uintptr_t{0};
  if (address - arena_start() >= arena_bytes()) return;
  for (uint32_t i = 0; i < run->buffer_count; i++) {
    uintptr_t start = reinterpret_cast<uintptr_t>(run->buffers[i].address);
    uintptr_t d = distance(address, start, run->buffers[i].bytes);
    if (d < nearest) nearest = d, locate_in(f, Place::buffer, i, start, address);
  }
}

}  // namespace cuda_on_cpu
