#include "bulk_copies.h"

#include <cstdlib>
#include <cstring>

#include "block.h"
#include "bulk_operations.h"
#include "checker.h"
#include "cluster.h"
#include "common_access.h"
#include "grid.h"
#include "host_code.h"
#include "launch_answers.h"
#include "library_image.h"
#include "memory_map.h"
#include "ordering.h"
#include "report.h"
#include "stacks.h"
#include "shared_memory.h"
#include "state.h"
#include "tensor_maps.h"

namespace cuda_on_cpu {

namespace {

enum class Shape : uint8_t { line, box, end_of_group };

struct Copy {
  CopyNumber next;
  MbarrierNumber barrier;  // to which it brings bytes; none: it belongs to a group
  Shape shape;
  bool has_read, has_written;
  BulkOperation operation;
  BulkType type;
  uint32_t bytes;
  char *to;          // of a box: null if it goes to global memory
  const char *from;  // of a box: null if it comes from there
  TensorMap map;
  int32_t corner[most_axes];
  uint32_t reads, writes;  // moments of its flights; 0: accesses were not checked
  uint32_t thread;
  uint64_t block;
  uint64_t pc;  // relative
  Knowledge at_issue;
  uint32_t track;
  char *kept;  // what it has read and not yet written
};

// A copy that reads the shared memory of a block.
struct Source {
  uint32_t moment, thread, bytes;
  uint64_t pc;
  uintptr_t address;
};

struct Sources {
  Source *all;
  uint32_t count, size;
};

struct Queue {
  CopyNumber first, last;
};

struct Room {
  Copy *all;
  uint32_t size, used = 1;
  CopyNumber unused;
  Queue of_thread[max_residents][max_threads];
  Sources sources[max_residents];
  bool has_any[max_residents];
  uint32_t no_more[max_residents];  // of a cluster's first block: the flight that brings it the answer that no block is left
};
PerProcess<Room> room;  // what a run leaves is freed when a block of the next run starts there

struct Running {
  uint32_t resident;
  uint32_t landed;  // the last flight that was brought to its end because another copy met it
};
PerRun<Running> running;

uint64_t relative(uintptr_t pc) { return pc - library_start(*run->module); }

CopyNumber take() {
  if (room.unused) {
    CopyNumber taken = room.unused;
    room.unused = room.all[taken].next;
    return taken;
  }
  constexpr uint32_t most = 1 << 20;
  if (room.used >= room.size) {
    uint32_t larger = room.size ? 2 * room.size : 256;
    auto *made = larger <= most ? static_cast<Copy *>(realloc(static_cast<void *>(room.all), larger * sizeof(Copy))) : nullptr;
    if (!made) stop_run(Status::too_large);
    room.all = made;
    room.size = larger;
  }
  return room.used++;
}

void give_back(CopyNumber number) {
  Copy &one = room.all[number];
  free(one.kept);
  one.kept = nullptr;
  one.next = room.unused;
  room.unused = number;
}

void give_back_all(CopyNumber first) {
  while (first) {
    CopyNumber next = room.all[first].next;
    give_back(first);
    first = next;
  }
}

void append(CopyNumber number, CopyNumber &first, CopyNumber &last) {
  room.all[number].next = no_copy;
  (first ? room.all[last].next : first) = number;
  last = number;
}

Queue &own_queue() { return room.of_thread[running.resident][block.current]; }

// The elements of a box in the order of shared memory, each with its place in `kept`.
template <class Each>
void walk(const Copy &c, uintptr_t shared, Each each) {
  uint32_t place = 0;
  walk_box(c.map, c.corner, shared, [&](const Run16 &r) {
    each(r, place);
    place += r.bytes;
  });
}

void read(Copy &c) {
  if (c.has_read) return;
  c.has_read = true;
  c.kept = static_cast<char *>(malloc(c.bytes));
  if (!c.kept) stop_run(Status::too_large);
  if (c.shape == Shape::line) {
    memcpy(c.kept, c.from, c.bytes);
  } else if (c.from) {
    walk(c, reinterpret_cast<uintptr_t>(c.from), [&](const Run16 &r, uint32_t at) { memcpy(c.kept + at, reinterpret_cast<const void *>(r.shared), r.bytes); });
  } else {
    uint32_t element = bytes_of_element(c.map.type);
    walk(c, reinterpret_cast<uintptr_t>(c.to), [&](const Run16 &r, uint32_t at) {
      if (r.global) memcpy(c.kept + at, r.global, r.bytes);
      for (uint32_t i = 0; !r.global && i < r.bytes; i += element) fill_element(c.map, c.kept + at + i);
    });
  }
}

void write(Copy &c) {
  if (c.has_written) return;
  read(c);
  c.has_written = true;
  if (c.shape == Shape::line) {
    reduce(c.to, c.kept, c.bytes, c.operation, c.type);
  } else if (c.to) {
    walk(c, reinterpret_cast<uintptr_t>(c.to), [&](const Run16 &r, uint32_t at) { memcpy(reinterpret_cast<void *>(r.shared), c.kept + at, r.bytes); });
  } else {
    walk(c, reinterpret_cast<uintptr_t>(c.from), [&](const Run16 &r, uint32_t at) {
      if (r.global) reduce(r.global, c.kept + at, r.bytes, c.operation, c.type);
    });
  }
  free(c.kept);
  c.kept = nullptr;
  came_on();
}

Knowledge learnt_from(const Copy &c) {
  Knowledge known = c.track == ordering.track ? c.at_issue : nothing;
  if (c.reads) known = with_flight(known, c.reads);
  return c.writes ? with_flight(known, c.writes) : known;
}

// The oldest copy to a barrier lands, and brings its bytes.
void land_first(MbarrierNumber barrier) {
  Mbarrier &b = mbarrier_at(barrier);
  CopyNumber number = b.first_copy;
  b.first_copy = room.all[number].next;
  write(room.all[number]);
  uint32_t bytes = room.all[number].bytes;
  Knowledge known = checker.active ? learnt_from(room.all[number]) : nothing;
  give_back(number);
  bytes_came(barrier, bytes, known);
}

uint64_t bytes_under_way(const Mbarrier &b) {
  uint64_t bytes = 0;
  for (CopyNumber n = b.first_copy; n; n = room.all[n].next) bytes += room.all[n].bytes;
  return bytes;
}

// In forward order a copy lands as late as it may, in reverse order at once, in others as it is drawn.
bool lands_at_once() { return run->schedule == reverse || (run->schedule == shuffled && random_bits() >> 63); }

void poison(const Copy &c) {
  auto paint = [](uintptr_t at, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; i++) reinterpret_cast<char *>(at)[i] = reinterpret_cast<const char *>(&run->poison)[(at + i) % sizeof run->poison];
  };
  if (c.operation != bulk_copy) return;
  if (c.shape == Shape::line) return paint(reinterpret_cast<uintptr_t>(c.to), c.bytes);
  walk(c, reinterpret_cast<uintptr_t>(c.to), [&](const Run16 &r, uint32_t) { paint(r.shared, r.bytes); });
}

// Every access of a copy, in pieces of at most 16 bytes.
void check_line(const Copy &c, uintptr_t start, bool writes) {
  uint32_t moment = writes ? c.writes : c.reads;
  for (uint32_t at = 0; at < c.bytes; at += 16)
    checker_bulk({start + at, c.bytes - at < 16 ? c.bytes - at : 16, writes, writes && c.operation != bulk_copy, moment, c.pc, 0, 0,
                  writes && !c.barrier ? c.from + at : nullptr});
}

void check_box(const Copy &c, bool writes) {
  bool of_shared = writes == (c.to != nullptr);
  uint32_t moment = writes ? c.writes : c.reads;
  walk(c, reinterpret_cast<uintptr_t>(c.to ? c.to : c.from), [&](const Run16 &r, uint32_t) {
    if (of_shared && !c.to && !r.global) return;  // a store leaves out what lies outside the array
    if (of_shared) return checker_bulk({r.shared, r.bytes, writes, false, moment, c.pc});
    if (r.global)
      checker_bulk({reinterpret_cast<uintptr_t>(r.global), r.bytes, writes, writes && c.operation != bulk_copy, moment, c.pc, 0, 0,
                    writes ? reinterpret_cast<const char *>(r.shared) : nullptr});
  });
}

void check(const Copy &c, bool reads) {
  if (c.shape == Shape::box) {
    if (reads) check_box(c, false);
    return check_box(c, true);
  }
  if (reads) check_line(c, reinterpret_cast<uintptr_t>(c.from), false);
  check_line(c, reinterpret_cast<uintptr_t>(c.to), true);
}

void remember_source(const Copy &c) {
  auto address = reinterpret_cast<uintptr_t>(c.from);
  bool shared;
  if (checker.is_light || !address || !region_of(address, shared) || !shared) return;
  Sources &s = room.sources[running.resident];
  if (s.count == s.size) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < s.count; i++)
      if (!is_flight_known_in_block(s.all[i].moment)) s.all[left++] = s.all[i];
    s.count = left;
    if (2 * left >= s.size) {
      uint32_t larger = s.size ? 2 * s.size : 64;
      auto *made = static_cast<Source *>(realloc(s.all, larger * sizeof(Source)));
      if (!made) return;
      s.all = made;
      s.size = larger;
    }
  }
  s.all[s.count++] = {c.reads, c.thread, c.bytes, c.pc, address};
}

