// The happens-before rules of ordering.h. Long, since barriers, fences, atomics and copies all update the same clocks,
// and a rule is correct only together with the others.
#include "ordering.h"

#include <cstdlib>
#include <cstring>

#include "cluster.h"
#include "messages.h"
#include "work.h"

namespace cuda_on_cpu {

Settled cuda_on_cpu_settled;

PerProcess<Ordering> ordering;

namespace {

// Never to a multiple of 256: Region::settled has the lower bits of a moment, or 0.
uint32_t tick() {
  if (!(++ordering.now & 0xff)) {
    ++ordering.now;
    forget_settled();
  }
  settled_moment(ordering.now);
  return ordering.now;
}

// Which block ran from which moment on.
struct Shift {
  uint32_t from, started;  // its start: distinguishes two blocks
  uint32_t number;         // as in BlockOrdering
  uint64_t block;          // in the grid
};

struct Flight {
  uint32_t moment;
  FlightKind kind;
};

struct ShiftRoom {
  Shift *shifts;
  uint32_t shift_capacity;
  Flight *flights;
  uint32_t flight_capacity;
  BlockOrdering of_single;  // work that is not a kernel
};
PerProcess<ShiftRoom> room;

struct Shifts {
  uint32_t shift_count, blocks_started, flight_count;
};
PerRun<Shifts> launched;

// Agents of a block: its threads, its warps, and all of it. Blocks whose starts are more than 262,144 apart share
// agents; then more counts as known than was published. The numbers that a block leaves free are those of flights.
constexpr uint32_t agent_bits = 11, whole = max_threads + max_warps, first_of_flights = whole + 1;
constexpr uint32_t flights_each = (1u << agent_bits) - first_of_flights, space_shift = 29, space_bit = 1u << space_shift;
uint32_t agent(uint32_t number, uint32_t which) { return (number << agent_bits & (space_bit - 1)) | which; }

// An agent in another space: what it has done that has passed a fence of this kind.
enum Space : uint32_t { of_async_shared = 1, of_async_global, of_tensor_map, of_inits, of_map_fences, of_tensor_before, of_tensor_after };
uint32_t in_space(Space space, uint32_t agent) { return space << space_shift | agent; }
// Among the fences of maps, which are few: what was read at an address, whose lower bits are enough.
uint32_t key_of_observed(uintptr_t address) { return in_space(of_map_fences, space_bit >> 1 | (static_cast<uint32_t>(address >> 3) & ((space_bit >> 1) - 1))); }
constexpr uint32_t grids_before = ~0u;  // no agent: knowledge of it means that the kernels before this one are over
uint32_t warp_of(int thread) { return max_threads + static_cast<uint32_t>(thread) / warp_lanes; }

void forget_what_is_known(BlockOrdering &own) {
  own.track = ordering.track;
  own.known_to_all = own.fenced_by_all = own.polled_by_all = nothing;
  if (own.keeps_knowledge) memset(own.thread, 0, sizeof own.thread);
  own.uses_fences = own.keeps_knowledge = false;
}

// More happened than can be kept: all of it counts as ordered.
void lose_track() {
  ordering.all_before = ordering.lost_at = tick();
  ordering.track++;
  forget_knowledge();
  forget_messages();
  forget_what_is_known(*ordering.own);
  launched.flight_count = 0;
}

uint32_t number_of_flight(uint32_t moment) {
  uint32_t low = 0, high = launched.flight_count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    (room.flights[middle].moment <= moment ? low : high) = middle;
  }
  return low;
}

uint32_t agent_of_flight(uint32_t moment) {
  uint32_t low = number_of_flight(moment);
  return agent(low / flights_each, first_of_flights + low % flights_each);
}

bool has_flights_since(uint32_t moment) { return launched.flight_count && moment >= room.flights[0].moment; }

void begin_shift(const BlockOrdering &own) {
  if (launched.shift_count == room.shift_capacity) {
    uint32_t larger = room.shift_capacity ? 2 * room.shift_capacity : 1024;
    auto *made = static_cast<Shift *>(realloc(room.shifts, larger * sizeof(Shift)));
    if (!made) {  // then the last one seems to have run since then
      lose_track();
      room.shifts[launched.shift_count - 1] = {ordering.now, own.start, own.number, block.number};
      return;
    }
    room.shifts = made;
    room.shift_capacity = larger;
  }
  room.shifts[launched.shift_count++] = {ordering.now, own.start, own.number, block.number};
}

const Shift &shift_at(uint32_t when) {
  uint32_t low = 0, high = launched.shift_count;  // the last that began at or before then
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    (room.shifts[middle].from <= when ? low : high) = middle;
  }
  return room.shifts[low];
}

