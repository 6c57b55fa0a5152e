// Shadow that takes no memory until it is needed: that of large arrays, by chunks.
//
// As long as nothing but allocations, copies and memsets of whole chunks has accessed a chunk, it is uniform: one cell stands
// for all of its words, and the memory of its cells must not be touched. The first other access faults, and the chunk gets its
// cells (give_cells). They begin as copies of the one cell, a page at a time, by the system (patterns.h).
#pragma once
#include "shadow.h"

namespace cuda_on_cpu {

constexpr uintptr_t chunk_bytes = 512 << 10;  // of memory; its cells take eight times as much

struct Chunk {
  Cell all;
  bool is_uniform;
  bool has_lines_set;    // some of its lines are initialised, although `all` says that no word is
  bool has_lost_before;  // what its words held before a write is not known (late_writes.h)
};

// From this address on, to its end, a region has chunks. Arrays begin at the start of one.
bool map_chunks(Region &region, uintptr_t from);
void unmap_chunks(Region &region);
static inline bool has_chunks(const Region &region, uintptr_t address) { return region.chunks && address >= region.chunks_from; }

// As those of shadow.h, which call them.
void mark_chunks(Region &region, uintptr_t start, uintptr_t bytes, bool initialised);
void unmark_chunks(Region &region, uintptr_t start, uintptr_t bytes);

// How many chunks have got cells in this run.
uint64_t chunks_with_cells();

// A page fault at this address: whether it was at cells of a uniform chunk, which has them now.
bool give_cells(const Region &region, uintptr_t at);

static inline Chunk &chunk_at(const Region &region, uintptr_t address) { return region.chunks[(address - region.chunks_from) / chunk_bytes]; }

// The cell that stands for the words around this one; null if they have cells of their own.
static inline const Cell *cell_of_all(const Region &region, uintptr_t address) {
  if (!has_chunks(region, address)) return nullptr;
  const Chunk &chunk = chunk_at(region, address);
  return chunk.is_uniform ? &chunk.all : nullptr;
}

// A line of 64 bytes of a uniform chunk: all of its words are initialised, by writes that leave no other trace
// (light_checks.h).
constexpr uintptr_t bytes_of_line = 64, lines_of_chunk = chunk_bytes / bytes_of_line, lines_of_word = 64;
static inline uintptr_t line_at(const Region &region, uintptr_t address) { return (address - region.chunks_from) / bytes_of_line; }
static inline bool is_line_set(const Region &region, uintptr_t address) {
  uintptr_t line = line_at(region, address);
  return chunk_at(region, address).has_lines_set && region.lines_set[line / lines_of_word] >> line % lines_of_word & 1;
}
static inline void set_line(const Region &region, uintptr_t address) {
  uintptr_t line = line_at(region, address);
  chunk_at(region, address).has_lines_set = true;
  region.lines_set[line / lines_of_word] |= uint64_t{1} << line % lines_of_word;
}
void forget_lines_set(const Region &region, uintptr_t address);  // of all its chunk

// Goes through the words of a range: `on_words(from, to)` for those with cells of their own, and `on_uniform(chunk, from)` for
// a whole chunk. Either returns whether to go on.
template <class OnWords, class OnUniform>
static inline void walk(const Region &region, uintptr_t from, uintptr_t end, OnWords on_words, OnUniform on_uniform) {
  while (from < end) {
    if (!has_chunks(region, from)) {
      on_words(from, end);
      return;
    }
    uintptr_t next = from - (from - region.chunks_from) % chunk_bytes + chunk_bytes;
    Chunk &chunk = chunk_at(region, from);
    bool is_whole = chunk.is_uniform && next - from == chunk_bytes && next <= end;
    if (next > end) next = end;
    if (!(is_whole ? on_uniform(chunk, from) : on_words(from, next))) return;
    from = next;
  }
}

}  // namespace cuda_on_cpu