void must_be_multiple(uintptr_t value, uint32_t of, uintptr_t pc) {
  if (value % of == 0) return;
  if (Finding *f = report(Kind::misaligned_copy, relative(pc), 0)) {
    f->bytes = of;
    f->address = value;
  }
  run_is_damaged();
  end_thread();
}

void must_be_aligned(const void *p, uint32_t to, uintptr_t pc) {
  auto address = reinterpret_cast<uintptr_t>(p);
  if (address % to == 0) return;
  if (Finding *f = report(Kind::misaligned, relative(pc), 0)) {
    f->bytes = to;
    locate(address, *f);
  }
  run_is_damaged();
  end_thread();
}

Copy asked_by_me(Shape shape, uint32_t bytes, uintptr_t pc) {
  Copy c = {};
  c.shape = shape;
  c.bytes = bytes;
  c.type = bulk_bytes;
  c.thread = static_cast<uint32_t>(block.current);
  c.block = block.number;
  c.pc = relative(pc);
  c.track = ordering.track;
  return c;
}

// The current thread asks for a copy. `is_first`: no other destination has the same source.
CopyNumber ask(Copy c, bool is_first) {
  room.has_any[running.resident] = true;
  if (checker.active) {
    c.at_issue = c.barrier ? told_by(block.current) : nothing;
    c.track = ordering.track;
    if (is_first) c.reads = begin_flight();
    c.writes = begin_flight();
    check(c, is_first);
    if (is_first) remember_source(c);
  }
  CopyNumber number = take();
  room.all[number] = c;
  return number;
}

