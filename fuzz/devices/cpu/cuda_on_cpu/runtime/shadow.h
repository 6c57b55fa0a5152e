// The shadow memory: what is known of every four bytes that a kernel may touch.
#pragma once
#include "abi.h"

namespace cuda_on_cpu {

// One access as the race rules remember it. Words and not bit-fields: to write a bit-field is to read it first, and
// these are written at every access.
struct Trace {
  uint32_t when;  // the checker's clock; 0: never
  uint32_t who;   // 10 bits: the thread's number in its block; 22: its warp clock (ordering.h)
  uint32_t what;  // 24 bits: place in the library; 4: which of the four bytes; 1: atomic; 1: volatile

  static constexpr uint32_t whole = 15, thread_bits = 10, thread_mask = (1u << thread_bits) - 1;
  static constexpr uint32_t pc_bits = 24, pc_mask = (1u << pc_bits) - 1, atomic_bit = 1u << 28, volatile_bit = 1u << 29;

  uint32_t thread() const { return who & thread_mask; }
  uint32_t clock() const { return who >> thread_bits; }
  uint32_t pc() const { return what & pc_mask; }
  uint32_t bytes() const { return what >> pc_bits & whole; }
  bool is_atomic() const { return what & atomic_bit; }
  bool is_volatile() const { return what & volatile_bit; }
};

static inline uint32_t who_is(uint32_t thread, uint32_t clock) {
  return (thread & Trace::thread_mask) | clock << Trace::thread_bits;
}

static inline uint32_t what_is(uint64_t pc, uint32_t bytes) {
  return (static_cast<uint32_t>(pc) & Trace::pc_mask) | bytes << Trace::pc_bits;
}

// Two concurrent readers are kept: whoever writes next is not both of them.
struct Cell {
  Trace write, read, other_read;
  uint8_t addressable, initialised;  // one bit a byte
};

// A range of memory with shadow. Its arrays lie inside it with unaddressable bytes between them.
struct Region {
  uintptr_t start, bytes;
  Cell *cells;
  Cell *cell(uintptr_t address) const { return cells + ((address - start) >> 2); }
  bool holds(uintptr_t address) const { return address - start < bytes; }
};

// False when the system refuses the mapping. Pages nobody touches cost nothing.
bool map_shadow(Region &region, uintptr_t start, uintptr_t bytes);
void unmap_shadow(Region &region);

// Makes the bytes addressable; all else of the region stays out of bounds.
void mark(Region &region, uintptr_t start, uintptr_t bytes, bool initialised);
void set_initialised(Region &region, uintptr_t start, uintptr_t bytes, bool initialised);
void unmark(Region &region, uintptr_t start, uintptr_t bytes);

// Gives back the memory of all cells from `start` on: nothing there is addressable any more.
void give_back_shadow(Region &region, uintptr_t start);

}  // namespace cuda_on_cpu