bool knows(Knowledge knowledge, uint32_t number, int thread, uint32_t when) {
  return knowledge && (known_until(knowledge, agent(number, static_cast<uint32_t>(thread))) > when ||
                       known_until(knowledge, agent(number, warp_of(thread))) > when ||
                       known_until(knowledge, agent(number, whole)) > when);
}

// Everything that happened before the next access of a thread.
Knowledge all_known(int t) {
  const BlockOrdering &own = *ordering.own;
  uint32_t warp = static_cast<uint32_t>(t) / warp_lanes;
  Knowledge known = joined(own.known_to_all, own.thread[t].known);
  if (block.cluster) known = with(known, agent(own.number, whole), own.start + 1);  // it has begun
  if (own.interval_start > own.start) known = with(known, agent(own.number, whole), own.interval_start);
  if (own.warp_start[warp] > own.interval_start) known = with(known, agent(own.number, warp_of(t)), own.warp_start[warp]);
  for (uint32_t lane = 0; own.partial_warps >> warp & 1 && lane < warp_lanes; lane++)
    if (own.lane_start[t][lane] > own.interval_start)
      known = with(known, agent(own.number, warp * warp_lanes + lane), own.lane_start[t][lane]);
  return with(known, agent(own.number, static_cast<uint32_t>(t)), tick());
}

void make_room() {
  if (!has_room_for_knowledge()) lose_track();
}

void set_alone(uint32_t from) {
  ordering.own_start = ordering.own->start;
  ordering.alone_from = from;
  uint32_t interval = ordering.own->interval_start;
  ordering.alone_interval = interval > from ? interval : from;
}

Knowledge of_all_threads(Knowledge start, Knowledge ThreadOrdering::*part) {
  begin_joining();
  for (int t = 0; t < block.size; t++) start = joined(start, ordering.own->thread[t].*part);
  end_joining();
  return start;
}

}  // namespace

static bool knows_grids_before(int t) {
  const BlockOrdering &own = *ordering.own;
  return known_until(own.known_to_all, grids_before) > ordering.work_start || known_until(own.thread[t].known, grids_before) > ordering.work_start;
}

void order_wait_for_grids(int t) {
  if (!has_begun_early()) return;
  BlockOrdering &own = *ordering.own;
  note_wait();
  make_room();
  own.keeps_knowledge = true;
  own.thread[t].known = with(own.thread[t].known, grids_before, tick());
}

// The first thread of a block to trigger is the one that counts.
void order_trigger(int t) {
  if (!ordering.own->has_triggered) note_trigger(true, has_begun_early() && knows_grids_before(t));
  ordering.own->has_triggered = true;
}

void order_end_of_block() {
  if (!has_begun_early() || ordering.own->has_triggered) return;
  bool has_waited = false;
  for (int t = 0; t < block.size && !has_waited; t++) has_waited = knows_grids_before(t);
  note_trigger(false, has_waited);
}

bool is_flight_known(uint32_t moment, int t) {
  if (moment < ordering.all_before || !has_flights_since(moment)) return true;
  uint32_t key = agent_of_flight(moment);
  return known_until(ordering.own->known_to_all, key) > moment || known_until(ordering.own->thread[t].known, key) > moment;
}

static bool is_before_wait(uint32_t when, int current) {
  return has_begun_early() && !is_of_this_work(when) && knows_grids_before(current) && is_done_before_wait(when);
}

const uint32_t *is_ordered_by_chain(const Trace &before, int current) {
  return is_before_wait(before.when, current) ? unwaited_by(before.when) : nullptr;
}

