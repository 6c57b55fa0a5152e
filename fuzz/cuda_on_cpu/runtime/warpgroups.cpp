#include "warpgroups.h"

#include <cstdlib>
#include <cstring>

#include "block.h"
#include "checker.h"
#include "common_access.h"
#include "host_code.h"
#include "late_writes.h"
#include "library_image.h"
#include "ordering.h"
#include "report.h"
#include "shared_matrices.h"
#include "state.h"
#include "stack_words.h"
#include "tensor_memory.h"

namespace cuda_on_cpu {

PerRun<WatchedRegisters> watched_registers;

namespace {

// A product that a thread has asked for and not waited for.
struct InFlight {
  uint32_t group;   // of the thread's
  uint32_t moment;  // of its reads of shared memory; 0: accesses were not checked
  uint64_t pc;      // relative
  TensorType type, sum_type;
  uint32_t columns;
  Spans sums, a;
};

// What a thread has stored on its stack since its last wgmma.fence: the latest stores.
constexpr uint32_t most_stores = 256;
struct Own {
  uint32_t groups;  // that it has committed
  bool has_fenced;
  InFlight *flying;
  uint32_t count, size, store_count;
  Span stores[most_stores];
};

enum class Asks : uint8_t { nothing, product, registers };
struct Warpgroup {
  const Wgmma *asked[warpgroup_threads];
  uintptr_t pc[warpgroup_threads];
  uint32_t came;
  Asks asks;
};

struct OfBlock {
  Own own[max_threads];
  Warpgroup group[max_threads / warpgroup_threads];
};

struct Room {
  OfBlock *of_resident[max_residents];
  bool is_used[max_residents];
  Factors a, b;
  Places places;
};
PerProcess<Room> room;

struct Running {
  uint32_t resident;
};
PerRun<Running> running;

OfBlock &of_block() {
  OfBlock *&found = room.of_resident[running.resident];
  if (!found) found = static_cast<OfBlock *>(calloc(1, sizeof(OfBlock)));
  if (!found) stop_run(Status::too_large);
  room.is_used[running.resident] = true;
  return *found;
}

Own &own_of(int thread) { return of_block().own[thread]; }
uint64_t relative(uintptr_t pc) { return pc - library_start(*run->module); }

void report_by(int thread, Kind kind, uint64_t pc, uint64_t other_pc = 0, uint64_t detail = 0, bool writes = false) {
  Finding *f = report(kind, pc, 0, other_pc);
  if (!f) return;
  f->thread = f->other_thread = static_cast<uint32_t>(thread);
  f->detail = detail;
  f->writes = writes;
}

// Of A a warp reads its own 16 rows, of B all.
void check_matrix(const PlacedMatrix &p, bool is_a, uint32_t first_warp, uint32_t moment, uint64_t pc) {
  each_access(p, [&](uintptr_t address, uint32_t row) {
    uint32_t warps = (is_a ? 1u << row / 16 : 15u) << first_warp;
    checker_bulk({address, chunk_bytes, false, false, moment, pc, is_of_product, warps});
  });
}

PlacedMatrix place(uint64_t descriptor, uint32_t rows, uint32_t depth, TensorType type, bool by_depth) {
  return place_matrix(matrix_of(descriptor), rows, depth, type, by_depth, running.resident);
}

// Registers.

Spans sums_of(const Wgmma &w) {
  Spans made = {};
  for (uint32_t i = 0; w.watches_sums && i < w.sum_count; i++) made.add(w.sums[i]);
  return made;
}

bool is_alike(const InFlight &one, const Wgmma &w) { return one.type == w.a && one.sum_type == w.sum && one.columns == w.columns; }

void check_registers(int thread, const Wgmma &w, const Spans &sums, uint64_t pc) {
  Own &own = own_of(thread);
  if (!own.has_fenced) report_by(thread, Kind::registers_unfenced, pc, 0, 1);
  for (uint32_t i = 0; i < own.store_count; i++)
    if (sums.meet(own.stores[i].start, own.stores[i].end)) {
      report_by(thread, Kind::registers_unfenced, pc);
      break;
    }
  for (uint32_t i = 0; i < own.count; i++) {
    const InFlight &one = own.flying[i];
    for (uint32_t s = 0; s < sums.count && !is_alike(one, w); s++)
      if (one.sums.meet(sums.all[s].start, sums.all[s].end)) report_by(thread, Kind::sum_in_flight, pc, one.pc, one.group == own.groups, true);
  }
}

void note_in_flight(int thread, const Wgmma &w, const Spans &sums, uint32_t moment, uint64_t pc) {
  Own &own = own_of(thread);
  if (own.count == own.size) {
    uint32_t larger = own.size ? 2 * own.size : 8;
    auto *made = static_cast<InFlight *>(realloc(static_cast<void *>(own.flying), larger * sizeof(InFlight)));
    if (!made) stop_run(Status::too_large);
    own.flying = made;
    own.size = larger;
  }
  InFlight one = {own.groups, moment, pc, w.a, w.sum, w.columns, sums, {}};
  for (const void *at : w.a_places)
    if (w.a_in_registers && at) one.a.add(at);
  own.flying[own.count++] = one;
}

// All threads of a warpgroup have come.
bool agree(const Wgmma &a, const Wgmma &b) {
  bool same = a.a == b.a && a.b == b.b && a.sum == b.sum && a.columns == b.columns && a.adds == b.adds && a.a_in_registers == b.a_in_registers;
  bool signs = a.negates_a == b.negates_a && a.negates_b == b.negates_b && a.a_by_column == b.a_by_column && a.b_by_column == b.b_by_column;
  return same && signs && a.is_sparse == b.is_sparse && a.selector == b.selector && a.b_at == b.b_at && (a.a_in_registers || a.a_at == b.a_at);
}

void make_product(Warpgroup &group, int first) {
  const Wgmma &w = *group.asked[0];
  uint64_t pc = relative(group.pc[0]);
  for (int i = 1; i < static_cast<int>(warpgroup_threads); i++)
    if (!agree(w, *group.asked[i])) {
      report_by(first + i, Kind::warpgroup_disagrees, relative(group.pc[i]), pc);
      stop_run(Status::stopped);
    }
  const uint32_t stored = depth_of(w.a);
  PlacedMatrix b = place(w.b_at, w.columns, w.is_sparse ? 2 * stored : stored, w.b, !w.b_by_column), a = {};
  if (!w.a_in_registers) a = place(w.a_at, product_rows, stored, w.a, !w.a_by_column);
  uint32_t moment = 0;
  if (checker.active) {
    moment = begin_flight(FlightKind::product);
    if (!w.a_in_registers) check_matrix(a, true, static_cast<uint32_t>(first) / warp_lanes, moment, pc);
    check_matrix(b, false, static_cast<uint32_t>(first) / warp_lanes, moment, pc);
    watched_registers.are_watched = true;
  }
  for (uint32_t i = 0; w.a_in_registers && i < warpgroup_threads; i++) take_words(room.a, group.asked[i]->a_words, w.a, i);
  if (!w.a_in_registers) take_matrix(room.a, a);
  take_matrix(room.b, b);
  room.places = every_place();
  for (uint32_t i = 0; w.is_sparse && i < warpgroup_threads; i++)
    if (!take_places(room.places, *group.asked[i], i)) host_refuses("wgmma.sp with metadata or a selector that PTX leaves undefined", threads.line[first + static_cast<int>(i)]);
  for (uint32_t i = 0; i < warpgroup_threads; i++) {
    const Wgmma &one = *group.asked[i];
    if (!multiply(room.a, room.b, room.places, one, i))
      host_refuses("wgmma.sp with sums that are not exact: PTX leaves open how they are rounded", threads.line[first + static_cast<int>(i)]);
    if (!checker.active) continue;
    Spans sums = sums_of(one);
    check_registers(first + static_cast<int>(i), one, sums, relative(group.pc[i]));
    note_in_flight(first + static_cast<int>(i), one, sums, moment, relative(group.pc[i]));
  }
}

void take_turn_if_over(uintptr_t pc) {
  if (checker.active && turn_is_over()) take_turn(pc, __builtin_frame_address(0));
}

// The current thread waits for the others of its warpgroup: for a product all must be there, and for its registers those that are.
void meet(Asks asks, const Wgmma *asked, int line, uintptr_t pc) {
  take_turn_if_over(pc);
  end_of_read();
  constexpr int size = warpgroup_threads;
  int me = block.current, first = me / size * size;
  bool is_part = asks == Asks::registers && block.size - first < size;
  auto needed = static_cast<uint32_t>(is_part ? block.size - first : size);
  Warpgroup &group = of_block().group[me / size];
  if (group.came && group.asks != asks) {
    report_by(me, Kind::warpgroup_disagrees, relative(pc), relative(group.pc[0]));
    stop_run(Status::stopped);
  }
  group.asks = asks;
  group.asked[me - first] = asked;
  group.pc[me - first] = pc;
  threads.line[me] = line;
  if (++group.came < needed) {
    threads.state[me] = State::at_warpgroup;
    wait();
    return;
  }
  group.came = 0;
  if (asks == Asks::product) make_product(group, first);
  came_on();
  block.ring_is_stale = true;
  for (int i = 0; i < block.size; i++) {
    int t = turns.order[i];
    if (t == me || t / size != me / size) continue;
    threads.state[t] = State::ready;
    ring.push_back(t);
  }
}

}  // namespace

void forget_products_of(uint32_t resident) {
  if (!room.is_used[resident]) return;
  room.is_used[resident] = false;
  OfBlock &old = *room.of_resident[resident];
  for (Own &own : old.own) {
    own.groups = own.count = own.store_count = 0;
    own.has_fenced = false;
  }
  for (Warpgroup &group : old.group) group.came = 0;
}

void enter_products_of(uint32_t resident) { running.resident = resident; }

bool report_stuck_warpgroup() {
  for (int t = 0; t < block.size; t++) {
    if (threads.state[t] != State::at_warpgroup) continue;
    Warpgroup &group = of_block().group[t / static_cast<int>(warpgroup_threads)];
    report_by(t, Kind::warpgroup_never_meets, relative(group.pc[static_cast<uint32_t>(t) % warpgroup_threads]), 0, warpgroup_threads - group.came);
    return true;
  }
  return false;
}

void checker_register(uintptr_t address, uint32_t bytes, bool writes, uint64_t pc) {
  if (!writes) check_loaded_registers(address, bytes, pc);
  if (!room.is_used[running.resident]) return;
  Own &own = own_of(block.current);
  for (uint32_t i = 0; i < own.count; i++) {
    const InFlight &one = own.flying[i];
    if (one.sums.meet(address, address + bytes)) report_by(block.current, Kind::sum_in_flight, pc, one.pc, one.group == own.groups, writes);
    if (writes && one.a.meet(address, address + bytes)) report_by(block.current, Kind::factor_in_flight, pc, one.pc, one.group == own.groups, true);
  }
  if (!writes) return;
  if (own.store_count && own.stores[own.store_count - 1].end == address) {
    own.stores[own.store_count - 1].end += bytes;
    return;
  }
  if (own.store_count == most_stores) {
    memmove(own.stores, own.stores + 1, (most_stores - 1) * sizeof *own.stores);
    own.store_count--;
  }
  own.stores[own.store_count++] = {address, address + bytes};
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

#define CALLER reinterpret_cast<uintptr_t>(__builtin_return_address(0))

CUDA_ON_CPU_API void cuda_on_cpu_wgmma(const Wgmma *asked, int line) { meet(Asks::product, asked, line, CALLER); }

CUDA_ON_CPU_API void cuda_on_cpu_set_registers(uint32_t, int line) { meet(Asks::registers, nullptr, line, CALLER); }

CUDA_ON_CPU_API void cuda_on_cpu_wgmma_fence() {
  Own &own = own_of(block.current);
  own.has_fenced = true;
  own.store_count = 0;
}

CUDA_ON_CPU_API void cuda_on_cpu_wgmma_commit() { own_of(block.current).groups++; }

// Until all groups of this thread but the last few are over.
CUDA_ON_CPU_API void cuda_on_cpu_wgmma_wait(uint32_t but) {
  Own &own = own_of(block.current);
  Knowledge known = nothing;
  uint32_t left = 0, track = ordering.track;
  for (uint32_t i = 0; i < own.count; i++) {
    const InFlight &one = own.flying[i];
    if (one.group + but >= own.groups)
      own.flying[left++] = one;
    else if (one.moment)
      known = with_flight(known, one.moment);
  }
  own.count = left;
  if (checker.active && track == ordering.track) order_told(block.current, known);
}