void ask_for_barrier(const Copy &c, bool is_first) {
  MbarrierNumber barrier = c.barrier;
  bool at_once = lands_at_once();
  CopyNumber number = ask(c, is_first);
  if (at_once)
    write(room.all[number]);
  else
    poison(room.all[number]);
  Mbarrier &b = mbarrier_at(barrier);
  if (!at_once) return append(number, b.first_copy, b.last_copy);
  Knowledge known = checker.active ? learnt_from(room.all[number]) : nothing;
  uint32_t bytes = room.all[number].bytes;
  give_back(number);
  bytes_came(barrier, bytes, known);
}

void ask_for_group(const Copy &c) {
  bool reads_at_once = lands_at_once(), writes_at_once = reads_at_once && lands_at_once();
  CopyNumber number = ask(c, true);
  if (reads_at_once) read(room.all[number]);
  if (writes_at_once) write(room.all[number]);
  Queue &q = own_queue();
  append(number, q.first, q.last);
}

// To one block, or to each block of a mask at the same place.
void ask_for_each(Copy c, void *barrier, uint32_t mask, uintptr_t pc) {
  if (!mask) {
    c.barrier = mbarrier_for_copy(reinterpret_cast<uintptr_t>(barrier), pc);
    return ask_for_barrier(c, true);
  }
  Cluster &cluster = own_cluster();
  bool is_first = true;
  uint32_t from = remote_rank_of(reinterpret_cast<uintptr_t>(c.to));
  if (from == no_rank) from = block.rank;
  char *to = c.to;
  for (uint32_t rank = 0; rank < max_cluster; rank++) {
    if (!(mask >> rank & 1)) continue;
    if (rank >= cluster.size) {
      if (Finding *f = report(Kind::multicast_outside, relative(pc), 0)) f->detail = rank;
      run_is_damaged();
      end_thread();
    }
    uint32_t of = cluster.member[from].resident, in = cluster.member[rank].resident;
    c.to = static_cast<char *>(same_place(to, of, in));
    c.barrier = mbarrier_for_copy(reinterpret_cast<uintptr_t>(same_place(barrier, of, in)), pc);
    ask_for_barrier(c, is_first);
    is_first = false;
  }
}

void take_turn_if_over(uintptr_t pc) {
  if (checker.active && turn_is_over()) take_turn(pc, __builtin_frame_address(0));
}