bool is_ordered(const Trace &before, int current) {
  uint32_t when = before.when;
  if (when < ordering.all_before || (!is_of_this_work(when) && is_done_before(when))) return true;
  if (is_before_wait(when, current) && !unwaited_by(when)) return true;
  if (!is_block_known(when)) return false;
  const BlockOrdering &own = *ordering.own;
  const Shift &shift = shift_at(when);
  int other = static_cast<int>(before.thread());
  if (before.is_bulk()) return is_flight_known(when, current);
  if (shift.started == own.start) {
    if (when < own.interval_start || other == current) return true;
    uint32_t warp = static_cast<uint32_t>(current) / warp_lanes;
    if (same_warp(other, current) &&
        (when < own.warp_start[warp] ||
         (own.partial_warps >> warp & 1 && when < own.lane_start[current][other % warp_lanes])))
      return true;
  }
  return knows(own.known_to_all, shift.number, other, when) || knows(own.thread[current].known, shift.number, other, when);
}

bool is_ordered_by_poll(const Trace &before, int current) {
  const BlockOrdering &own = *ordering.own;
  Knowledge polled = own.thread[current].polled;
  if (before.is_bulk() || !(polled || own.polled_by_all) || !is_block_known(before.when)) return false;
  uint32_t number = shift_at(before.when).number;
  int other = static_cast<int>(before.thread());
  return knows(polled, number, other, before.when) || knows(own.polled_by_all, number, other, before.when);
}

bool is_of_this_block(uint32_t when) {
  return when >= ordering.own->start && shift_at(when).started == ordering.own->start;
}

bool is_of_this_work(uint32_t when) { return when >= ordering.work_start; }

bool is_block_known(uint32_t when) { return launched.shift_count && when >= room.shifts[0].from; }

uint64_t block_at(uint32_t when) { return launched.shift_count ? shift_at(when).block : 0; }

uint32_t block_start_at(uint32_t when) { return launched.shift_count ? shift_at(when).started : 0; }

bool prepare_ordering() { return map_knowledge(); }

void order_from_start() {
  uint32_t track = ordering.track + 1;
  BlockOrdering *own = ordering.own;
  static_cast<Ordering &>(ordering) = {};
  ordering.track = track;
  ordering.own = own;
  forget_settled();
}

uint32_t next_moment() { return tick(); }

// What concurrent work has published by atomics stays known: then blocks of several launches are distinguished like
// those of one.
void order_work(uint32_t start, uint32_t all_before) {
  constexpr uint32_t most_shifts = 1 << 22;
  if (launched.shift_count > most_shifts) all_before = ordering.lost_at = start;
  ordering.work_start = start;
  ordering.all_before = all_before > ordering.lost_at ? all_before : ordering.lost_at;
  if (ordering.all_before < start) return;
  launched.shift_count = launched.blocks_started = launched.flight_count = 0;
  forget_messages();
  forget_knowledge();
}

void order_single(uint32_t start, uint32_t all_before) {
  order_work(start, all_before);
  block.current = 0;
  block.number = 0;
  cuda_on_cpu_settled.not_mine = ~uint64_t{0};  // of no warp
  order_block(room.of_single);
}

void order_launch() {
  uint32_t start = tick();
  order_work(start, start);
}

void order_block(BlockOrdering &starting) {
  ordering.own = &starting;
  starting.number = launched.blocks_started++;
  starting.start = starting.interval_start = tick();
  forget_what_is_known(starting);
  starting.has_triggered = false;
  memset(starting.warp_start, 0, sizeof starting.warp_start);
  for (; starting.partial_warps; starting.partial_warps &= starting.partial_warps - 1)
    memset(starting.lane_start[__builtin_ctz(starting.partial_warps) * warp_lanes], 0, warp_lanes * sizeof *starting.lane_start);
  begin_shift(starting);
  set_alone(starting.start);
}

void order_resumed(BlockOrdering &resumed) {
  ordering.own = &resumed;
  if (resumed.track != ordering.track) forget_what_is_known(resumed);
  tick();
  begin_shift(resumed);
  set_alone(ordering.now);
}

