#include "tensor_memory.h"

#include <sys/mman.h>

#include <cstring>

#include "block.h"
#include "checker.h"
#include "cluster.h"
#include "common_access.h"
#include "grid.h"
#include "held_races.h"
#include "late_writes.h"
#include "library_image.h"
#include "memory_map.h"
#include "report.h"
#include "stack_words.h"
#include "state.h"
#include "tensor_operands.h"
#include "warpgroups.h"

CUDA_ON_CPU_API uint64_t cuda_on_cpu_warp(cuda_on_cpu::WarpOperation operation, uint32_t mask, uint64_t value, int source, int line);

namespace cuda_on_cpu {

namespace {

// Of one direction: the transfers of a warp since its last wait are one flight.
struct Transfers {
  uint32_t moment;
  bool is_open;
  Knowledge over;
};

struct OfWarp {
  Transfers loads, stores;
  uint32_t track;  // where it differs from Ordering's, what is known of them was forgotten
};

struct OfThread {
  uint32_t moment;
  bool is_open;
  Knowledge over;
  uint32_t track;
  Spans loading;     // registers of a tcgen05.ld without a wait
  uint64_t load_pc;  // relative
};

struct Allocation {
  uint32_t columns;  // 0: none begins at this column
  uint32_t thread;
  uint64_t pc;  // relative
};

struct OfBlock {
  uint32_t words[tensor_columns][tensor_lanes];
  Cell cells[tensor_columns][tensor_lanes];
  bool was_allocated[tensor_columns];
  Allocation at[tensor_columns];
  bool has_relinquished;
  OfWarp warp[max_warps];
  OfThread thread[max_threads];
};

struct Room {
  OfBlock *of_resident[max_residents];
  bool is_used[max_residents];
};
PerProcess<Room> room;

struct Running {
  uint32_t resident;
};
PerRun<Running> running;

OfBlock &memory_of(uint32_t resident) {
  OfBlock *&found = room.of_resident[resident];
  if (!found) {
    void *memory = mmap(nullptr, sizeof(OfBlock), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) stop_run(Status::too_large);
    found = static_cast<OfBlock *>(memory);
  }
  room.is_used[resident] = true;
  return *found;
}

OfBlock &own_block() { return memory_of(running.resident); }
uint64_t relative(uintptr_t pc) { return pc - library_start(*run->module); }

OfThread &own_thread() {
  OfThread &me = own_block().thread[block.current];
  if (me.track != ordering.track) me.over = nothing, me.is_open = false;
  me.track = ordering.track;
  return me;
}

OfWarp &own_warp() {
  OfWarp &mine = own_block().warp[block.current / warp_lanes];
  if (mine.track != ordering.track) {
    mine.loads.over = mine.stores.over = nothing;
    mine.loads.is_open = mine.stores.is_open = false;
  }
  mine.track = ordering.track;
  return mine;
}

void place_finding(Finding &f, TensorPlace p) {
  f.place = Place::tensor_memory;
  f.offset = static_cast<int64_t>(p.lane) << 16 | p.column;
  f.bytes = sizeof(uint32_t);
}

Finding *report_at(Kind kind, uint64_t pc, TensorPlace p, uint64_t detail = 0) {
  Finding *f = report(kind, pc, 0);
  if (!f) return nullptr;
  place_finding(*f, p);
  f->detail = detail;
  return f;
}

template <class Holds>
bool holds_for(const TensorAccess &a, Holds holds) {
  if (!a.by_warp) return holds(block.current);
  int first = block.current / warp_lanes * warp_lanes;
  for (int lane = 0; lane < warp_lanes; lane++)
    if (holds(first + lane)) return true;
  return false;
}

void report_meeting(Kind kind, const TensorAccess &a, TensorPlace p, const Trace &before, bool before_writes, uint64_t detail) {
  Finding *f = report(kind, a.pc, 0, before.pc());
  if (!f) return;
  place_finding(*f, p);
  if (a.rank != block.rank && block.cluster) f->owner = 1 + block.cluster->member[a.rank].block;
  f->other_thread = before.thread();
  f->other_block = block_at(before.when);
  f->other_block_known = is_block_known(before.when);
  bool same = is_of_this_block(before.when);
  f->relation = !same ? in_other_blocks : same_warp(static_cast<int>(before.thread()), block.current) ? in_one_warp : in_one_block;
  f->writes = a.writes;
  f->other_writes = before_writes;
  f->traits = a.traits();
  f->other_traits = traits_of_flight(before.when);
  f->detail = detail;
}

bool is_transfer(FlightKind kind) { return kind == FlightKind::tensor_load || kind == FlightKind::tensor_store; }

// Whether the operation before needs nothing but its own place in the order of the instructions.
bool is_pipelined(const TensorAccess &a, const Trace &before, bool is_own, FlightKind kind) {
  if (is_own && a.kind == FlightKind::tensor_store) return is_transfer(kind);
  if (a.frees || a.kind != FlightKind::tensor_core || kind != FlightKind::tensor_core) return false;
  Trace issue = before;
  issue.how = static_cast<uint16_t>(issue.how & ~Trace::bulk_bit);
  return is_own || holds_for(a, [&](int t) { return is_ordered(issue, t); });
}

void check_against(TensorAccess &a, TensorPlace p, const Trace &before, bool before_writes) {
  uint32_t &fine = before_writes ? a.fine_write : a.fine_read;
  if (!before.when || before.when == a.moment || before.when == fine) return;
  fine = before.when;
  FlightKind kind = kind_of_flight(before.when);
  bool is_own = is_of_this_block(before.when) && same_warp(static_cast<int>(before.thread()), block.current);
  if (!holds_for(a, [&](int t) { return is_ordered(before, t); })) {
    if (is_pipelined(a, before, is_own, kind)) return;
    return report_meeting(is_transfer(kind) ? Kind::transfer_in_flight : Kind::product_in_flight, a, p, before, before_writes, 0);
  }
  if (is_own || a.frees) return;
  auto is_fenced = [&](TensorFence fence) { return holds_for(a, [&](int t) { return is_tensor_fenced(before.when, t, fence); }); };
  if (is_fenced(TensorFence::after)) return;
  report_meeting(Kind::missing_tensor_fence, a, p, before, before_writes, is_fenced(TensorFence::before));
}

// Tensor memory of the other block of a pair.
bool reaches_peer(const TensorAccess &a, TensorPlace p) {
  const Member &owner = block.cluster->member[a.rank];
  if (!owner.has_ended && has_begun(*owner.ordering, block.current)) return true;
  if (Finding *f = report_at(owner.has_ended ? Kind::remote_too_late : Kind::remote_too_early, a.pc, p)) {
    f->writes = a.writes;
    f->owner = 1 + owner.block;
  }
  return !owner.has_ended;
}

uint32_t free_columns(const OfBlock &b, uint32_t columns) {
  for (uint32_t start = 0; start + columns <= tensor_columns; start += columns) {
    bool is_free = true;
    for (uint32_t c = 0; c < tensor_columns && is_free; c++)
      is_free = !b.at[c].columns || c + b.at[c].columns <= start || c >= start + columns;
    if (is_free) return start;
  }
  return tensor_columns;
}

[[noreturn]] void end_by(Kind kind, uint64_t pc, uint64_t detail, TensorPlace p = {}) {
  report_at(kind, pc, p, detail);
  run_is_damaged();
  end_thread();
}

bool is_amount(uint32_t columns) { return columns >= 32 && columns <= tensor_columns && !(columns & (columns - 1)); }

// Until other warps have freed enough: on a GPU other blocks of its multiprocessor may, too.
uint32_t wait_for_columns(uint32_t columns, uint64_t pc) {
  constexpr uint32_t looks_each = 1 << 12;
  uint64_t progress = turns.progress, in_vain = 0;
  uint32_t start;
  while ((start = free_columns(own_block(), columns)) == tensor_columns) {
    if (turns.progress != progress) in_vain = 0;
    progress = turns.progress;
    if (++in_vain > uint64_t{looks_each} * static_cast<uint64_t>(block.live)) {
      report_at(Kind::tensor_memory_never_free, pc, {}, columns);
      stop_run(Status::stopped);
    }
    poll();
  }
  return start;
}

void allocate(uint32_t *to, uint32_t columns, uintptr_t pc) {
  OfBlock &b = own_block();
  if (!is_amount(columns)) end_by(Kind::tensor_columns_refused, relative(pc), columns);
  if (b.has_relinquished) end_by(Kind::tensor_permit_gone, relative(pc), columns);
  uint32_t start = wait_for_columns(columns, relative(pc));
  b.at[start] = {columns, static_cast<uint32_t>(block.current), relative(pc)};
  for (uint32_t c = start; c < start + columns; c++) {
    b.was_allocated[c] = true;
    for (uint32_t lane = 0; lane < tensor_lanes; lane++) b.words[c][lane] = run->poison;
    if (!checker.active) continue;
    memset(static_cast<void *>(b.cells[c]), 0, sizeof b.cells[c]);
    for (Cell &cell : b.cells[c]) cell.state = Trace::whole;
  }
  if (checker.active) checker_access(reinterpret_cast<uintptr_t>(to), sizeof *to, Access::write, pc);
  *to = start;
}

void free_memory(uint32_t address, uint32_t columns, uintptr_t pc) {
  OfBlock &b = own_block();
  TensorPlace p = place_at(address);
  if (!is_amount(columns)) end_by(Kind::tensor_columns_refused, relative(pc), columns);
  if (p.lane || p.column >= tensor_columns || b.at[p.column].columns != columns) end_by(Kind::tensor_freed_wrong, relative(pc), columns, p);
  TensorAccess access = {};
  access.kind = FlightKind::tensor_store;
  access.writes = access.frees = access.by_warp = true;
  access.pc = relative(pc);
  access.resident = running.resident;
  access.rank = block.rank;
  for (uint32_t c = p.column; checker.active && c < p.column + columns; c++)
    for (uint32_t lane = 0; lane < tensor_lanes; lane++) checker_tensor(access, {lane, c});
  b.at[p.column].columns = 0;
  for (uint32_t c = p.column; checker.active && c < p.column + columns; c++)
    for (Cell &cell : b.cells[c]) cell.state = 0;
  came_on();
}

void meet_warp(WarpOperation operation, int line) { cuda_on_cpu_warp(operation, ~0u, 0, 0, line); }

bool is_first_lane() { return block.current % warp_lanes == 0; }

void take_turn_if_over(uintptr_t pc) {
  if (checker.active && turn_is_over()) take_turn(pc, __builtin_frame_address(0));
}

// Transfers.

void begin_flight_of(Transfers &t, FlightKind kind) {
  if (t.is_open) return;
  t.moment = begin_flight(kind);
  t.is_open = true;
  t.over = with_flight(t.over, t.moment);
}

// The first lane that the warp accesses. GPUs ignore which quarter an address names; where it is another one than the warp's,
// and not the first, the kernel expects other lanes than it gets.
uint32_t first_lane_of(const TensorTransfer &t) {
  uint32_t quarter = static_cast<uint32_t>(block.current) / warp_lanes % 4, lane = place_at(t.address).lane;
  uint32_t within = lane % lanes_of_quarter, half = t.shape == TensorShape::lanes32_bits32 ? 0 : lanes_of_quarter / 2;
  bool is_of_quarter = lane / lanes_of_quarter == quarter || lane < lanes_of_quarter;
  if (!is_of_quarter || (within && within != half)) {
    if (Finding *f = report_at(Kind::tensor_lanes, t.pc, place_at(t.address), quarter * lanes_of_quarter)) f->writes = !t.loads;
  }
  return quarter * lanes_of_quarter + (within == half ? half : 0);
}

// All lanes of a warp have come.
void transfer(const uint64_t *lanes) {
  auto of_lane = [lanes](uint32_t lane) { return reinterpret_cast<const TensorTransfer *>(lanes[lane]); };
  const TensorTransfer &t = *of_lane(0);
  uint32_t first_lane = first_lane_of(t), first_column = place_at(t.address).column;
  TensorAccess access = {};
  access.kind = t.loads ? FlightKind::tensor_load : FlightKind::tensor_store;
  access.reads = t.loads;
  access.writes = !t.loads;
  access.by_warp = true;
  access.pc = t.pc;
  access.resident = running.resident;
  access.rank = block.rank;
  if (checker.active) {
    Transfers &mine = t.loads ? own_warp().loads : own_warp().stores;
    begin_flight_of(mine, access.kind);
    access.moment = mine.moment;
  }
  bool is_allocated = true;
  auto reach = [&](uint32_t lane, uint32_t column) -> uint32_t * {
    TensorPlace p = {first_lane + lane, first_column + column};
    if (checker.active && is_allocated) is_allocated = checker_tensor(access, p);
    return p.column < tensor_columns && p.lane < tensor_lanes ? &tensor_word(running.resident, p) : nullptr;
  };
  for (uint32_t lane = 0; lane < warp_lanes; lane++)
    for (uint32_t word = 0; word < t.words; word++) {
      TensorPlace p = place_of_word(t, lane, word);
      void *place = of_lane(lane)->places[word];
      uint32_t bits = 0;
      if (!t.loads) memcpy(&bits, place, sizeof bits);
      for (uint32_t half = 0; half < (t.is_packed ? 2u : 1u); half++) {
        uint32_t *at = reach(p.lane, t.is_packed ? 2 * p.column + half : p.column);
        if (!at) continue;
        if (t.loads)
          bits |= t.is_packed ? (*at & 0xffff) << 16 * half : *at;
        else
          *at = t.is_packed ? bits >> 16 * half & 0xffff : bits;
      }
      if (t.loads) memcpy(place, &bits, sizeof bits);
    }
}

// Those of its warp are over for the current thread.
void end_loads() {
  Transfers &mine = own_warp().loads;
  mine.is_open = false;
  order_told(block.current, mine.over);
  own_thread().loading.count = 0;
}

void watch_loads(const TensorTransfer &t) {
  if (!t.watches) return;
  OfThread &me = own_thread();
  for (uint32_t i = 0; i < t.words; i++) me.loading.add(t.places[i]);
  me.load_pc = t.pc;
  watched_registers.are_watched = true;
}

void forget(OfBlock &b) {
  for (uint32_t c = 0; c < tensor_columns; c++)
    for (uint32_t lane = 0; b.was_allocated[c] && lane < tensor_lanes; lane++) b.cells[c][lane].state = 0;
  memset(b.was_allocated, 0, sizeof b.was_allocated);
  memset(b.at, 0, sizeof b.at);
  memset(static_cast<void *>(b.warp), 0, sizeof b.warp);
  memset(static_cast<void *>(b.thread), 0, sizeof b.thread);
  b.has_relinquished = false;
}

}  // namespace

uint32_t TensorAccess::traits() const {
  uint32_t own = kind == FlightKind::tensor_core ? is_of_tensor_core : kind == FlightKind::tensor_load ? is_tensor_load : is_tensor_store;
  return frees ? uint32_t{cuda_on_cpu::frees} : is_bulk | own;
}

bool checker_tensor(TensorAccess &a, TensorPlace p) {
  bool is_remote = a.rank != block.rank && block.cluster;
  if (is_remote && !reaches_peer(a, p)) return false;
  bool is_inside = p.column < tensor_columns && p.lane < tensor_lanes;
  OfBlock &b = memory_of(a.resident);
  if (!is_inside || !b.cells[p.column][p.lane].addressable()) {
    if (Finding *f = report_at(Kind::tensor_not_allocated, a.pc, p, is_inside && b.was_allocated[p.column])) {
      f->writes = a.writes;
      f->traits = a.traits();
      if (is_remote) f->owner = 1 + block.cluster->member[a.rank].block;
    }
    return false;
  }
  Cell &cell = b.cells[p.column][p.lane];
  if (a.reads && !cell.initialised()) report_at(Kind::uninitialised, a.pc, p);
  if (a.writes && !a.frees) cell.set_initialised(Trace::whole);
  if (checker.is_light) return true;
  check_against(a, p, cell.write, true);
  Trace t = {a.moment, who_is(static_cast<uint32_t>(block.current), a.pc), how_is(a.pc, Trace::whole | Trace::bulk_bit)};
  if (a.writes) {
    check_against(a, p, cell.read, false);
    check_against(a, p, cell.other_read, false);
    cell.write = t;
  } else {
    if (cell.read.when && cell.read.when != t.when && !is_ordered(cell.read, block.current)) cell.other_read = cell.read;
    cell.read = t;
  }
  return true;
}

uint32_t &tensor_word(uint32_t resident, TensorPlace p) { return memory_of(resident).words[p.column][p.lane]; }

uint32_t flight_of_thread() {
  OfThread &me = own_thread();
  if (me.is_open) return me.moment;
  me.moment = begin_flight(FlightKind::tensor_core);
  me.track = ordering.track;
  me.is_open = true;
  me.over = with_fenced_flight(me.over, me.moment);
  return me.moment;
}

Knowledge end_flight_of_thread() {
  OfThread &me = own_thread();
  me.is_open = false;
  Knowledge known = told_by(block.current);
  return me.track == ordering.track ? joined(known, me.over) : known;
}

// Undefined in PTX; but CUTLASS's tutorials use the registers so, and ptxas waits for them: then the loads are over.
void check_loaded_registers(uintptr_t address, uint32_t bytes, uint64_t pc) {
  if (!room.is_used[running.resident]) return;
  OfThread &me = own_block().thread[block.current];
  if (!me.loading.meet(address, address + bytes)) return;
  report(Kind::load_used_early, pc, 0, me.load_pc);
  end_loads();
}

void forget_tensor_memory_of(uint32_t resident) {
  if (!room.is_used[resident]) return;
  forget(memory_of(resident));
  room.is_used[resident] = false;
}

void enter_tensor_memory_of(uint32_t resident) { running.resident = resident; }

// What it has not freed, no other block can get.
void end_tensor_memory() {
  if (!room.is_used[running.resident]) return;
  OfBlock &b = own_block();
  for (uint32_t c = 0; c < tensor_columns; c++) {
    if (!b.at[c].columns) continue;
    if (Finding *f = report_at(Kind::tensor_memory_kept, b.at[c].pc, {0, c}, b.at[c].columns)) f->thread = b.at[c].thread;
  }
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

#define CALLER reinterpret_cast<uintptr_t>(__builtin_return_address(0))

// A warp allocates and frees together; here its first lane does it for all.
CUDA_ON_CPU_API void cuda_on_cpu_tensor_allocate(void *to, uint32_t columns, int line) {
  take_turn_if_over(CALLER);
  meet_warp(WarpOperation::ballot, line);
  if (is_first_lane()) allocate(static_cast<uint32_t *>(to), columns, CALLER);
  meet_warp(WarpOperation::sync, line);
}

CUDA_ON_CPU_API void cuda_on_cpu_tensor_free(uint32_t address, uint32_t columns, int line) {
  take_turn_if_over(CALLER);
  meet_warp(WarpOperation::ballot, line);
  if (is_first_lane()) free_memory(address, columns, CALLER);
}

CUDA_ON_CPU_API void cuda_on_cpu_tensor_relinquish(int line) {
  meet_warp(WarpOperation::ballot, line);
  own_block().has_relinquished = true;
}

CUDA_ON_CPU_API void cuda_on_cpu_tensor_transfer(TensorTransfer *asked, int line) {
  take_turn_if_over(CALLER);
  asked->work = transfer;
  asked->pc = relative(CALLER);
  cuda_on_cpu_warp(WarpOperation::together, ~0u, reinterpret_cast<uint64_t>(static_cast<TogetherWork *>(asked)), 0, line);
  if (checker.active && asked->loads) watch_loads(*asked);
}

CUDA_ON_CPU_API void cuda_on_cpu_tensor_wait(bool for_loads) {
  if (!checker.active) return;
  if (for_loads) return end_loads();
  Transfers &mine = own_warp().stores;
  mine.is_open = false;
  order_told(block.current, mine.over);
}

CUDA_ON_CPU_API void cuda_on_cpu_tensor_fence(bool is_before) {
  if (checker.active) order_tensor_fence(block.current, is_before ? TensorFence::before : TensorFence::after);
}