[[noreturn]] void end_by_map(Kind kind, const void *map, uint64_t detail, uintptr_t pc) {
  if (Finding *f = report(kind, relative(pc), 0)) {
    locate(reinterpret_cast<uintptr_t>(map), *f);
    f->detail = detail;
  }
  run_is_damaged();
  end_thread();
}

// A copy of the box of a map at these coordinates.
Copy box_of(const void *map, const int32_t *corner, uint32_t axes, uintptr_t pc) {
  must_be_aligned(map, 64, pc);
  if (checker.active) checker_map_read(reinterpret_cast<uintptr_t>(map), relative(pc));
  if (!is_made(map)) end_by_map(Kind::no_tensor_map, map, 0, pc);
  if (map_at(map).is_thread_copy && is_on_stacks(reinterpret_cast<uintptr_t>(map))) end_by_map(Kind::map_of_thread, map, 0, pc);
  Copy c = asked_by_me(Shape::box, 0, pc);
  c.map = map_at(map);
  if (const char *why = fault_of_built(c.map)) host_refuses(why);
  if (c.map.rank != axes) end_by_map(Kind::other_rank, map, c.map.rank, pc);
  uint32_t within = static_cast<uint32_t>(corner[0]) * bytes_of_element(c.map.type) % 16;
  if (within) end_by_map(Kind::corner_within_16, map, within, pc);
  c.bytes = static_cast<uint32_t>(bytes_of_box(c.map));
  memcpy(c.corner, corner, axes * sizeof *corner);
  return c;
}

BulkType type_of(const TensorMap &map) {
  constexpr BulkType types[] = {bulk_bytes, bulk_bytes, bulk_u32, bulk_s32, bulk_u64, bulk_s64, bulk_f16, bulk_f32, bulk_f64, bulk_bf16};
  return map.type < sizeof types / sizeof *types ? types[map.type] : bulk_bytes;
}

void forget_queue(Queue &q) {
  give_back_all(q.first);
  q = {};
}

}  // namespace

void forget_bulk_copies_of(uint32_t resident) {
  if (!room.has_any[resident]) return;
  for (Queue &q : room.of_thread[resident])
    if (q.first) forget_queue(q);
  room.sources[resident].count = 0;
  room.no_more[resident] = 0;
  room.has_any[resident] = false;
}

void enter_bulk_copies_of(uint32_t resident) { running.resident = resident; }

// The shared memory that they read belongs to another block from now on.
void end_bulk_copies() {
  if (!room.has_any[running.resident]) return;
  Sources &s = room.sources[running.resident];
  for (uint32_t i = 0; i < s.count; i++) {
    const Source &one = s.all[i];
    if (!checker.active || is_flight_known_in_block(one.moment)) continue;
    if (Finding *f = report(Kind::copy_outlives_block, one.pc, 0)) {
      f->bytes = one.bytes;
      f->thread = one.thread;
      locate(one.address, *f);
    }
  }
  for (int t = 0; t < block.size; t++) {
    Queue &q = room.of_thread[running.resident][t];
    for (CopyNumber n = q.first; n; n = room.all[n].next)
      if (room.all[n].shape != Shape::end_of_group) write(room.all[n]);
    forget_queue(q);
  }
  forget_bulk_copies_of(running.resident);
}

// In the order in which they were asked for, once no arrival is missing: as soon as the expected bytes have come, the phase ends.
void land_copies_to(MbarrierNumber number) {
  uint32_t phase = mbarrier_at(number).phase;
  auto may_end = [&] {
    const Mbarrier &b = mbarrier_at(number);
    return b.phase == phase && !b.pending && b.first_copy && b.bytes > 0 && bytes_under_way(b) >= static_cast<uint64_t>(b.bytes);
  };
  while (may_end()) {
    const Mbarrier &b = mbarrier_at(number);
    if (room.all[b.first_copy].bytes > b.bytes) report_too_few_bytes(b.first_copy, b.address);
    land_first(number);
  }
}

// It may land at any time.
void land_copy(uint32_t moment) {
  if (moment == running.landed) return;
  running.landed = moment;
  for (uint32_t r = 0; r < max_residents; r++)
    for (int t = 0; room.has_any[r] && t < max_threads; t++)
      for (CopyNumber n = room.of_thread[r][t].first; n; n = room.all[n].next)
        if (room.all[n].writes == moment) return write(room.all[n]);
}

