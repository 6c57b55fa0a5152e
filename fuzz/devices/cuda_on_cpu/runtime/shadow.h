// The shadow memory: what is known of every four bytes that a kernel may touch.
#pragma once
#include "abi.h"

namespace cuda_on_cpu {

// One access as the race rules remember it.
struct Trace {
  uint32_t when;         // the checker's clock; 0: never
  uint32_t thread : 10;  // its number in its block
  uint32_t clock : 22;   // its warp clock (ordering.h)
  uint32_t pc : 24;      // relative to the library
  uint32_t bytes : 4;    // which of the four
  uint32_t atomic : 1;   // an atomic operation
  uint32_t is_volatile : 1;
};

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

}  // namespace cuda_on_cpu
