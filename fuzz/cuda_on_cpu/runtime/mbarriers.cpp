#include "mbarriers.h"

#include <cstdlib>
#include <cstring>

#include "async_copies.h"
#include "block.h"
#include "bulk_copies.h"
#include "checker.h"
#include "cluster.h"
#include "common_access.h"
#include "library_image.h"
#include "mbarrier_operations.h"
#include "memory_map.h"
#include "ordering.h"
#include "report.h"
#include "shared_memory.h"
#include "state.h"

namespace cuda_on_cpu {

namespace {

// A word: from the highest bit, what tells it from others, the number of its entry, and the phase.
constexpr uint32_t number_bits = 20, phase_bits = 20, most_mbarriers = 1u << number_bits, phases = 1u << phase_bits;
constexpr uint64_t sign = 0xb42217;
constexpr uint32_t most_arrivals = phases - 1;
constexpr int64_t most_bytes = phases - 1;

struct Room {
  Mbarrier *all;
  uint32_t size, used = 1;
  MbarrierNumber unused, of_resident[max_residents];
};
PerProcess<Room> room;  // what a run leaves is freed when a block of the next run starts there

// For each thread of the running block, how it waits: a thread that finds a phase not over again and again, and does nothing else.
struct Waiting {
  uint32_t resident;
  uint64_t in_vain, progress, polls;    // tests, since something else happened
  uint32_t tests[max_threads], tests_at_turn[max_threads], turns_without[max_threads];
};
PerRun<Waiting> waiting;

void free_list(MbarrierNumber &first) {
  MbarrierNumber next;
  for (MbarrierNumber n = first; n; n = next) {
    Mbarrier &one = room.all[n];
    forget_copies_to(n);
    next = one.next;
    one.is_valid = false;
    one.next = room.unused;
    room.unused = n;
  }
  first = no_mbarrier;
}

// cuda::barrier may lie in global memory.
struct OutsideBlocks {
  MbarrierNumber first;
  ~OutsideBlocks() { free_list(first); }
};
PerRun<OutsideBlocks> outside_blocks;

uint64_t word_of(MbarrierNumber number, uint32_t phase) { return sign << (number_bits + phase_bits) | uint64_t{number} << phase_bits | (phase & (phases - 1)); }

uint64_t relative(uintptr_t pc) { return pc - library_start(*run->module); }

// Null if the word is not that of a valid mbarrier at this place.
Mbarrier *find(uintptr_t address) {
  uint64_t word;
  memcpy(&word, reinterpret_cast<const void *>(address), sizeof word);
  auto number = static_cast<MbarrierNumber>(word >> phase_bits & (most_mbarriers - 1));
  if (word >> (number_bits + phase_bits) != sign || number >= room.used) return nullptr;
  Mbarrier &one = room.all[number];
  return one.is_valid && one.address == address ? &one : nullptr;
}

MbarrierNumber number_of(const Mbarrier &one) { return static_cast<MbarrierNumber>(&one - room.all); }

void write_word(const Mbarrier &one) {
  uint64_t word = word_of(number_of(one), one.phase);
  memcpy(reinterpret_cast<void *>(one.address), &word, sizeof word);
}

MbarrierNumber take() {
  if (room.unused) {
    MbarrierNumber taken = room.unused;
    room.unused = room.all[taken].next;
    return taken;
  }
  if (room.used >= room.size) {
    uint32_t larger = room.size ? 2 * room.size : 1024;
    auto *made = larger <= most_mbarriers ? static_cast<Mbarrier *>(realloc(room.all, larger * sizeof(Mbarrier))) : nullptr;
    if (!made) stop_run(Status::too_large);
    room.all = made;
    room.size = larger;
  }
  return room.used++;
}

Finding *report_at(Kind kind, uintptr_t address, uintptr_t pc) {
  Finding *f = report(kind, relative(pc), 0);
  if (!f) return nullptr;
  f->bytes = 8;
  locate(address, *f);
  return f;
}

[[noreturn]] void end_by(Kind kind, uintptr_t address, uintptr_t pc) {
  report_at(kind, address, pc);
  run_is_damaged();
  end_thread();
}

void check_word(uintptr_t address, uintptr_t pc) {
  if (address % 8) report_misaligned(address, 8, pc);
  if (!checker.active) return;
  if (turn_is_over()) take_turn(pc, __builtin_frame_address(0));
  checker_touches(address, 8, pc);
}

// The mbarrier that the current thread uses. Ends the thread if there is none.
Mbarrier &used(uintptr_t address, uintptr_t pc) {
  check_word(address, pc);
  Mbarrier *one = find(address);
  if (!one) end_by(Kind::mbarrier_without_init, address, pc);
  if (checker.active && !is_init_known(one->init, block.current)) {
    if (Finding *f = report(Kind::mbarrier_init_unknown, relative(pc), 0, one->init.pc())) {
      f->bytes = 8;
      locate(address, *f);
      f->other_thread = one->init.thread();
      f->other_block = one->init_block;
      f->relation = one->init_block == block.number ? in_one_block : in_other_blocks;
    }
  }
  return *one;
}

void forget_lost_knowledge(Mbarrier &one) {
  if (one.track != ordering.track) one.gathered = one.over = nothing;
  one.track = ordering.track;
}

void gather(Mbarrier &one, Knowledge known) {
  forget_lost_knowledge(one);
  one.gathered = joined(one.gathered, known);
}

void begin_next_phase(Mbarrier &one) {
  forget_lost_knowledge(one);
  one.over = joined(one.over, one.gathered);
  one.gathered = nothing;
  one.pending = one.expected;
  one.phase++;
  one.waits_at = 0;
  write_word(one);
  came_on();
}

// A copy that was asked for in this phase may still be under way: then too few bytes were expected.
void complete_if_over(Mbarrier &one) {
  if (one.pending || one.bytes) return;
  if (one.first_copy) report_too_few_bytes(one.first_copy, one.address);
  begin_next_phase(one);
}

void change_bytes(Mbarrier &one, int64_t by, uintptr_t pc) {
  one.bytes += by;
  if (one.bytes > most_bytes || one.bytes < -most_bytes) end_by(Kind::mbarrier_overflow, one.address, pc);
}

bool is_over(const Mbarrier &one, uint64_t given, uint32_t traits) {
  if (traits & mbarrier_parity) return (one.phase & 1) != (given & 1);
  return ((one.phase ^ given >> phase_bits) & (phases - 1)) != 0;
}

// Nothing can complete the phase any more: every thread of the block only looks whether some phase is over. If one waits for
// bytes alone, that is why.
[[noreturn]] void report_stuck(const Mbarrier &mine) {
  const Mbarrier *worst = &mine;
  for (MbarrierNumber n = 1; n < room.used; n++) {
    const Mbarrier &one = room.all[n];
    if (one.is_valid && one.waits_at && !one.pending && one.bytes) worst = &one;
  }
  bool by_bytes = !worst->pending;
  Kind kind = !by_bytes ? Kind::mbarrier_never_over : worst->bytes > 0 ? Kind::too_many_bytes : Kind::unexpected_bytes;
  if (Finding *f = report_at(kind, worst->address, worst->waits_at)) {
    f->detail = static_cast<uint64_t>(by_bytes ? llabs(worst->bytes) : worst->pending);
    f->thread = worst->waiting_thread;
    f->block = worst->waiting_block;
  }
  stop_run(Status::stopped);
}

void wait_in_vain(Mbarrier &one, uintptr_t pc) {
  constexpr uint64_t tests_each = 1 << 14;
  one.waits_at = pc;
  one.waiting_thread = static_cast<uint32_t>(block.current);
  one.waiting_block = block.number;
  waiting.tests[block.current]++;
  if (turns.progress != waiting.progress || turns.polls != waiting.polls) waiting.in_vain = 0;
  waiting.progress = turns.progress;
  uint64_t blocks = block.cluster ? block.cluster->size : 1;
  if (++waiting.in_vain > tests_each * static_cast<uint64_t>(block.live) * blocks) report_stuck(one);
  waiting.polls = turns.polls + 1;
  poll();
}

}  // namespace

// Turns come between the accesses of a thread that does something else than test, too.
void note_work_of_thread() {
  constexpr uint32_t many = 64;
  int me = block.current;
  if (waiting.tests[me] != waiting.tests_at_turn[me]) {
    waiting.tests_at_turn[me] = waiting.tests[me];
    waiting.turns_without[me] = 0;
  } else if (++waiting.turns_without[me] > many) {
    waiting.in_vain = 0;
  }
}

void forget_mbarriers_of(uint32_t resident) { free_list(room.of_resident[resident]); }

void enter_mbarriers_of(uint32_t resident) { waiting.resident = resident; }

Mbarrier &mbarrier_at(MbarrierNumber number) { return room.all[number]; }

MbarrierNumber mbarrier_for_copy(uintptr_t address, uintptr_t pc) { return number_of(used(address, pc)); }

void arrive_with(uintptr_t address, Knowledge known, uintptr_t pc) {
  Mbarrier &one = used(address, pc);
  if (!one.pending) end_by(Kind::mbarrier_too_many_arrivals, one.address, pc);
  if (known) gather(one, known);
  one.pending--;
  complete_if_over(one);
}

void bytes_came(MbarrierNumber number, uint64_t bytes, Knowledge with) {
  Mbarrier &one = room.all[number];
  one.bytes -= static_cast<int64_t>(bytes);
  if (with) gather(one, with);
  complete_if_over(one);
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

#define CALLER reinterpret_cast<uintptr_t>(__builtin_return_address(0))

CUDA_ON_CPU_API void cuda_on_cpu_mbarrier_init(void *at, uint32_t count) {
  auto address = reinterpret_cast<uintptr_t>(at);
  uintptr_t pc = CALLER;
  check_word(address, pc);
  if (!count || count > most_arrivals) end_by(Kind::mbarrier_overflow, address, pc);
  bool shared = is_shared_of(waiting.resident, address);
  MbarrierNumber &list = shared ? room.of_resident[waiting.resident] : outside_blocks.first;
  if (Mbarrier *before = find(address)) {
    if (shared) end_by(Kind::mbarrier_init_twice, address, pc);
    before->is_valid = false;
  }
  MbarrierNumber number = take();
  Mbarrier &one = room.all[number];
  one = {};
  one.address = address;
  one.expected = one.pending = count;
  one.is_valid = true;
  one.track = ordering.track;
  one.init = {ordering.now, who_is(static_cast<uint32_t>(block.current), relative(pc)), how_is(relative(pc), Trace::whole)};
  one.init_block = block.number;
  one.next = list;
  list = number;
  write_word(one);
}

CUDA_ON_CPU_API void cuda_on_cpu_mbarrier_inval(void *at) {
  Mbarrier &one = used(reinterpret_cast<uintptr_t>(at), CALLER);
  if (one.first_copy) report_at(Kind::mbarrier_inval_early, one.address, CALLER);
  forget_copies_to(number_of(one));
  one.is_valid = false;
  memset(at, 0, sizeof(uint64_t));
}

CUDA_ON_CPU_API uint64_t cuda_on_cpu_mbarrier_arrive(void *at, uint32_t count, uint32_t traits) {
  Mbarrier &one = used(reinterpret_cast<uintptr_t>(at), CALLER);
  uint64_t state = uint64_t{one.phase & (phases - 1)} << phase_bits | one.pending;
  if (count > one.pending || !count) end_by(Kind::mbarrier_too_many_arrivals, one.address, CALLER);
  if (checker.active && !(traits & mbarrier_relaxed)) gather(one, told_by(block.current));
  one.pending -= count;
  if (traits & mbarrier_drops) one.expected -= count;
  if (traits & mbarrier_no_complete && !one.pending) end_by(Kind::mbarrier_completed_by_no_complete, one.address, CALLER);
  complete_if_over(one);
  return state;
}

// An arrival that follows when the thread's copies have landed. One that counts takes the place of one that is expected.
CUDA_ON_CPU_API void cuda_on_cpu_mbarrier_arrive_after_copies(void *at, bool counts) {
  Mbarrier &one = used(reinterpret_cast<uintptr_t>(at), CALLER);
  hand_copies_to(at, one.phase);
  if (checker.active) gather(one, told_by(block.current));
  if (!counts) return;
  if (!one.pending) end_by(Kind::mbarrier_too_many_arrivals, one.address, CALLER);
  one.pending--;
  complete_if_over(one);
}

// The current thread has stored bytes that this mbarrier counts.
CUDA_ON_CPU_API void cuda_on_cpu_mbarrier_stored(void *at, uint32_t bytes) {
  Mbarrier &one = used(reinterpret_cast<uintptr_t>(at), CALLER);
  bytes_came(number_of(one), bytes, checker.active ? told_by(block.current) : nothing);
}

CUDA_ON_CPU_API void cuda_on_cpu_mbarrier_expect(void *at, int64_t bytes) {
  Mbarrier &one = used(reinterpret_cast<uintptr_t>(at), CALLER);
  change_bytes(one, bytes, CALLER);
  complete_if_over(one);
}

CUDA_ON_CPU_API bool cuda_on_cpu_mbarrier_test(void *at, uint64_t given, uint32_t traits) {
  uintptr_t pc = CALLER;
  Mbarrier *one = &used(reinterpret_cast<uintptr_t>(at), pc);
  MbarrierNumber number = number_of(*one);
  if (!is_over(*one, given, traits)) {
    land_copies_to(number);
    if (!is_over(*one, given, traits)) {
      wait_in_vain(*one, pc);
      return false;
    }
  }
  bool orders = checker.active && !(traits & mbarrier_relaxed);
  forget_lost_knowledge(*one);
  if (orders) order_told(block.current, one->over);
  if (cuda_on_cpu_async_land(at, one->phase) && orders) one->over = joined(one->over, told_by(block.current));
  return true;
}

CUDA_ON_CPU_API uint32_t cuda_on_cpu_mbarrier_phase(const void *at) {
  const Mbarrier *one = find(reinterpret_cast<uintptr_t>(at));
  return one ? one->phase : 0;
}