void forget_copies_to(MbarrierNumber number) {
  Mbarrier &b = mbarrier_at(number);
  give_back_all(b.first_copy);
  b.first_copy = b.last_copy = no_copy;
}

void report_too_few_bytes(CopyNumber under_way, uintptr_t barrier) {
  const Copy &c = room.all[under_way];
  Finding *f = report(Kind::too_few_bytes, c.pc, 0);
  if (!f) return;
  f->bytes = 8;
  f->thread = c.thread;
  f->block = c.block;
  f->detail = c.bytes;
  locate(barrier, *f);
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

#define CALLER reinterpret_cast<uintptr_t>(__builtin_return_address(0))

// To shared memory, of this block or of others of its cluster; from global memory, or from shared memory.
CUDA_ON_CPU_API void cuda_on_cpu_bulk_load(void *to, const void *from, uint32_t bytes, void *barrier, uint32_t mask, uint32_t operation, uint32_t type) {
  uintptr_t pc = CALLER;
  take_turn_if_over(pc);
  must_be_aligned(to, 16, pc);
  must_be_aligned(from, 16, pc);
  must_be_multiple(bytes, 16, pc);
  Copy c = asked_by_me(Shape::line, bytes, pc);
  c.to = static_cast<char *>(to);
  c.from = static_cast<const char *>(from);
  c.operation = static_cast<BulkOperation>(operation);
  c.type = static_cast<BulkType>(type);
  ask_for_each(c, barrier, mask, pc);
}

CUDA_ON_CPU_API void cuda_on_cpu_bulk_store(void *to, const void *from, uint32_t bytes, uint32_t operation, uint32_t type) {
  uintptr_t pc = CALLER;
  take_turn_if_over(pc);
  must_be_aligned(to, 16, pc);
  must_be_aligned(from, 16, pc);
  must_be_multiple(bytes, 16, pc);
  Copy c = asked_by_me(Shape::line, bytes, pc);
  c.to = static_cast<char *>(to);
  c.from = static_cast<const char *>(from);
  c.operation = static_cast<BulkOperation>(operation);
  c.type = static_cast<BulkType>(type);
  ask_for_group(c);
}

CUDA_ON_CPU_API void cuda_on_cpu_box_load(void *to, const void *map, const int32_t *corner, uint32_t axes, void *barrier, uint32_t mask) {
  uintptr_t pc = CALLER;
  take_turn_if_over(pc);
  must_be_aligned(to, 128, pc);
  Copy c = box_of(map, corner, axes, pc);
  c.to = static_cast<char *>(to);
  ask_for_each(c, barrier, mask, pc);
}

CUDA_ON_CPU_API void cuda_on_cpu_box_store(const void *map, const int32_t *corner, uint32_t axes, const void *from, uint32_t operation) {
  uintptr_t pc = CALLER;
  take_turn_if_over(pc);
  must_be_aligned(from, 128, pc);
  Copy c = box_of(map, corner, axes, pc);
  for (uint32_t axis = 0; axis < axes; axis++)
    if (corner[axis] < 0) end_by_map(Kind::corner_below_0, map, axis, pc);
  c.from = static_cast<const char *>(from);
  c.operation = static_cast<BulkOperation>(operation);
  c.type = type_of(c.map);
  ask_for_group(c);
}

// clusterlaunchcontrol: 16 bytes that say which block never begins, or that there is none. A GPU may refuse, too: here it does in
// reverse order, and in a shuffled order at times.
CUDA_ON_CPU_API void cuda_on_cpu_cancel_block(void *to, void *barrier, bool to_all) {
  uintptr_t pc = CALLER;
  take_turn_if_over(pc);
  must_be_aligned(to, 16, pc);
  Cluster &cluster = own_cluster();
  uint32_t &no_more = room.no_more[cluster.member[0].resident];
  if (checker.active && no_more && is_flight_known(no_more, block.current)) report(Kind::asked_after_refusal, relative(pc), 0);
  Index first = {};
  bool refuses = run->schedule == reverse || (run->schedule == shuffled && random_bits() >> 62 == 0);
  LaunchAnswer answer = {0, 0, 0, launch_refused};
  if (!refuses && cancel_next_start(first)) answer = {first.x, first.y, first.z, launch_cancelled};
  for (uint32_t rank = 0; rank < (to_all ? cluster.size : 1); rank++) {
    uint32_t of = cluster.member[block.rank].resident, in = to_all ? cluster.member[rank].resident : of;
    Copy c = asked_by_me(Shape::line, sizeof answer, pc);
    c.to = static_cast<char *>(same_place(to, of, in));
    c.has_read = true;
    c.kept = static_cast<char *>(malloc(sizeof answer));
    if (!c.kept) stop_run(Status::too_large);
    memcpy(c.kept, &answer, sizeof answer);
    c.barrier = mbarrier_for_copy(reinterpret_cast<uintptr_t>(same_place(barrier, of, in)), pc);
    ask_for_barrier(c, false);
    if (checker.active && answer.sign == launch_refused) no_more = last_flight();
  }
}

// Into a cache: nothing lands anywhere, and nothing is out of bounds.
CUDA_ON_CPU_API void cuda_on_cpu_bulk_prefetch(const void *from, uint32_t bytes) {
  must_be_aligned(from, 16, CALLER);
  must_be_multiple(bytes, 16, CALLER);
}
CUDA_ON_CPU_API void cuda_on_cpu_box_prefetch(const void *map, const int32_t *corner, uint32_t axes) { box_of(map, corner, axes, CALLER); }

CUDA_ON_CPU_API void cuda_on_cpu_bulk_commit() {
  CopyNumber number = take();
  room.all[number] = asked_by_me(Shape::end_of_group, 0, CALLER);
  room.has_any[running.resident] = true;
  Queue &q = own_queue();
  append(number, q.first, q.last);
}

// Until all groups of this thread but the last few are over, or until they have read.
CUDA_ON_CPU_API void cuda_on_cpu_bulk_wait(uint32_t but, bool until_read) {
  Queue &q = own_queue();
  uint32_t groups = 0;
  for (CopyNumber n = q.first; n; n = room.all[n].next) groups += room.all[n].shape == Shape::end_of_group;
  Knowledge known = nothing;
  uint32_t waits = groups > but ? groups - but : 0, track = ordering.track;
  for (CopyNumber n = q.first; n && waits; n = room.all[n].next) {
    Copy &c = room.all[n];
    if (c.shape == Shape::end_of_group) {
      waits--;
      continue;
    }
    until_read ? read(c) : write(c);
    if (c.reads) known = with_flight(known, c.reads);
    if (c.writes && !until_read) known = with_flight(known, c.writes);
  }
  if (checker.active && track == ordering.track) order_told(block.current, known);
  if (until_read) return;
  for (waits = groups > but ? groups - but : 0; waits;) {
    CopyNumber done = q.first;
    waits -= room.all[done].shape == Shape::end_of_group;
    q.first = room.all[done].next;
    give_back(done);
  }
}

CUDA_ON_CPU_API void cuda_on_cpu_proxy_fence(uint32_t which) {
  if (!checker.active) return;
  if (which & fence_async_shared) order_proxy_fence(block.current, Proxy::async_shared);
  if (which & fence_async_global) order_proxy_fence(block.current, Proxy::async_global);
  if (which & fence_map_release) order_proxy_fence(block.current, Proxy::tensor_map);
}

// A field of a map. All of it is read and written.
CUDA_ON_CPU_API void cuda_on_cpu_map_replace(void *at, uint32_t field, uint32_t axis, uint64_t value, int line) {
  uintptr_t pc = CALLER;
  take_turn_if_over(pc);
  must_be_aligned(at, 64, pc);
  for (uint32_t i = 0; checker.active && i < used_bytes_of_map; i += 16) {
    checker_access(reinterpret_cast<uintptr_t>(at) + i, 16, Access::read, pc);
    checker_access(reinterpret_cast<uintptr_t>(at) + i, 16, Access::write, pc);
  }
  if (!is_made_or_zero(at)) end_by_map(Kind::no_tensor_map, at, 0, pc);
  if (const char *why = replace_field(at, static_cast<MapField>(field), axis, value)) host_refuses(why, line);
}

// A kernel begins whose parameter this is, without __grid_constant__: on a GPU its address is that of the thread's own copy.
CUDA_ON_CPU_API void cuda_on_cpu_map_is_thread_copy(void *map) {
  if (!is_made(map)) return;
  TensorMap own = map_at(map);
  own.is_thread_copy = 1;
  change(map, own);
}

CUDA_ON_CPU_API void cuda_on_cpu_map_acquire(const void *map) {
  must_be_aligned(map, 128, CALLER);
  if (checker.active) order_map_fence(block.current, number_of_map(reinterpret_cast<uintptr_t>(map)));
}

CUDA_ON_CPU_API void cuda_on_cpu_fence_of_inits() {
  if (checker.active) order_fence_of_inits(block.current);
}