// A barrier is a fence of the block for all threads that reach it. After it, any of them may pass on to other blocks
// what they fenced before it: in CUDA's own samples all threads fence, then comes a barrier, then one thread takes the
// ticket.
void order_barrier() {
  BlockOrdering &own = *ordering.own;
  own.interval_start = tick();
  if (own.interval_start > ordering.alone_from) ordering.alone_interval = own.interval_start;
  if (!own.keeps_knowledge) return;
  make_room();
  own.known_to_all = of_all_threads(of_all_threads(own.known_to_all, &ThreadOrdering::known), &ThreadOrdering::pending_in_block);
  own.fenced_by_all = of_all_threads(own.fenced_by_all, &ThreadOrdering::fenced);
  own.polled_by_all = of_all_threads(own.polled_by_all, &ThreadOrdering::polled);
  for (int t = 0; t < block.size; t++) {
    own.thread[t].known = own.thread[t].pending_in_block = own.thread[t].polled = nothing;
    own.thread[t].fenced = own.thread[t].fenced_in_block = nothing;
  }
}

bool has_begun(const BlockOrdering &other, int current) {
  const BlockOrdering &own = *ordering.own;
  return other.start < ordering.all_before || known_until(own.known_to_all, agent(other.number, whole)) > other.start ||
         known_until(own.thread[current].known, agent(other.number, whole)) > other.start;
}

// By any of its threads: it ends when the last of them ends.
bool is_known_at_end(const Trace &before) {
  const BlockOrdering &own = *ordering.own;
  if (before.when < ordering.all_before || before.when < own.start) return true;
  if (before.is_bulk()) return is_flight_known_in_block(before.when);
  uint32_t number = shift_at(before.when).number;
  int thread = static_cast<int>(before.thread());
  if (knows(own.known_to_all, number, thread, before.when)) return true;
  for (int t = 0; own.keeps_knowledge && t < block.size; t++)
    if (knows(own.thread[t].known, number, thread, before.when)) return true;
  return false;
}

namespace {

Knowledge known_by_arrived(Cluster &c) {
  if (c.track != ordering.track) c.known = c.known_before = nothing;
  c.track = ordering.track;
  return c.known;
}

bool is_apart(const Member &m, int t) { return m.apart[t / 64] >> (t % 64) & 1; }

bool has_any_apart(const Member &m) {
  for (uint64_t bits : m.apart)
    if (bits) return true;
  return false;
}

// What a block has done until now. Its threads wait, so all of them have done it; for those that continue meanwhile,
// what they had done on arrival was recorded then.
Knowledge all_done_by(const Member &m, Knowledge known) {
  const BlockOrdering &own = *m.ordering;
  bool all_wait = !has_any_apart(m);
  if (all_wait) known = joined(known, own.known_to_all);
  known = with(known, agent(own.number, whole), all_wait ? ordering.now : own.start + 1);
  for (int t = 0; (own.keeps_knowledge || !all_wait) && t < block.size; t++) {
    if (is_apart(m, t)) continue;  // what it knew is passed on already; or nothing, if its arrival was relaxed
    if (!all_wait) known = joined(known, own.known_to_all);
    known = joined(known, joined(own.thread[t].known, own.thread[t].pending_in_block));
    if (!all_wait) known = with(known, agent(own.number, static_cast<uint32_t>(t)), ordering.now);
  }
  return known;
}

void learn(const Member &m, Knowledge all) {
  BlockOrdering &own = *m.ordering;
  if (!has_any_apart(m)) {
    own.known_to_all = joined(own.known_to_all, all);
    return;
  }
  own.keeps_knowledge = true;
  for (int t = 0; t < block.size; t++)
    if (!is_apart(m, t)) own.thread[t].known = joined(own.thread[t].known, all);
}

}  // namespace

void order_cluster_barrier(Cluster &c) {
  make_room();
  tick();
  for (uint32_t rank = 0; rank < c.size; rank++)
    if (c.member[rank].ordering->track != ordering.track) forget_what_is_known(*c.member[rank].ordering);
  Knowledge all = known_by_arrived(c);
  for (uint32_t rank = 0; rank < c.size; rank++) all = all_done_by(c.member[rank], all);
  for (uint32_t rank = 0; rank < c.size; rank++) {
    learn(c.member[rank], all);
    memset(c.member[rank].apart, 0, sizeof c.member[rank].apart);
  }
  c.known = nothing;
  c.known_before = all;
}

