// A copy is made as late as possible: a thread that reads before it waits does not see what it asked for. The first
// thread that has waited for a phase of a cuda::barrier makes all copies of that phase. Where accesses are checked, a
// copy counts as a write twice, when it is requested and when it is made; in between, the target counts as unwritten.
#include "async_copies.h"

#include <cstdlib>
#include <cstring>

#include "block.h"
#include "checker.h"
#include "common_access.h"
#include "grid.h"
#include "memory_map.h"
#include "report.h"
#include "state.h"

namespace cuda_on_cpu {

namespace {

// Each thread has a list, newest first, in which a batch's end comes before its copies; each barrier has one too.
struct Asked {
  char *to;  // null: the end of a batch
  const char *from;
  uintptr_t pc;
  uint32_t bytes, zeros;
  uint32_t older;
  uint32_t phase;  // of the barrier
  uint32_t owner;  // the thread that has handed it to the barrier (cp.async.mbarrier.arrive) and may wait for it as well, plus 1
};

struct OfBarrier {
  const void *barrier;
  uint32_t newest;
};

// The lists of a resident block's barriers; an empty one serves the next barrier.
struct OfBarriers {
  OfBarrier *all;
  uint32_t size;
  OfBarrier *begin() { return all; }
  OfBarrier *end() { return all + size; }
};

constexpr uint32_t no_entry = 0, most = 1 << 22;

struct CopyRoom {
  Asked *asked;
  uint32_t size, used = 1, unused = no_entry;
  uint32_t newest_of[max_residents][max_threads];
  OfBarriers of_barriers[max_residents];
  bool has_any[max_residents], has_handed[max_residents];
};
PerProcess<CopyRoom> room;  // lists that a run leaves are freed when a block of the next run starts there

struct RunningBlock {
  uint32_t resident;
};
PerRun<RunningBlock> running;

// Null if there is no room; then the copy is made at once.
uint32_t place() {
  if (room.unused != no_entry) {
    uint32_t taken = room.unused;
    room.unused = room.asked[taken].older;
    return taken;
  }
  if (room.used == room.size || !room.asked) {
    uint32_t larger = room.size ? 2 * room.size : 4096;
    auto *made = larger <= most ? static_cast<Asked *>(realloc(room.asked, larger * sizeof(Asked))) : nullptr;
    if (!made) return no_entry;
    room.asked = made;
    room.size = larger;
  }
  return room.used++;
}

bool remember(const Asked &one, uint32_t &newest) {
  uint32_t at = place();
  if (at == no_entry) return false;
  room.asked[at] = one;
  room.asked[at].older = newest;
  newest = at;
  room.has_any[running.resident] = true;
  return true;
}

uint32_t &newest_of_thread() { return room.newest_of[running.resident][block.current]; }

// The list of a barrier of the running block; null if it has none.
uint32_t *newest_of_barrier(const void *barrier) {
  for (OfBarrier &one : room.of_barriers[running.resident])
    if (one.newest != no_entry && one.barrier == barrier) return &one.newest;
  return nullptr;
}

// The same, but a new list if it has none. It moves when another barrier gets a list.
uint32_t &list_of_barrier(const void *barrier) {
  if (uint32_t *known = newest_of_barrier(barrier)) return *known;
  OfBarriers &lists = room.of_barriers[running.resident];
  for (OfBarrier &one : lists)
    if (one.newest == no_entry) {
      one.barrier = barrier;
      return one.newest;
    }
  uint32_t before = lists.size, larger = before ? 2 * before : 16;
  auto *made = static_cast<OfBarrier *>(realloc(lists.all, larger * sizeof(OfBarrier)));
  if (!made) stop_run(Status::too_large);
  lists = {made, larger};
  for (uint32_t i = before; i < larger; i++) made[i] = {nullptr, no_entry};
  made[before].barrier = barrier;
  return made[before].newest;
}

void give_back(uint32_t at) {
  room.asked[at].older = room.unused;
  room.unused = at;
}

void make(const Asked &one) {
  if (checker.active) checker_access(reinterpret_cast<uintptr_t>(one.to), one.bytes, Access::write, one.pc);
  memcpy(one.to, one.from, one.bytes - one.zeros);
  memset(one.to + one.bytes - one.zeros, 0, one.zeros);
}

// The target counts as unwritten until then.
void empty(const Asked &one) {
  bool shared;
  const Region *region = region_of(reinterpret_cast<uintptr_t>(one.to), shared);
  if (!region) return;
  for (uint32_t i = 0; i < one.bytes; i += sizeof run->poison) memcpy(one.to + i, &run->poison, sizeof run->poison);
  Region there = *region;
  set_initialised(there, reinterpret_cast<uintptr_t>(one.to), one.bytes, false);
}

// Oldest first. The recursion is as deep as batches are long.
void make_all(uint32_t at) {
  if (at == no_entry) return;
  make_all(room.asked[at].older);
  Asked one = room.asked[at];
  give_back(at);
  if (one.to) make(one);
}

}  // namespace

// Takes the copies for which it holds out of a list, and gives the newest of them.
template <class Holds>
static uint32_t take_out(uint32_t &newest, Holds holds) {
  uint32_t taken = no_entry, *end = &taken;
  for (uint32_t *link = &newest; *link != no_entry;) {
    uint32_t at = *link;
    if (!room.asked[at].to || !holds(room.asked[at])) {
      link = &room.asked[at].older;
      continue;
    }
    *link = room.asked[at].older;
    *end = at;
    end = &room.asked[at].older;
    *end = no_entry;
  }
  return taken;
}

void hand_copies_to(const void *barrier, uint32_t phase) {
  const auto me = static_cast<uint32_t>(block.current) + 1;
  uint32_t taken = take_out(newest_of_thread(), [](const Asked &) { return true; });
  if (taken == no_entry) return;
  uint32_t &newest = list_of_barrier(barrier);
  uint32_t oldest = taken;
  for (uint32_t at = taken; at != no_entry; oldest = at, at = room.asked[at].older) room.asked[at].phase = phase, room.asked[at].owner = me;
  room.asked[oldest].older = newest;
  newest = taken;
  room.has_handed[running.resident] = true;
}

// It is over for the thread that has asked for it as soon as that thread has waited for anything.
static void land_handed() {
  if (!room.has_handed[running.resident]) return;
  const auto me = static_cast<uint32_t>(block.current) + 1;
  for (OfBarrier &one : room.of_barriers[running.resident]) make_all(take_out(one.newest, [me](const Asked &a) { return a.owner == me; }));
}

static void forget_list(uint32_t &newest) {
  while (newest != no_entry) {
    uint32_t older = room.asked[newest].older;
    give_back(newest);
    newest = older;
  }
}

void forget_copies_of(uint32_t number) {
  if (!room.has_any[number]) return;
  for (uint32_t &newest : room.newest_of[number]) forget_list(newest);
  for (OfBarrier &one : room.of_barriers[number]) forget_list(one.newest);
  room.has_any[number] = room.has_handed[number] = false;
}

void enter_copies_of(uint32_t number) { running.resident = number; }

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

CUDA_ON_CPU_API void cuda_on_cpu_async_copy(void *to, const void *from, uint32_t bytes, uint32_t zeros, const void *barrier,
                                            uint32_t phase) {
  Asked one = {static_cast<char *>(to), static_cast<const char *>(from), reinterpret_cast<uintptr_t>(__builtin_return_address(0)),
               bytes, zeros < bytes ? zeros : bytes, no_entry, phase, 0};
  auto aligned = [&one](uintptr_t address) {
    if (address % one.bytes) report_misaligned(address, one.bytes, one.pc);
  };
  aligned(reinterpret_cast<uintptr_t>(to));
  aligned(reinterpret_cast<uintptr_t>(from));
  if (checker.active) {
    if (turn_is_over()) take_turn(one.pc, __builtin_frame_address(0));
    if (one.zeros < bytes) checker_access(reinterpret_cast<uintptr_t>(from), bytes - one.zeros, Access::read, one.pc);
    checker_access(reinterpret_cast<uintptr_t>(to), bytes, Access::write, one.pc);
  }
  if (bytes < sizeof run->poison) return make(one);  // the hardware minimum
  if (!remember(one, barrier ? list_of_barrier(barrier) : newest_of_thread())) return make(one);
  if (checker.active) empty(one);
}

CUDA_ON_CPU_API void cuda_on_cpu_async_commit() { remember({nullptr, nullptr, 0, 0, 0, no_entry, 0, 0}, newest_of_thread()); }

// Waits for all batches but the last few; does not wait for copies that are in no batch yet.
CUDA_ON_CPU_API void cuda_on_cpu_async_wait(uint32_t but) {
  land_handed();
  uint32_t *link = &newest_of_thread();
  for (uint64_t ends = uint64_t{but} + 1; *link != no_entry; link = &room.asked[*link].older)
    if (!room.asked[*link].to && !--ends) break;
  uint32_t done = *link;
  *link = no_entry;
  make_all(done);
}

CUDA_ON_CPU_API uint32_t cuda_on_cpu_async_batches() {
  uint32_t count = 0;
  for (uint32_t at = room.newest_of[running.resident][block.current]; at != no_entry; at = room.asked[at].older) count += !room.asked[at].to;
  return count;
}

CUDA_ON_CPU_API bool cuda_on_cpu_async_land(const void *barrier, uint32_t phase) {
  uint32_t *link = newest_of_barrier(barrier);
  while (link && *link != no_entry && static_cast<int32_t>(phase - room.asked[*link].phase) <= 0) link = &room.asked[*link].older;
  if (!link || *link == no_entry) return false;
  uint32_t done = *link;
  *link = no_entry;
  make_all(done);
  if (checker.active) checker_publishes(reinterpret_cast<uintptr_t>(barrier));
  return true;
}
