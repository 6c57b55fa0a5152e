// What a bulk copy accesses is checked when it is asked for, with what the asking thread knows. Its traces stay in the shadow:
// until somebody knows that it is over, every access that meets them is an error (checker.cpp).
#include "block.h"
#include "bulk_copies.h"
#include "checker.h"
#include "cluster.h"
#include "common_access.h"
#include "held_races.h"
#include "late_writes.h"
#include "memory_map.h"
#include "ordering.h"
#include "report.h"
#include "state.h"
#include "tensor_maps.h"
#include "unwritten.h"

namespace cuda_on_cpu {

namespace {

constexpr uint32_t most_maps = 512;
struct Maps {
  uintptr_t address[most_maps];  // that some thread has fenced
  uint32_t count;
};
PerRun<Maps> maps;

uint32_t mask_of(uintptr_t word, uintptr_t start, uintptr_t end) {
  uint32_t mask = 15;
  if (word < start) mask &= 15u << (start - word);
  if (word + 4 > end) mask &= 15u >> (word + 4 - end);
  return mask;
}

Finding *report_bulk(Kind kind, const BulkAccess &a) {
  Finding *f = report(kind, a.pc, 0);
  if (!f) return nullptr;
  f->bytes = a.bytes;
  f->writes = a.writes;
  f->traits = a.traits();
  locate(a.address, *f);
  return f;
}

struct Word {
  const BulkAccess &access;
  uintptr_t address;
  Cell &cell;
  uint32_t mask;
  bool shared;
};

// Whether it holds for the thread that asks, or for a lane of each warp that does.
template <class Holds>
bool holds_for(const BulkAccess &a, Holds holds) {
  if (!a.warps) return holds(block.current);
  for (uint32_t left = a.warps; left; left &= left - 1) {
    int first = __builtin_ctz(left) * warp_lanes, lane = 0;
    while (lane < warp_lanes && !holds(first + lane)) lane++;
    if (lane == warp_lanes) return false;
  }
  return true;
}

// Two copies bring equal bytes to one place of global memory: then it does not matter which of them lands last.
bool leaves_the_same(const Word &w, const Trace &before) {
  const BulkAccess &a = w.access;
  if (!a.source || a.reduces || before.is_atomic() || !before.is_bulk()) return false;
  land_copy(before.when);
  for (uint32_t i = 0; i < 4; i++)
    if (w.mask >> i & before.bytes() >> i & 1 && *reinterpret_cast<const char *>(w.address + i) != a.source[w.address + i - a.address]) return false;
  return true;
}

void check_against(const Word &w, const Trace &before, bool before_writes) {
  const BulkAccess &a = w.access;
  if (!(before.bytes() & w.mask) || (w.shared && before.when < ordering.own_start)) return;
  if (a.reduces && before.is_atomic()) return;
  Meeting met = {a.address, a.bytes, a.pc, a.traits(), a.writes, before, before_writes};
  bool is_known = holds_for(a, [&](int thread) { return is_ordered(before, thread); });
  if (!is_known && before_writes && leaves_the_same(w, before)) return tell_at_once(Kind::same_value_race, met);
  if (!is_known)
    return tell_at_once(!before.is_bulk() ? Kind::copy_races : is_product(kind_of_flight(before.when)) ? Kind::product_in_flight : Kind::copy_in_flight, met);
  Proxy proxy = w.shared ? Proxy::async_shared : Proxy::async_global;
  if (before_writes && !holds_for(a, [&](int thread) { return is_ordered(before, thread) && is_fenced(before, thread, proxy); }))
    tell_at_once(Kind::missing_proxy_fence, met);
}

bool is_some_initialised(const Region &region, const BulkAccess &a) {
  for (uintptr_t word = a.address & ~uintptr_t{3}; word < a.address + a.bytes; word += 4)
    if (region.cell(word)->initialised()) return true;
  return false;
}

// False: it is out of bounds.
bool check_word(const Region &region, const Word &w) {
  const BulkAccess &a = w.access;
  Cell &cell = w.cell;
  if ((cell.addressable() & w.mask) != w.mask) return report_bulk(Kind::out_of_bounds, a), false;
  bool stale = w.shared && cell.write.when < ordering.own_start;  // shared memory dies with its block
  if (stale) cell.set_initialised(0);
  bool reads = !a.writes || a.reduces;
  if (reads && (cell.initialised() & w.mask) != w.mask)
    report_bulk(is_some_initialised(region, a) ? Kind::partly_uninitialised : Kind::uninitialised, a);
  check_against(w, cell.write, true);
  uint32_t flags = w.mask | Trace::bulk_bit | (a.reduces ? Trace::atomic_bit : 0u);
  Trace t = {a.moment, who_is(static_cast<uint32_t>(block.current), a.pc), how_is(a.pc, flags)};
  if (a.writes) {
    check_against(w, cell.read, false);
    check_against(w, cell.other_read, false);
    if (cell.write.when == t.when) t.how = static_cast<uint16_t>(t.how | cell.write.bytes());
    cell.write = t;
    cell.set_initialised(cell.initialised() | w.mask);
  } else {
    if (cell.read.when && cell.read.when != t.when && !is_ordered(cell.read, block.current)) cell.other_read = cell.read;
    if (cell.read.when == t.when) t.how = static_cast<uint16_t>(t.how | cell.read.bytes());
    cell.read = t;
  }
  cell.hide();
  return true;
}

bool is_remote_and_ended(const BulkAccess &a, bool shared) {
  uint32_t rank = shared && block.cluster ? remote_rank_of(a.address) : no_rank;
  Trace t = {a.moment, who_is(static_cast<uint32_t>(block.current), a.pc), how_is(a.pc, Trace::whole | Trace::bulk_bit)};
  return rank != no_rank && !checker_remote_access(rank, {a.address, a.bytes, a.writes, t});
}

bool is_inside(const Region &region, const BulkAccess &a) {
  for (uintptr_t word = a.address & ~uintptr_t{3}; word < a.address + a.bytes; word += 4) {
    uint32_t mask = mask_of(word, a.address, a.address + a.bytes);
    Cell &cell = *region.cell(word);
    if ((cell.addressable() & mask) != mask) return report_bulk(Kind::out_of_bounds, a), false;
    if (a.writes) cell.set_initialised(cell.initialised() | mask);
  }
  return true;
}

}  // namespace

void checker_bulk(const BulkAccess &a) {
  bool shared;
  const Region *region = region_of(a.address, shared);
  if (!region) {
    if (is_unchecked(a.address)) return;
    report_bulk(Kind::illegal_address, a);
    run_is_damaged();
    end_thread();
  }
  if (is_remote_and_ended(a, shared)) return;
  if (region == &memory_map.buffers) {
    if (a.writes)
      expect_no_guess(a.address, a.bytes);
    else if (is_unwritten(a.address, a.bytes))
      return;
  }
  if (checker.is_light) {
    is_inside(*region, a);
    return;
  }
  uintptr_t end = a.address + a.bytes;
  for (uintptr_t word = a.address & ~uintptr_t{3}; word < end; word += 4) {
    *region->settled_at(word) = 0, unsettle(word);
    if (!check_word(*region, {a, word, *region->cell(word), mask_of(word, a.address, end), shared})) return;
  }
}

uint32_t number_of_map(uintptr_t map) {
  for (uint32_t i = 0; i < maps.count; i++)
    if (maps.address[i] == map) return i;
  if (maps.count == most_maps) return most_maps;  // one for all others: then more counts as fenced
  maps.address[maps.count] = map;
  return maps.count++;
}

// A map that the launch has not changed needs nothing.
void checker_map_read(uintptr_t map, uint64_t pc) {
  bool shared;
  const Region *region = region_of(map, shared);
  if (!region || checker.is_light) return;
  BulkAccess a = {map, bytes_of_map, false, false, ordering.now, pc};
  uint32_t number = number_of_map(map);
  for (uintptr_t word = map & ~uintptr_t{3}; word < map + bytes_of_map; word += 4) {
    Cell &cell = *region->cell(word);
    if (!cell.addressable()) return;
    const Trace &before = cell.write;
    if (!before.when || before.when < ordering.all_before) continue;
    Meeting met = {a.address, a.bytes, a.pc, is_bulk, false, before, true};
    if (!is_ordered(before, block.current)) return tell_at_once(Kind::copy_races, met);
    if (!is_fenced(before, block.current, Proxy::tensor_map) || !is_map_fenced(number, before, block.current))
      return tell_at_once(Kind::missing_map_fence, met);
  }
}

}  // namespace cuda_on_cpu
