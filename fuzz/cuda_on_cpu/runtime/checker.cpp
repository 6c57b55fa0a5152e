// The path of one access through the checker. One long file: every load and store of a kernel takes this path, so the
// compiler has to see all of it at once.
#include "checker.h"

#include <pthread.h>

#include <cstring>
#include <initializer_list>

#include "host_code.h"
#include "arena.h"
#include "atomic_operations.h"
#include "block.h"
#include "chunks.h"
#include "cluster.h"
#include "common_access.h"
#include "heap.h"
#include "held_races.h"
#include "late_writes.h"
#include "mbarriers.h"
#include "light_checks.h"
#include "memory_map.h"
#include "ordering.h"
#include "report.h"
#include "stacks.h"
#include "unwritten.h"
#include "warpgroups.h"
#include "work.h"

namespace cuda_on_cpu {

PerRun<CheckerState> checker;

namespace {

struct Seen {
  uintptr_t address;
  uint32_t bytes;
  bool reads, writes;
  uint32_t traits;
  uint64_t pc;  // relative
  bool is_plain() const { return !(traits & (is_atomic | is_volatile)); }
};

uint32_t traits_of(const Trace &t) { return (t.is_atomic() ? is_atomic : 0u) | (t.is_volatile() ? is_volatile : 0u); }

Finding *report_access(Kind kind, const Seen &s, uint64_t other_pc = 0) {
  Finding *f = report(kind, s.pc, 0, other_pc);
  if (!f) return nullptr;
  f->bytes = s.bytes;
  f->writes = s.writes;
  f->traits = s.traits;
  locate(s.address, *f);
  return f;
}

// A thread with a wrong loop bound would otherwise run through all of memory, in the end into other arrays.
constexpr uint32_t most_outside = 1024;
struct Watched {
  uint32_t outside[max_threads];  // for each thread of the running block, its count of accesses out of bounds
  bool somebody_is_outside;
  uintptr_t last_read[max_threads];  // by each thread, as volatile or atomic, with the place in the code
  pthread_t main_thread;             // by the host: the accesses of other threads are not checked
};
PerRun<Watched> watched;

// Places in the code that the lanes of a warp read by one instruction, such as ldmatrix: none of them is beyond it before
// all have read. What one has written before is another matter.
struct ReadsTogether {
  static constexpr int most = 256;
  uint32_t pc[most];
  int count;