void order_arrival_apart(Cluster &c, int t, bool releases) {
  make_room();
  const BlockOrdering &own = *ordering.own;
  c.known = joined(known_by_arrived(c), releases ? all_known(t) : joined(own.thread[t].fenced, own.fenced_by_all));
}

void order_wait_of_cluster(Cluster &c, int t) {
  BlockOrdering &own = *ordering.own;
  make_room();
  known_by_arrived(c);
  own.keeps_knowledge = true;
  own.thread[t].known = joined(own.thread[t].known, c.known_before);
}

void order_grid_barrier() { ordering.all_before = tick(); }

void order_step(int first_thread, uint32_t all_lanes) {
  uint32_t &synced = ordering.own->warp_synced[first_thread / warp_lanes], before = synced;
  order_warp(first_thread, all_lanes, all_lanes);
  synced = before;
}

bool is_ordered_by_steps(const Trace &before, int current) {
  const BlockOrdering &own = *ordering.own;
  int other = static_cast<int>(before.thread());
  return other != current && before.when >= own.interval_start && before.when >= own.warp_synced[current / warp_lanes];
}

void order_warp(int first_thread, uint32_t lanes, uint32_t all_lanes) {
  BlockOrdering &own = *ordering.own;
  uint32_t warp = static_cast<uint32_t>(first_thread) / warp_lanes, now = tick();
  own.warp_synced[warp] = now;
  if (own.keeps_knowledge) {
    make_room();
    Knowledge known = nothing, fenced = nothing, fenced_in_block = nothing, polled = nothing;
    for (int l = 0; l < warp_lanes; l++) {
      const ThreadOrdering &other = own.thread[first_thread + l];
      if (!(lanes >> l & 1)) continue;
      known = joined(known, joined(other.known, other.pending_in_block));
      fenced = joined(fenced, other.fenced);
      fenced_in_block = joined(fenced_in_block, other.fenced_in_block);
      polled = joined(polled, other.polled);
    }
    for (int l = 0; l < warp_lanes; l++) {
      ThreadOrdering &other = own.thread[first_thread + l];
      if (!(lanes >> l & 1)) continue;
      other.known = known;
      other.fenced = fenced;  // as at a barrier of the block: one lane may pass on what others have fenced
      other.fenced_in_block = fenced_in_block;
      other.polled = polled;
    }
  }
  if (lanes == all_lanes) {
    own.warp_start[warp] = now;
    return;
  }
  own.partial_warps |= 1u << warp;
  uint32_t start[warp_lanes] = {};
  for (int l = 0; l < warp_lanes; l++)
    for (int k = 0; lanes >> l & 1 && k < warp_lanes; k++) {
      uint32_t known_of = own.lane_start[first_thread + l][k];
      if (lanes >> k & 1) known_of = now;
      if (known_of > start[k]) start[k] = known_of;
    }
  for (int l = 0; l < warp_lanes; l++)
    if (lanes >> l & 1) memcpy(own.lane_start[first_thread + l], start, sizeof start);
}

void order_fence(int t, Scope scope) {
  BlockOrdering &own = *ordering.own;
  ThreadOrdering &me = own.thread[t];
  make_room();
  own.uses_fences = own.keeps_knowledge = true;
  me.known = joined(me.known, me.pending_in_block);
  if (scope == Scope::device) me.known = joined(joined(me.known, me.pending), joined(me.polled, own.polled_by_all));
  me.fenced_in_block = all_known(t);
  if (scope == Scope::device) me.fenced = me.fenced_in_block;
}

