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
  bool before_writes, before_in_other_block;
};

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
  bool differs = value_at(h.address, h.bytes) != h.value;
  Finding *f = report(differs ? Kind::race : Kind::same_value_race, h.pc, 0, h.before.pc());
  if (!f) return;
  locate(h.address, *f);
  f->thread = h.thread;
  f->other_thread = h.before.thread();
  f->block = h.block;
  f->bytes = h.bytes;
  f->writes = 1;
  f->other_writes = h.before_writes;
  f->other_block = h.before_in_other_block;
}

}  // namespace

void hold_racing_write(uintptr_t address, uint32_t bytes, uint64_t pc, const Trace &before, bool before_writes) {
  if (count == capacity) settle_racing_writes();
  held[count++] = {address, value_at(address, bytes), pc, before, block.number, bytes,
                   static_cast<uint32_t>(block.current), before_writes, before.when < ordering.block_start};
}

void settle_racing_writes() {
  for (int i = 0; i < count; i++) settle(held[i]);
  count = 0;
}

void forget_racing_writes() { count = 0; }

}  // namespace cuda_on_cpu
