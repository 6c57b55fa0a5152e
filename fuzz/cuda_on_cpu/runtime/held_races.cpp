#include "held_races.h"

#include <cstring>

#include "block.h"
#include "memory_map.h"
#include "ordering.h"
#include "report.h"
#include "state.h"
#include "work.h"

namespace cuda_on_cpu {

namespace {

struct Value {
  uint32_t words[4];  // of the widest access
};

struct Held {
  Meeting met;
  Kind kind;
  Value value;  // from before this access
  uint64_t block, before_block;
  uint32_t owner;  // the start of the block at whose next barrier it is judged: the guesser's, or else this access's
  uint32_t when, thread;
  bool until_end;
  int guesser;  // the thread whose read may yet prove to be a guess, or none
};

constexpr int no_thread = -1;
constexpr int capacity = 1024, capacity_until_end = 256;

// Places in the code whose reads some thread of the launch went on to swap. If another thread leaves the loop first,
// because the value that it read is large enough, its read was a guess too.
constexpr int most_guess_places = 64;

struct HeldRaces {
  Held held[capacity];
  int count, count_until_end;
  uintptr_t guess_places[most_guess_places];
  int guess_place_count;
  bool has_told_in_step;
  HeldRaces() : count(0), count_until_end(0), guess_place_count(0), has_told_in_step(false) {}
};
PerRun<HeldRaces> races;

Value value_at(uintptr_t address, uint32_t bytes) {
  Value value = {};
  memcpy(value.words, reinterpret_cast<const void *>(address), bytes < sizeof value ? bytes : sizeof value);
  return value;
}

// A GPU makes one NaN. Here inf - inf has a sign, a NaN of an input has none, and their sum is whichever of the two
// came first: lanes that all hold one sum would differ. (For a double, this is the upper word.)
bool is_same(uint32_t a, uint32_t b) {
  constexpr uint32_t sign = 1u << 31, nan = 0x7fc00000, upper_of_nan = 0x7ff80000;
  return a == b || ((a ^ b) == sign && ((a & ~sign) == nan || (a & ~sign) == upper_of_nan));
}

bool has_changed(const Held &h) {
  Value now = value_at(h.met.address, h.met.bytes);
  for (int i = 0; i < 4; i++)
    if (!is_same(now.words[i], h.value.words[i])) return true;
  return false;
}

// It has not been written since.
bool is_last_write(const Held &h) {
  bool shared;
  const Region *region = region_of(h.met.address, shared);
  if (!region) return false;
  const Trace &last = region->cell(h.met.address)->write;
  return last.when == h.when && last.thread() == h.thread;
}

Relation relation_of(const Held &h) {
  if (!is_of_this_work(h.met.before.when) && is_done_before_wait(h.met.before.when)) return in_launch_before;
  if (!is_of_this_work(h.met.before.when)) return is_of_this_graph(h.met.before.when) ? in_other_node : in_other_work;
  if (h.block != h.before_block) return in_other_blocks;
  return same_warp(static_cast<int>(h.thread), static_cast<int>(h.met.before.thread())) ? in_one_warp : in_one_block;
}

uint32_t traits_of(const Trace &t) {
  return (t.is_atomic() ? is_atomic : 0u) | (t.is_volatile() ? is_volatile : 0u) | (t.is_of_block_scope() ? is_of_block_scope : 0u) |
         (t.is_bulk() ? traits_of_flight(t.when) : 0u);
}

// Of all accesses that conflict at the same two places, those furthest apart are reported: what orders them orders the
// others.
int breadth(uint32_t relation) { return relation == in_one_warp ? 0 : relation == in_one_block ? 1 : relation == in_other_blocks ? 2 : 3; }

void tell(Kind kind, const Held &h) {
  const Meeting &m = h.met;
  Finding *f = report(kind, m.pc, 0, m.before.pc());
  if (!f) {
    f = reported(kind, m.pc, m.before.pc());
    if (!f || breadth(f->relation) >= breadth(relation_of(h))) return;
  }
  locate(m.address, *f);
  f->thread = h.thread;
  f->step = run->step;
  f->other_thread = m.before.thread();
  f->block = h.block;
  f->other_block = h.before_block;
  f->bytes = m.bytes;
  f->writes = m.writes;
  f->other_writes = m.before_writes;
  f->relation = relation_of(h);
  f->traits = m.traits;
  f->other_traits = traits_of(m.before);
  f->work = has_work() ? piece_now().what : Work::kernel;
  Piece other = piece_at(m.before.when);
  f->other_work = has_work() ? other.what : Work::kernel;
  f->other_launched = other.launched;
  f->other_block_known = is_block_known(m.before.when);
  if (const uint32_t *never_waits = unwaited_by(m.before.when)) f->detail = *never_waits;
}

bool is_guess_place(uintptr_t pc) {
  for (int i = 0; i < races.guess_place_count; i++)
    if (races.guess_places[i] == pc) return true;
  return false;
}

bool may_be_guess(const Held &h) { return h.guesser != no_thread && h.kind != Kind::guessed_read; }

// Of three writers, each value but the last is one that another writer found: no value goes unseen.
Kind kind_of(const Held &h) {
  bool same = h.kind == Kind::race && h.met.writes && !has_changed(h);
  return same ? Kind::same_value_race : h.kind;
}

bool was_guess(const Held &h) { return may_be_guess(h) && is_guess_place(h.met.writes ? h.met.before.pc() : h.met.pc); }

void settle(const Held &h) { tell(was_guess(h) ? Kind::guessed_read : kind_of(h), h); }

void settle_at_end(const Held &h) {
  if (may_be_guess(h)) return tell(was_guess(h) ? Kind::guessed_read : h.kind, h);
  tell(is_last_write(h) && has_changed(h) ? Kind::race : h.kind, h);
}

template <class Condition>
void settle_where(Condition condition) {
  for (int i = 0; i < races.count; i++)
    if (!races.held[i].until_end && condition(races.held[i])) {
      if (may_be_guess(races.held[i]) && races.count_until_end < capacity_until_end) {  // until all can have swapped
        races.held[i].kind = kind_of(races.held[i]);
        races.held[i].until_end = true;
        races.count_until_end++;
        continue;
      }
      settle(races.held[i]);
      races.held[i--] = races.held[--races.count];
    }
}

void hold(const Meeting &m, Kind kind, int guesser, bool until_end) {
  if (races.count == capacity) settle_where([](const Held &) { return true; });
  bool other_guesses = guesser != no_thread && m.writes;
  uint32_t owner = other_guesses ? block_start_at(m.before.when) : ordering.own_start;
  races.held[races.count++] = {m, kind, value_at(m.address, m.bytes), block.number, block_at(m.before.when), owner, ordering.now,
                   static_cast<uint32_t>(block.current), until_end, guesser};
}

// Many accesses may conflict at the same two places in the code.
bool is_held(const Meeting &m, int guesser) {
  for (int i = 0; i < races.count; i++) {
    const Held &h = races.held[i];
    if (h.guesser == guesser && h.met.address == m.address && h.met.pc == m.pc && h.met.before.pc() == m.before.pc()) return true;
  }
  return false;
}

}  // namespace

void hold_race(const Meeting &m) { hold(m, Kind::race, no_thread, false); }

void hold_race_of_chain(const Meeting &m) {
  if (!is_held(m, no_thread)) hold(m, Kind::race_of_chain, no_thread, false);
}

void hold_race_after_poll(const Meeting &m) { hold(m, Kind::race_after_poll, no_thread, false); }

void hold_volatile_race(const Meeting &m) {
  bool until_end = m.writes && m.before_writes && races.count_until_end < capacity_until_end;
  if (!until_end && is_held(m, no_thread)) return;
  races.count_until_end += until_end;
  hold(m, Kind::volatile_race, no_thread, until_end);
}

void hold_guessed_read(const Meeting &m) {
  if (!is_held(m, block.current)) hold(m, Kind::race, block.current, false);
}

void hold_atomic_after_guess(const Meeting &m) {
  int guesser = static_cast<int>(m.before.thread());
  if (!is_held(m, guesser)) hold(m, Kind::race, guesser, false);
}

void tell_race_in_step(const Meeting &m) {
  if (races.has_told_in_step) return;
  races.has_told_in_step = true;
  tell_at_once(Kind::race_in_step, m);
}

void tell_at_once(Kind kind, const Meeting &m) {
  auto me = static_cast<uint32_t>(block.current);
  tell(kind, {m, kind, {}, block.number, block_at(m.before.when), ordering.own_start, ordering.now, me, false, no_thread});
}

void forgive_guesses(uintptr_t address, uint32_t bytes) {
  for (int i = 0; i < races.count; i++) {
    Held &h = races.held[i];
    bool mine = h.guesser == block.current && h.owner == ordering.own_start;
    if (mine && h.met.address < address + bytes && address < h.met.address + h.met.bytes) h.kind = Kind::guessed_read;
  }
}

void note_guess(uintptr_t pc) {
  if (races.guess_place_count < most_guess_places && !is_guess_place(pc)) races.guess_places[races.guess_place_count++] = pc;
}

void settle_races() {
  settle_where([](const Held &h) { return h.owner == ordering.own_start; });
}

void settle_all_but_late_races() {
  settle_where([](const Held &) { return true; });
}

void settle_all_races() {
  settle_all_but_late_races();
  for (int i = 0; i < races.count; i++) settle_at_end(races.held[i]);
  races.count = races.count_until_end = races.guess_place_count = 0;
  races.has_told_in_step = false;
}

}  // namespace cuda_on_cpu