void order_strong(int t, uintptr_t address, const Strength &s) {
  BlockOrdering &own = *ordering.own;
  ThreadOrdering &me = own.thread[t];
  bool passes_on = s.writes && (s.releases || me.fenced || me.fenced_in_block || own.fenced_by_all);
  if (!passes_on && !has_messages()) return;  // as most atomics: there is nothing to learn
  make_room();
  if (s.reads) {
    Knowledge in_block = message(address, own.number), got = in_block;
    if (s.scope == Scope::device) got = joined(got, message(address, to_everybody));
    if (got) own.uses_fences = own.keeps_knowledge = true;
    if (s.acquires)
      me.known = joined(me.known, got);
    else
      me.pending_in_block = joined(me.pending_in_block, in_block), me.pending = joined(me.pending, got);
    if (s.polls && !s.acquires) me.polled = joined(me.polled, got);
  }
  if (!s.writes) return;
  Knowledge in_block = s.releases ? all_known(t) : joined(me.fenced_in_block, own.fenced_by_all);
  Knowledge anywhere = s.releases ? in_block : joined(me.fenced, own.fenced_by_all);
  bool kept = publish(address, own.number, in_block);
  if (s.scope == Scope::device) kept = publish(address, to_everybody, anywhere) && kept;
  if (!kept) lose_track();
}

void order_observed(int t, uintptr_t address, const Trace &write, const Strength &s) {
  if (!has_messages() || is_ordered(write, t) || is_observed(write, t, address)) return;
  BlockOrdering &own = *ordering.own;
  ThreadOrdering &me = own.thread[t];
  bool in_block = message(address, own.number), anywhere = s.scope == Scope::device && message(address, to_everybody);
  if (!in_block && !anywhere) return;
  make_room();
  own.uses_fences = own.keeps_knowledge = true;
  uint32_t key = key_of_observed(address), until = write.when + 1;
  if (s.acquires) {
    me.known = with(me.known, key, until);
    return;
  }
  me.pending = with(me.pending, key, until);
  if (in_block) me.pending_in_block = with(me.pending_in_block, key, until);
}

bool is_observed(const Trace &write, int current, uintptr_t address) {
  uint32_t key = key_of_observed(address);
  return known_until(ordering.own->known_to_all, key) > write.when ||
         known_until(ordering.own->thread[current].known, key) > write.when;
}

Knowledge told_by(int t) {
  make_room();
  return all_known(t);
}

void order_told(int t, Knowledge knowledge) {
  if (!knowledge) return;
  make_room();
  ordering.own->keeps_knowledge = true;
  ordering.own->thread[t].known = joined(ordering.own->thread[t].known, knowledge);
}

uint32_t begin_flight(FlightKind kind) {
  constexpr uint32_t most_flights = 1 << 22;
  make_room();
  uint32_t moment = tick();
  if (launched.flight_count == room.flight_capacity) {
    uint32_t larger = room.flight_capacity ? 2 * room.flight_capacity : 1024;
    auto *made = larger <= most_flights ? static_cast<Flight *>(realloc(room.flights, larger * sizeof *room.flights)) : nullptr;
    if (!made) {
      lose_track();
      moment = tick();
      if (!room.flight_capacity) return moment;
    } else {
      room.flights = made;
      room.flight_capacity = larger;
    }
  }
  room.flights[launched.flight_count++] = {moment, kind};
  tick();  // nothing else happens at this moment
  return moment;
}

FlightKind kind_of_flight(uint32_t moment) { return has_flights_since(moment) ? room.flights[number_of_flight(moment)].kind : FlightKind::copy; }

uint32_t last_flight() { return launched.flight_count ? room.flights[launched.flight_count - 1].moment : 0; }

uint32_t traits_of_flight(uint32_t moment) {
  switch (kind_of_flight(moment)) {
    case FlightKind::product: return is_bulk | is_of_product;
    case FlightKind::tensor_core: return is_bulk | is_of_tensor_core;
    case FlightKind::tensor_load: return is_bulk | is_tensor_load;
    case FlightKind::tensor_store: return is_bulk | is_tensor_store;
    default: return is_bulk;
  }
}

Knowledge with_flight(Knowledge knowledge, uint32_t moment) {
  if (moment < ordering.all_before || !has_flights_since(moment)) return knowledge;
  make_room();
  return with(knowledge, agent_of_flight(moment), moment + 1);
}

