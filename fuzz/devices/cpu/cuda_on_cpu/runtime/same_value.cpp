#include "same_value.h"

#include <cstring>

#include "block.h"
#include "checker.h"
#include "memory_map.h"
#include "ordering.h"
#include "report.h"

namespace cuda_on_cpu {

namespace {

struct Held {
  uintptr_t address;
  uint64_t value;
  uint64_t pc;
  Trace before;
  uint64_t block;
  uint32_t bytes;
  uint32_t thread;
  bool writes, before_writes, before_in_other_block;
  int guesser;  // the thread whose read may yet prove to be a guess; or nobody
};

constexpr int nobody = -1;

constexpr int capacity = 1024;
Held held[capacity];
int count;

uint64_t value_at(uintptr_t address, uint32_t bytes) {
  uint64_t value = 0;
  memcpy(&value, reinterpret_cast<const void *>(address), bytes < sizeof value ? bytes : sizeof value);
  return value;
}

void settle(const Held &h) {
  // Of three writers, the value of each but the last is what another one found: no value goes unseen.
  bool differs = !h.writes || value_at(h.address, h.bytes) != h.value;
  Finding *f = report(differs ? Kind::race : Kind::same_value_race, h.pc, 0, h.before.pc());
  if (!f) return;
  locate(h.address, *f);
  f->thread = h.thread;
  f->other_thread = h.before.thread();
  f->block = h.block;
  f->bytes = h.bytes;
  f->writes = h.writes;
  f->other_writes = h.before_writes;
  f->other_block = h.before_in_other_block;
}

void hold(uintptr_t address, uint32_t bytes, uint64_t pc, const Trace &before, bool writes, bool before_writes, int guesser) {
  if (count == capacity) settle_races();
  held[count++] = {address, value_at(address, bytes), pc, before, block.number, bytes, static_cast<uint32_t>(block.current),
                   writes, before_writes, before.when < ordering.block_start, guesser};
}

// Many atomics may meet one guess: it is held once for each two places of the code.
void hold_guess(uintptr_t address, uint32_t bytes, uint64_t pc, const Trace &before, bool writes, int guesser) {
  for (int i = 0; i < count; i++) {
    const Held &h = held[i];
    if (h.guesser == guesser && h.address == address && h.pc == pc && h.before.pc() == before.pc()) return;
  }
  hold(address, bytes, pc, before, writes, !writes, guesser);
}

}  // namespace

void hold_racing_write(uintptr_t address, uint32_t bytes, uint64_t pc, const Trace &before, bool before_writes) {
  hold(address, bytes, pc, before, true, before_writes, nobody);
}

void hold_racing_read(uintptr_t address, uint32_t bytes, uint64_t pc, const Trace &before) {
  hold_guess(address, bytes, pc, before, false, block.current);
}

void hold_racing_atomic(uintptr_t address, uint32_t bytes, uint64_t pc, const Trace &before) {
  hold_guess(address, bytes, pc, before, true, static_cast<int>(before.thread()));
}

void forgive_guesses(uintptr_t address, uint32_t bytes) {
  for (int i = 0; i < count; i++) {
    const Held &h = held[i];
    if (h.guesser == block.current && h.address < address + bytes && address < h.address + h.bytes) held[i--] = held[--count];
  }
}

void settle_races() {
  for (int i = 0; i < count; i++) settle(held[i]);
  count = 0;
}

void forget_races() { count = 0; }

}  // namespace cuda_on_cpu