  bool has(uint32_t place) const {
    for (int i = 0; i < count; i++)
      if (pc[i] == place) return true;
    return false;
  }
};
PerRun<ReadsTogether> reads_together;

void report_outside(const Seen &s) {
  uint64_t freed_at = 0;
  bool freed = was_freed(s.address, freed_at);
  Finding *f = report_access(freed ? Kind::use_after_free : Kind::out_of_bounds, s, freed_at);
  if (f && f->place == Place::buffer) f->detail = run->buffers[f->place_number].flags & is_freed;  // as it is now
  watched.somebody_is_outside = true;
  if (++watched.outside[block.current] < most_outside) return;
  run_is_damaged();
  end_thread();
}

void forget_who_is_outside() {
  if (watched.somebody_is_outside) memset(watched.outside, 0, sizeof watched.outside);
  watched.somebody_is_outside = false;
}

// Whether some byte of an access is initialised: then it most likely reads a struct with padding.
bool is_partly_initialised(const Seen &s, bool shared) {
  bool also_shared;
  const Region *region = region_of(s.address, also_shared);
  for (uintptr_t word = s.address & ~uintptr_t{3}; word < s.address + s.bytes; word += 4) {
    const Cell &cell = *region->cell(word);
    if (cell.initialised() && !(shared && cell.write.when < ordering.own_start)) return true;
  }
  return false;
}

// In shared memory, volatile orders something only where the block also uses fences: without them it is the last-warp
// idiom, which expects the lanes of a warp to run in step.
bool is_volatile_in_earnest(uint32_t traits, bool shared) {
  return traits & is_volatile && (!shared || ordering.own->uses_fences);
}

enum class Conflict { none, data_race, relaxed };

// Two atomics whose scopes hold both threads never race. Where each of the two is atomic or volatile, PTX makes them
// relaxed and well-defined, but CUDA C++ makes them a race: that is reported, but is not an error by itself.
Conflict conflict_of(const Seen &s, const Trace &before, bool shared) {
  uint32_t other = traits_of(before);
  if (s.traits & other & is_atomic) {
    bool narrow = s.traits & is_of_block_scope || before.is_of_block_scope();
    return narrow && !is_of_this_block(before.when) ? Conflict::data_race : Conflict::none;
  }
  auto strong = [shared](uint32_t traits) { return traits & is_atomic || is_volatile_in_earnest(traits, shared); };
  if (!strong(s.traits) || !strong(other)) return Conflict::data_race;
  return run->assume & volatile_is_atomic ? Conflict::none : Conflict::relaxed;
}

bool are_in_step(const Trace &before) {
  return run->assume & warps_in_step && !before.is_bulk() && is_of_this_block(before.when) &&
         same_warp(static_cast<int>(before.thread()), block.current);
}

Conflict meets(const Seen &s, const Trace &before, bool before_writes, uint32_t mask, bool shared) {
  if (!(before.bytes() & mask)) return Conflict::none;
  if (!are_in_step(before)) {
    Conflict conflict = conflict_of(s, before, shared);  // first, since the order of two atomics takes longer and does not matter
    if (conflict == Conflict::none || is_ordered(before, block.current)) return Conflict::none;
    return before_writes && traits_of(before) && is_observed(before, block.current, s.address) ? Conflict::none : conflict;
  }
  if (is_ordered_by_steps(before, block.current) && conflict_of(s, before, shared) != Conflict::none)
    tell_race_in_step({s.address, s.bytes, s.pc, s.traits, s.writes, before, before_writes});
  return Conflict::none;
}

// Whether the reader may yet swap the value that it read: what was swapped is forgotten (checker_swaps).
bool may_be_guess(const Seen &s, const Trace &reader) { return s.traits & is_atomic && !traits_of(reader); }

Trace trace_of(const Seen &s, uint32_t mask) {
  uint32_t flags = mask;
  if (s.traits & is_atomic) flags |= Trace::atomic_bit;
  if (s.traits & is_volatile) flags |= Trace::volatile_bit;
  if (s.traits & is_of_block_scope) flags |= Trace::block_bit;
  return {ordering.now, who_is(static_cast<uint32_t>(block.current), s.pc), how_is(s.pc, flags)};
}

bool same_moment(const Trace &a, const Trace &b) {
  return a.when == b.when && a.thread() == b.thread() && a.is_bulk() == b.is_bulk() && traits_of(a) == traits_of(b);
}

Trace merged(const Trace &before, Trace t) {
  if (same_moment(before, t)) t.how = static_cast<uint16_t>(t.how | before.bytes());
  return t;
}

void remember_read(Cell &cell, const Trace &t) {
  if (cell.read.when && cell.read.thread() != t.thread() && !is_ordered(cell.read, block.current))
    cell.other_read = cell.read;
  cell.read = merged(cell.read, t);
}

void check_against_write(const Cell &cell, uintptr_t word, const Seen &s, uint32_t mask, bool shared) {
  Conflict conflict = meets(s, cell.write, true, mask, shared);
  if (conflict == Conflict::none) return;
  Meeting met = {s.address, s.bytes, s.pc, s.traits, s.writes, cell.write, true};
  if (cell.write.is_bulk()) return tell_at_once(Kind::copy_in_flight, met);
  if (is_ordered_by_chain(cell.write, block.current)) return hold_race_of_chain(met);
  if (conflict == Conflict::relaxed)
    hold_volatile_race(met);
  else if (is_ordered_by_poll(cell.write, block.current))
    hold_race_after_poll(met);
  else if (!s.writes && s.is_plain() && cell.write.is_atomic())
    hold_guessed_read(met);
  else
    hold_race(met);
  if (!s.writes && !checker.is_light) show_before_write(word);
}

void check_against_reader(const Trace &reader, const Seen &s, uint32_t mask, bool shared) {
  Conflict conflict = meets(s, reader, false, mask, shared);
  if (conflict == Conflict::none || is_read_before_start(reader.when)) return;
  if (reads_together.has(reader.pc()) && is_of_this_block(reader.when) && same_warp(static_cast<int>(reader.thread()), block.current)) return;
  Meeting met = {s.address, s.bytes, s.pc, s.traits, s.writes, reader, false};
  if (reader.is_bulk()) return tell_at_once(is_product(kind_of_flight(reader.when)) ? Kind::product_in_flight : Kind::copy_in_flight, met);
  if (is_ordered_by_chain(reader, block.current)) return hold_race_of_chain(met);
  if (conflict == Conflict::relaxed)
    hold_volatile_race(met);
  else if (is_ordered_by_poll(reader, block.current))
    hold_race_after_poll(met);
  else if (may_be_guess(s, reader))
    hold_atomic_after_guess(met);
  else
    hold_race(met);
}

// The traces of bulk copies that are over for everybody no longer matter.
void show_to_short_ways(Cell &cell) {
  for (Trace *t : {&cell.write, &cell.read, &cell.other_read})
    if (t->is_bulk() && t->when < ordering.all_before) t->how = static_cast<uint16_t>(t->how & ~Trace::bulk_bit);
  if (!cell.has_bulk()) cell.show();
}

// The bytes of an access in one cell. False: the access is out of bounds, which is reported once and not examined
// further.
bool check_cell(Cell &cell, uintptr_t word, const Seen &s, uint32_t mask, bool shared) {
  if (cell.hidden) show_to_short_ways(cell);
  if ((cell.addressable() & mask) != mask) {
    if (!(shared && is_constructor_guard(word))) report_outside(s);
    return false;
  }
  bool stale = shared && cell.write.when < ordering.own_start;  // shared memory dies with its block
  if (stale) cell.set_initialised(0);
  if (s.reads && (cell.initialised() & mask) != mask)
    report_access(is_partly_initialised(s, shared) ? Kind::partly_uninitialised : Kind::uninitialised, s);
  if (!stale) check_against_write(cell, word, s, mask, shared);
  Trace t = trace_of(s, mask);
  if (!s.writes) {
    remember_read(cell, t);
    return true;
  }
  for (const Trace *reader : {&cell.read, &cell.other_read})
    if (!(shared && reader->when < ordering.own_start)) check_against_reader(*reader, s, mask, shared);
  if (!same_moment(cell.write, t)) note_before_write(word);
  cell.write = merged(cell.write, t);
  cell.set_initialised(cell.initialised() | mask);
  return true;
}

// For work that is not a kernel: whether it meets an access that is not ordered with it.
bool meets_others(const Cell &cell, uintptr_t word, const Seen &s, uint32_t mask) {
  auto is_before = [](const Trace &t) { return t.when < ordering.all_before; };
  if (is_before(cell.write) && (!s.writes || (is_before(cell.read) && is_before(cell.other_read)))) return false;
  bool meets_writer = meets(s, cell.write, true, mask, false) != Conflict::none, meets_reader = false;
  if (meets_writer) check_against_write(cell, word, s, mask, false);
  for (const Trace *reader : {&cell.read, &cell.other_read})
    if (s.writes && meets(s, *reader, false, mask, false) != Conflict::none) {
      check_against_reader(*reader, s, mask, false);
      meets_reader = true;
    }
  return meets_writer || meets_reader;
}

// Which bytes of a word lie in [start, end).
uint32_t mask_of(uintptr_t word, uintptr_t start, uintptr_t end) {
  uint32_t mask = 15;
  if (word < start) mask &= 15u << (start - word);
  if (word + 4 > end) mask &= 15u >> (word + 4 - end);
  return mask;
}

void check_cells(const Region &region, const Seen &s, bool shared) {
  uintptr_t end = s.address + s.bytes;
  for (uintptr_t word = s.address & ~uintptr_t{3}; word < end; word += 4) {
    uint32_t mask = mask_of(word, s.address, end);
    if (s.writes) *region.settled_at(word) = 0, unsettle(word);
    if (!check_cell(*region.cell(word), word, s, mask, shared)) return;
  }
}

// False: it went to the shared memory of a block that has ended.
bool reaches_remote(const Seen &s) {
  uint32_t rank = remote_rank_of(s.address);
  return rank == no_rank || checker_remote_access(rank, {s.address, s.bytes, s.writes, trace_of(s, Trace::whole)});
}

// In a block that is checked lightly. False: the access is to be checked like any other.
bool is_fine_lightly(const Region &region, const Seen &s, bool shared) {
  if (!shared) {
    if (is_uncontested(region, s.address, s.bytes, s.writes)) {
      bool may_settle = &region == &memory_map.variables && s.bytes == 4 && !s.writes && !checker.has_turns;
      if (may_settle) settle(s.address, 0);
      return true;
    }
    block.has_met = true;
    return false;
  }
  uintptr_t outside = first_outside(region, s.address, s.bytes);
  if (outside && !is_constructor_guard(outside)) report_outside(s);
  return true;
}

void check(const Seen &s) {
  bool shared;
  const Region *region = region_of(s.address, shared);
  if (!region) {
    if (is_unchecked(s.address)) {
      if (watched_registers.are_watched) checker_register(s.address, s.bytes, s.writes, s.pc);
      return;
    }
    report_access(Kind::illegal_address, s);
    run_is_damaged();
    end_thread();
  }
  bool is_own = region == &memory_map.static_shared || region == &memory_map.dynamic_shared;
  if (shared && !is_own && block.cluster && !reaches_remote(s)) return;
  if (region == &memory_map.buffers) {
    if (s.writes)
      expect_no_guess(s.address, s.bytes);
    else if (is_unwritten(s.address, s.bytes))
      return;
  }
  if (s.writes && region == &memory_map.variables && is_constant(s.address)) report_access(Kind::constant_written, s);
  if (checker.is_light && is_fine_lightly(*region, s, shared)) return;
  check_cells(*region, s, shared);
}

bool are_warps_in_step() { return run->assume & warps_in_step; }

// Turns come at random, on average at one in so many accesses; without turns, hardly ever and without effect. Where
// writes are seen late, every access ends the read before it and takes the long path; where warps run in step, every
// access is one turn.
void draw_turn() {
  uint64_t below = run->late_writes || are_warps_in_step() ? 1 : 2 * uint64_t{run->preempt_one_in};
  checker.until_turn = below ? 1 + static_cast<uint32_t>((random_bits() >> 32) * below >> 32) : ~0u;
  checker.drawn += checker.until_turn;
  if (below) run->accesses += checker.until_turn;
}

// Of a block that is checked lightly: only so that a thread which waits for another does not wait for ever.
constexpr uint32_t light_turn = 1 << 16;

void take_light_turn() {
  end_of_read();
  checker.until_turn = light_turn;
  if (run->preempt_one_in) yield();
}

// Reading one place again and again.
bool is_polling(const Seen &s) {
  uintptr_t read = s.address ^ s.pc << 40;
  bool again = watched.last_read[block.current] == read;
  watched.last_read[block.current] = read;
  return again;
}

}  // namespace

// True once in so many times.
static bool is_drawn(uint64_t once_in) { return random_bits() >> 32 < (uint64_t{1} << 32) / once_in; }

void take_turn(uintptr_t pc, const void *frame) {
  if (!checker.active) {
    checker.until_turn = 1;
    return;
  }
  if (checker.is_light) return take_light_turn();
  constexpr uint64_t blocks_change_once_in = 64;
  end_of_read();
  note_work_of_thread();
  draw_turn();
  bool has_updated = checker.has_updated;
  checker.has_updated = false;
  if (run->preempt_one_in && (!are_warps_in_step() || is_drawn(run->preempt_one_in))) {
    if (has_other_blocks() && (has_updated || is_drawn(blocks_change_once_in)))
      leave_block();
    else
      yield();
  }
  if (are_warps_in_step()) step_with_warp(static_cast<uint32_t>(pc - memory_map.library_start), frame);
}

// After an atomic that may have let this thread into a place for one thread, others must come along while it is there.
void turn_behind_update() {
  constexpr uint32_t often = 3, seldom = 64, first = 256;
  if (!run->preempt_one_in || checker.is_light || !is_drawn(checker.updates < first ? often : seldom)) return;
  checker.updates++;
  run->accesses -= checker.until_turn - 1;
  checker.until_turn = 1;
  checker.has_updated = true;
}

bool checker_prepare(Run &the_run, uintptr_t library_start, uintptr_t library_end) {
  // The clock has 32 bits: long before they run out, all that was remembered is dropped and the clock restarts. One run
  // cannot use up the other half.
  if (ordering.now > 1u << 31) {
    forget_memory();
    order_from_start();
  }
  bool has_turns = the_run.late_writes || the_run.preempt_one_in || are_warps_in_step();
  guess_unwritten(the_run, has_turns);
  if (!prepare_ordering() || !map_memory(the_run, library_start, library_end)) return false;
  checker.has_turns = has_turns;
  checker.active = true;
  watched.main_thread = pthread_self();
  draw_turn();
  return prepare_late_writes(the_run.late_writes, memory_map.buffers);
}

void checker_finish() {
  end_of_read();
  if (checker.has_turns) run->accesses -= checker.until_turn;
  checker.active = false;
  checker.until_turn = 1;
}

void checker_pauses(bool pauses) {
  if (!run->check) return;
  if (pauses) end_of_read();
  checker.active = !pauses;
  if (pauses) {
    checker.until_turn = 1;
    checker_host_goes_on();
    return;
  }
  if (checker.watches_host) settle_all_races();
  checker.watches_host = false;
  draw_turn();
}

void checker_rests(bool rests) {
  checker.active = !rests;
  checker.until_turn = 1;
}

void checker_host_goes_on() {
  if (!run->check) return;
  if (checker.watches_host) settle_all_races();
  checker.watches_host = host_is_ahead();
  if (checker.watches_host) begin_hosts_own();
}

void checker_watches_callback() { checker.watches_host = run->check; }

void checker_starts_launch(uint32_t bytes) {
  checker.updates = 0;
  if (!has_work()) order_launch();
  map_dynamic_shared(bytes);
}

void checker_goes_lightly(bool lightly) {
  if (checker.is_light == lightly) return;
  checker.is_light = lightly;
  if (lightly)
    checker.until_turn_in_full = checker.until_turn;
  else
    forget_settled();  // what a light check has settled says nothing about races
  checker.until_turn = lightly ? light_turn : checker.until_turn_in_full;
}

uint64_t checker_accesses_in_full() { return checker.drawn - (checker.is_light ? checker.until_turn_in_full : checker.until_turn); }

void checker_ends_launch() { settle_all_races(); }
void checker_starts_block(BlockOrdering &starting) {
  forget_who_is_outside();
  order_block(starting);
}
void checker_resumes_block(BlockOrdering &resumed) { order_resumed(resumed); }
void checker_ends_block() {
  order_end_of_block();
  if (block.cluster) checker_ends_member();
  settle_races();
}

void checker_passed_barrier() {
  settle_races();
  order_barrier();
}

void checker_passed_grid_barrier() {
  settle_all_races();
  order_grid_barrier();
}

void checker_passed_cluster_barrier(Cluster &cluster) {
  settle_all_but_late_races();
  order_cluster_barrier(cluster);
}

void checker_synced_warp(int first_thread, uint32_t lanes, uint32_t all_lanes) { order_warp(first_thread, lanes, all_lanes); }
void checker_stepped_warp(int first_thread, uint32_t all_lanes) { order_step(first_thread, all_lanes); }
bool checker_waits_for_host() { return run->check && is_host_visible(checker.strong_read); }
uintptr_t checker_last_pc() { return checker.last_pc; }

uint64_t checker_stored_by(uintptr_t address) {
  if (!memory_map.buffers.holds(address)) return 0;
  const Trace &write = memory_map.buffers.cell(address)->write;
  return write.when ? write.pc() : 0;
}

void checker_fence(Scope scope) { order_fence(block.current, run->assume & scopes_reach ? Scope::device : scope); }

void checker_waits_for_grids() { order_wait_for_grids(block.current); }
void checker_triggers() { order_trigger(block.current); }

// Shared memory belongs to its block alone, whatever an atomic's scope, except for the others of its cluster; other
// blocks have theirs at the same address.
static Scope scope_at(uintptr_t address, Scope scope) {
  if (block.cluster && block.cluster->size > 1) return scope;
  bool shared;
  region_of(address, shared);
  return shared ? Scope::block : scope;
}

static void order_strongly(uintptr_t address, const Strength &s) {
  order_strong(block.current, address, s);
  bool shared;
  const Region *region = s.reads && !s.writes ? region_of(address, shared) : nullptr;
  if (!region) return;
  const Trace &write = region->cell(address & ~uintptr_t{3})->write;
  if (traits_of(write)) order_observed(block.current, address, write, s);
}

void checker_publishes(uintptr_t address) {
  order_strong(block.current, address, {scope_at(address, Scope::device), true, true, true, true, false});
}

void checker_access(uintptr_t address, uint32_t bytes, Access access, uintptr_t pc) {
  checker.last_pc = pc;
  bool writes = access == Access::write || access == Access::volatile_write;
  bool volatile_access = access == Access::volatile_read || access == Access::volatile_write;
  Seen s = {address, bytes, !writes, writes, volatile_access ? is_volatile : 0u, pc - memory_map.library_start};
  if (volatile_access && !is_on_stacks(address)) {
    if (!writes) checker.strong_read = address;
    if (!writes && is_polling(s)) poll();
    order_strongly(address, {scope_at(address, Scope::device), !writes, writes, false, false, false});
  }
  check(s);
}

void checker_reads_together(uintptr_t address, uint32_t bytes, uintptr_t pc) {
  uint32_t place = trace_of({address, bytes, true, false, 0, pc - memory_map.library_start}, Trace::whole).pc();
  if (!reads_together.has(place) && reads_together.count < ReadsTogether::most) reads_together.pc[reads_together.count++] = place;
  checker_access(address, bytes, Access::read, pc);
}

void checker_touches(uintptr_t address, uint32_t bytes, uintptr_t pc) {
  checker.last_pc = pc;
  check({address, bytes, false, true, is_atomic, pc - memory_map.library_start});
}

void checker_atomic(uintptr_t address, uint32_t bytes, uint32_t what, uintptr_t pc) {
  checker.last_pc = pc;
  Strength as = {what & atomic_of_block && !(run->assume & scopes_reach) ? Scope::block : Scope::device, (what & atomic_reads) != 0,
                 (what & atomic_writes) != 0, (what & atomic_acquires) != 0 || run->assume & atomics_acquire,
                 (what & atomic_releases) != 0 || run->assume & atomics_release, false};
  uint32_t traits = is_atomic | (as.scope == Scope::block ? is_of_block_scope : 0u);
  Seen s = {address, bytes, as.reads, as.writes, traits, pc - memory_map.library_start};
  if (what & atomic_acquires_by_habit) {
    as.polls = what & atomic_keeps && is_polling(s);
    as.acquires |= !as.polls;
  }
  if (as.reads) checker.strong_read = address;
  as.scope = scope_at(address, as.scope);
  order_strongly(address, as);
  check(s);
}

// The host's own accesses are recorded only where it acts in a stream's place: whatever it starts later comes after it.
void checker_host_access(uintptr_t address, uint32_t bytes, Access kind, uintptr_t pc) {
  if (!is_host_visible(address) || !pthread_equal(watched.main_thread, pthread_self())) return;
  Alone alone;
  if (!checker.watches_host) return;
  end_of_read();
  bool writes = kind == Access::write || kind == Access::volatile_write;
  bool volatile_access = kind == Access::volatile_read || kind == Access::volatile_write;
  checker_moves(address, bytes, writes ? Move::writes : Move::reads, pc - memory_map.library_start, piece_now().what == Work::callback,
                volatile_access ? is_volatile : 0u);
}

void checker_moves(uintptr_t address, uint64_t bytes, Move move, uint64_t pc, bool kept, uint32_t traits) {
  constexpr uint32_t most_held = 256;  // of this many words, at most, it is checked whether they have changed
  bool shared, writes = move != Move::reads;
  const Region *region = region_of(address, shared);
  if (!region || !bytes || (!kept && ordering.all_before >= ordering.work_start)) return;
  uint32_t held = 0;
  uintptr_t end = address + bytes;
  auto check_word = [&](Cell &cell, uintptr_t word) {
    uint32_t mask = mask_of(word, address, end) & cell.addressable();
    if (!mask) return true;
    Seen s = {word, 4, !writes, writes, traits, pc};
    if (held < most_held) held += meets_others(cell, word, s, mask);
    if (!kept) return true;
    Trace t = trace_of(s, mask);
    if (!writes) return remember_read(cell, t), true;
    note_before_write(word);
    cell.write = merged(cell.write, t);
    if (move == Move::writes) cell.set_initialised(cell.initialised() | mask);
    return true;
  };
  auto check_words = [&](uintptr_t from, uintptr_t to) {
    for (uintptr_t word = from; word < to; word += 4) {
      if (writes) *region->settled_at(word) = 0, unsettle(word);
      check_word(*region->cell(word), word);
    }
    return true;
  };
  auto check_uniform = [&](Chunk &chunk, uintptr_t from) {
    chunk.has_lost_before |= writes && kept;
    return check_word(chunk.all, from);
  };
  walk(*region, address & ~uintptr_t{3}, end, check_words, check_uniform);
}

void checker_has_moved() {
  end_of_read();
  settle_all_races();
}

void checker_swaps(uintptr_t address, uint32_t bytes) {
  bool shared;
  const Region *region = region_of(address, shared);
  if (!region) return;
  auto me = static_cast<uint32_t>(block.current);
  for (uintptr_t word = address; word < address + bytes; word += 4) {
    Cell &cell = *region->cell(word);
    for (Trace *reader : {&cell.read, &cell.other_read})
      if (reader->when && !reader->is_bulk() && reader->thread() == me && is_of_this_block(reader->when)) {
        if (!traits_of(*reader)) note_guess(reader->pc());
        *reader = {};
      }
  }
  forgive_guesses(address, bytes);
}

// A GPU also stops here.
[[noreturn]] static void end_misaligned(Finding *f, uintptr_t address, uint32_t alignment) {
  if (f) {
    f->bytes = alignment;
    locate(address, *f);
  }
  run_is_damaged();
  end_thread();
}

void report_misaligned(uintptr_t address, uint32_t alignment, uintptr_t pc) {
  if (in_host()) return;
  end_misaligned(report(Kind::misaligned, pc - memory_map.library_start, 0), address, alignment);
}

void report_misaligned_at_line(uintptr_t address, uint32_t alignment, uint32_t line) {
  if (in_host()) return;
  end_misaligned(report(Kind::misaligned, 0, line), address, alignment);
}

}  // namespace cuda_on_cpu