bool is_flight_known_in_block(uint32_t moment) {
  if (moment < ordering.all_before) return true;
  for (int t = 0; t < block.size; t++)
    if (is_flight_known(moment, t)) return true;
  return false;
}

namespace {

Space space_of(Proxy proxy) { return proxy == Proxy::async_shared ? of_async_shared : proxy == Proxy::async_global ? of_async_global : of_tensor_map; }

bool is_known_in(Space space, const Trace &before, int current) {
  uint32_t when = before.when, number = shift_at(when).number, own_agent = agent(number, before.thread());
  auto is_in = [&](Knowledge known) {
    auto until = [&](uint32_t one) { return known_until(known, in_space(space, one)) > when; };
    return until(own_agent) || until(agent(number, warp_of(static_cast<int>(before.thread())))) || until(agent(number, whole));
  };
  return is_in(ordering.own->known_to_all) || is_in(ordering.own->thread[current].known);
}

// Known to be over before this launch began, or more than can be distinguished.
bool is_of_past(const Trace &before) {
  return before.when < ordering.all_before || !is_of_this_work(before.when) || !is_block_known(before.when);
}

}  // namespace

void order_proxy_fence(int t, Proxy proxy) {
  Knowledge known = told_by(t);
  known = with_copies(known, 0, space_bit - 1, in_space(space_of(proxy), 0));
  make_room();
  ordering.own->keeps_knowledge = true;
  ordering.own->thread[t].known = joined(ordering.own->thread[t].known, known);
}

bool is_fenced(const Trace &before, int current, Proxy proxy) {
  return before.is_bulk() || is_of_past(before) || is_known_in(space_of(proxy), before, current);
}

void order_map_fence(int t, uint32_t map) {
  make_room();
  ordering.own->keeps_knowledge = true;
  ordering.own->thread[t].known = with(ordering.own->thread[t].known, in_space(of_map_fences, map), tick());
}

bool is_map_fenced(uint32_t map, const Trace &before, int current) {
  uint32_t key = in_space(of_map_fences, map);
  return is_of_past(before) || known_until(ordering.own->known_to_all, key) > before.when ||
         known_until(ordering.own->thread[current].known, key) > before.when;
}

namespace {
Space space_of(TensorFence fence) { return fence == TensorFence::before ? of_tensor_before : of_tensor_after; }
}  // namespace

Knowledge with_fenced_flight(Knowledge knowledge, uint32_t moment) {
  if (moment < ordering.all_before || !has_flights_since(moment)) return knowledge;
  make_room();
  uint32_t flight = agent_of_flight(moment);
  return with(with(knowledge, flight, moment + 1), in_space(of_tensor_before, flight), moment + 1);
}

// What had passed the first fence when a thread learned of it passes the second one by that thread.
void order_tensor_fence(int t, TensorFence fence) {
  Knowledge known = told_by(t);
  uint32_t from = fence == TensorFence::before ? 0 : in_space(of_tensor_before, 0);
  known = with_copies(known, from, from + (space_bit - 1), in_space(space_of(fence), 0));
  make_room();
  ordering.own->keeps_knowledge = true;
  ordering.own->thread[t].known = joined(ordering.own->thread[t].known, known);
}

bool is_tensor_fenced(uint32_t moment, int t, TensorFence fence) {
  if (moment < ordering.all_before || !has_flights_since(moment)) return true;
  uint32_t key = in_space(space_of(fence), agent_of_flight(moment));
  return known_until(ordering.own->known_to_all, key) > moment || known_until(ordering.own->thread[t].known, key) > moment;
}

void order_fence_of_inits(int t) {
  BlockOrdering &own = *ordering.own;
  make_room();
  own.uses_fences = own.keeps_knowledge = true;
  uint32_t key = in_space(of_inits, agent(own.number, static_cast<uint32_t>(t)));
  own.thread[t].fenced = with(own.thread[t].fenced, key, tick());
  own.thread[t].fenced_in_block = with(own.thread[t].fenced_in_block, key, ordering.now);
}

bool is_init_known(const Trace &init, int current) {
  return is_ordered(init, current) || is_of_past(init) || is_known_in(of_inits, init, current);
}

}  // namespace cuda_on_cpu
