// The light check of a block that is not in the sample (sampling.h). It keeps no record of who accesses which word, and
// finds that an access of global memory is fine by one look at its line of 64 bytes.
//
// Every access is still checked for its bounds and its alignment, and every access of a word that concurrent work or a
// block that is checked in full has written, or has read if this is a write, takes the long way: with its record, the
// race rules and the findings. Atomics, fences, volatile accesses and barriers order accesses as in any other block: so
// whatever the sample learns through unsampled blocks, it learns.
//
// What a light check cannot see: races between two lightly checked blocks or within one, in global memory that no other
// block accesses and in shared memory; and reads of uninitialised shared memory. A line that such a block writes counts
// as initialised, all of it.
#pragma once
#include "common_access.h"
#include "unwritten.h"

namespace cuda_on_cpu {

// From now on lines are remembered, until they are forgotten: all blocks that run are checked lightly.
void remember_lines();
void forget_lines();

// Whether nothing is to be checked about an access of words of one line; if so, and it is a write, they are initialised.
bool is_line_uncontested(uintptr_t address, uint32_t bytes, bool writes);
// The same for any access of global memory, and the words of variables and of the heap.
bool is_uncontested(const Region &region, uintptr_t address, uint32_t bytes, bool writes);

// In shared memory of its own: the first word that is not in an array; 0 if all are.
static inline uintptr_t first_outside(const Region &region, uintptr_t address, uint32_t bytes) {
  for (uintptr_t word = address & ~uintptr_t{3}; word < address + bytes; word += 4) {
    uint32_t mask = 15;
    if (word < address) mask &= 15u << (address - word);
    if (word + 4 > address + bytes) mask &= 15u >> (word + 4 - (address + bytes));
    if ((region.cell(word)->addressable() & mask) != mask) return word;
  }
  return 0;
}

// The short way of an aligned access. False: nothing was done.
template <uint32_t size, bool writes>
static inline bool light_access(uintptr_t address) {
  if (memory_map.buffers.holds(address)) {
    uint64_t offset = address - usual_arena;
    Line line = cuda_on_cpu_lines.of[offset >> line_shift];
    if (line == Line::uncontested || (!writes && line == Line::unwritten)) return true;
    return line == Line::other && is_line_uncontested(address, size, writes);
  }
  const Region &shared = memory_map.static_shared.holds(address) ? memory_map.static_shared : memory_map.dynamic_shared;
  return shared.holds(address) && !first_outside(shared, address, size);
}

}  // namespace cuda_on_cpu
