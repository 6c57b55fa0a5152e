// The shadow memory: what is known of every four bytes that a kernel may touch.
#pragma once
#include "abi.h"

namespace cuda_on_cpu {

// One access as the race rules remember it: its moment (ordering.h's clock), the thread and its block (the clock
// tells), and the place in the library. Words instead of bit-fields: a write to a bit-field reads it first, and these
// are written at every access. Packed, so that three of them and the rest of a cell are 32 bytes.
struct __attribute__((packed)) Trace {
  uint32_t when;  // 0: never
  uint32_t who;   // 10 bits: the thread's number in its block; 22: the lower bits of the place
  uint16_t how;   // 4 bits: which of the four bytes; 4: flags; 8: the upper bits of the place

  static constexpr uint32_t whole = 15, thread_bits = 10, thread_mask = (1u << thread_bits) - 1, low_bits = 32 - thread_bits;
  static constexpr uint32_t atomic_bit = 1u << 4, volatile_bit = 1u << 5, block_bit = 1u << 6;
  static constexpr uint32_t bulk_bit = 1u << 7, high_shift = 8;

  uint32_t thread() const { return who & thread_mask; }
  uint32_t pc() const { return who >> thread_bits | static_cast<uint32_t>(how >> high_shift) << low_bits; }
  uint32_t bytes() const { return how & whole; }
  bool is_atomic() const { return how & atomic_bit; }
  bool is_volatile() const { return how & volatile_bit; }
  bool is_of_block_scope() const { return how & block_bit; }
  // By a bulk copy (bulk_copies.h), at the request of this thread: `when` tells which copy.
  bool is_bulk() const { return how & bulk_bit; }
};

static inline uint32_t who_is(uint32_t thread, uint64_t pc) {
  return (thread & Trace::thread_mask) | static_cast<uint32_t>(pc) << Trace::thread_bits;
}

static inline uint16_t how_is(uint64_t pc, uint32_t bytes_and_flags) {
  return static_cast<uint16_t>(bytes_and_flags | static_cast<uint32_t>(pc >> Trace::low_bits) << Trace::high_shift);
}

// Two concurrent readers are kept, of two warps or two blocks if possible: the next writer cannot be both.
struct Cell {
  Trace write, read, other_read;
  uint8_t state;  // 4 bits: addressable bytes; 4: initialised ones
  uint8_t hidden;  // addressable bytes, hidden from the short ways: some trace is that of a bulk copy

  static constexpr uint8_t all = 0xff;
  uint32_t addressable() const { return (state | hidden) & 15u; }
  uint32_t plainly_addressable() const { return state & 15u; }
  uint32_t initialised() const { return state >> 4; }
  void set_initialised(uint32_t bytes) { state = static_cast<uint8_t>(plainly_addressable() | bytes << 4); }
  // The short ways know threads only: a word with the trace of a bulk copy takes the long one.
  void hide() {
    hidden = static_cast<uint8_t>(addressable());
    state = static_cast<uint8_t>(state & ~15u);
  }
  void show() {
    state = static_cast<uint8_t>(state | hidden);
    hidden = 0;
  }
  bool has_bulk() const { return write.is_bulk() || read.is_bulk() || other_read.is_bulk(); }
};
static_assert(sizeof(Cell) == 32, "a cell is half a cache line");

// A range of memory with shadow. Its arrays lie inside it with unaddressable bytes between them.
//
// For each word it also records, beside the cells and small enough for the nearest cache, the moment since which
// another read can learn nothing more: the lower eight bits of the clock (0: never), and in the upper ones 0, or the
// warp, counted from 1. That is nearly always enough.
struct Chunk;
struct Region {
  uintptr_t start, bytes;
  Cell *cells;
  uint16_t *settled;
  Chunk *chunks;  // of large arrays (chunks.h), or null
  uint64_t *lines_set;  // for each line of 64 bytes that has chunks, a bit
  uintptr_t chunks_from;
  Cell *cell(uintptr_t address) const { return cells + ((address - start) >> 2); }
  uint16_t *settled_at(uintptr_t address) const { return settled + ((address - start) >> 2); }
  bool holds(uintptr_t address) const { return address - start < bytes; }
};

// False when the system refuses the mapping. Untouched pages cost nothing.
bool map_shadow(Region &region, uintptr_t start, uintptr_t bytes);
void unmap_shadow(Region &region);
uint64_t addresses_of_shadow(uint64_t bytes);  // for so many bytes

// Before `mark`, where no run can be stopped: false when the system does not let the shadow of these bytes be written.
bool open_shadow(const Region &region, uintptr_t start, uintptr_t bytes);
// Makes the bytes addressable; all else of the region stays out of bounds.
void mark(Region &region, uintptr_t start, uintptr_t bytes, bool initialised);
void set_initialised(Region &region, uintptr_t start, uintptr_t bytes, bool initialised);
void unmark(Region &region, uintptr_t start, uintptr_t bytes);

// Returns the memory of all cells: no byte is addressable any more.
void give_back_shadow(Region &region);

}  // namespace cuda_on_cpu
