#include "shadow.h"

#include <sys/mman.h>

#include <cstring>

#include "arena.h"
#include "chunks.h"
#include "growing.h"

namespace cuda_on_cpu {

constexpr uintptr_t granule = 4;

static uintptr_t words(uintptr_t bytes) { return bytes / granule + 2; }
static uintptr_t shadow_bytes(uintptr_t bytes) { return words(bytes) * (sizeof(Cell) + sizeof(uint16_t)); }

uint64_t addresses_of_shadow(uint64_t bytes) { return shadow_bytes(bytes); }

bool map_shadow(Region &region, uintptr_t start, uintptr_t bytes) {
  region = {start & ~(granule - 1), bytes + (start & (granule - 1)), nullptr, nullptr, nullptr, nullptr, 0};
  void *memory = map_growing(shadow_bytes(region.bytes));
  if (!memory) return false;
  region.cells = static_cast<Cell *>(memory);
  region.settled = reinterpret_cast<uint16_t *>(region.cells + words(region.bytes));
  return true;
}

void unmap_shadow(Region &region) {
  if (region.cells) unmap_growing(region.cells, shadow_bytes(region.bytes));
  if (region.chunks) unmap_chunks(region);
  region = {};
}

static void mark_bytes(Cell &cell, uint32_t mask, bool initialised) {
  cell.state = static_cast<uint8_t>(cell.state | mask | (initialised ? mask << 4 : 0));
}

bool open_shadow(const Region &region, uintptr_t start, uintptr_t bytes) {
  if (!bytes || has_chunks(region, start)) return true;
  uintptr_t count = words(bytes);
  return open_growing(region.cell(start), count * sizeof(Cell)) && open_growing(region.settled_at(start), count * sizeof *region.settled);
}

void mark(Region &region, uintptr_t start, uintptr_t bytes, bool initialised) {
  if (!bytes) return;
  if (has_chunks(region, start)) return mark_chunks(region, start, bytes, initialised);
  open_shadow(region, start, bytes);  // where that is refused, the first write stops the run
  uintptr_t end = start + bytes, first = start & ~(granule - 1), last = (end - 1) & ~(granule - 1);
  uint32_t from_start = 15u << (start - first) & 15, to_end = 15u >> (last + granule - end);
  bring_in(region.cell(start), bytes / granule * sizeof(Cell));
  bring_in(region.settled_at(start), bytes / granule * sizeof *region.settled);
  if (first == last) return mark_bytes(*region.cell(first), from_start & to_end, initialised);
  mark_bytes(*region.cell(first), from_start, initialised);
  for (Cell *cell = region.cell(first) + 1; cell < region.cell(last); cell++) mark_bytes(*cell, 15, initialised);
  mark_bytes(*region.cell(last), to_end, initialised);
}

void set_initialised(Region &region, uintptr_t start, uintptr_t bytes, bool initialised) {
  auto set = [=](Cell &cell) { cell.set_initialised(initialised ? cell.addressable() : 0); };
  auto set_words = [&](uintptr_t from, uintptr_t end) {
    const Cell *all = cell_of_all(region, from);
    if (all && initialised && all->initialised() == all->addressable()) return true;  // a part of a uniform chunk
    for (Cell *cell = region.cell(from); cell < region.cell(end + granule - 1); cell++) set(*cell);
    return true;
  };
  walk(region, start, start + bytes, set_words, [&](Chunk &chunk, uintptr_t at) { return forget_lines_set(region, at), set(chunk.all), true; });
}

// Large pages go back to the system, which supplies zeroed pages by itself: faster than writing zeros.
static void clear(Cell *first, Cell *last) {
  uintptr_t start = reinterpret_cast<uintptr_t>(first), end = reinterpret_cast<uintptr_t>(last);
  uintptr_t from = (start + large_page - 1) & ~(large_page - 1), to = end & ~(large_page - 1);
  if (from >= to || madvise(reinterpret_cast<void *>(from), to - from, MADV_DONTNEED)) from = to = end;
  memset(reinterpret_cast<void *>(start), 0, from - start);
  memset(reinterpret_cast<void *>(to), 0, end - to);
}

void unmark(Region &region, uintptr_t start, uintptr_t bytes) {
  if (has_chunks(region, start)) return unmark_chunks(region, start, bytes);
  clear(region.cell(start), region.cell(start + bytes + granule - 1));
}

void give_back_shadow(Region &region) { madvise(region.cells, shadow_bytes(region.bytes), MADV_DONTNEED); }

}  // namespace cuda_on_cpu
