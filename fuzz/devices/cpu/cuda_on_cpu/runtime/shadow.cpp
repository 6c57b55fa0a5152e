#include "shadow.h"

#include <sys/mman.h>

#include <cstring>

#include "arena.h"

namespace cuda_on_cpu {

constexpr uintptr_t granule = 4;

static uintptr_t words(uintptr_t bytes) { return bytes / granule + 2; }
static uintptr_t shadow_bytes(uintptr_t bytes) { return words(bytes) * (sizeof(Cell) + sizeof(uint16_t)); }

bool map_shadow(Region &region, uintptr_t start, uintptr_t bytes) {
  region = {start & ~(granule - 1), bytes + (start & (granule - 1)), nullptr, nullptr};
  void *memory = mmap(nullptr, shadow_bytes(region.bytes), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  region.cells = static_cast<Cell *>(memory);
  region.settled = reinterpret_cast<uint16_t *>(region.cells + words(region.bytes));
  return true;
}

void unmap_shadow(Region &region) {
  if (region.cells) munmap(region.cells, shadow_bytes(region.bytes));
  region = {};
}

void mark(Region &region, uintptr_t start, uintptr_t bytes, bool initialised) {
  uintptr_t end = start + bytes;
  prefer_large_pages(region.cell(start), (bytes / granule) * sizeof(Cell));
  for (uintptr_t word = start & ~(granule - 1); word < end; word += granule) {
    uint32_t mask = 15;
    if (word < start) mask &= 15u << (start - word);
    if (word + granule > end) mask &= 15u >> (word + granule - end);
    Cell &cell = *region.cell(word);
    cell.state = static_cast<uint8_t>(cell.state | mask | (initialised ? mask << 4 : 0));
  }
}

void set_initialised(Region &region, uintptr_t start, uintptr_t bytes, bool initialised) {
  for (Cell *cell = region.cell(start); cell < region.cell(start + bytes + granule - 1); cell++)
    cell->set_initialised(initialised ? cell->addressable() : 0);
}

void unmark(Region &region, uintptr_t start, uintptr_t bytes) {
  Cell *first = region.cell(start), *last = region.cell(start + bytes + granule - 1);
  memset(static_cast<void *>(first), 0, static_cast<size_t>(last - first) * sizeof(Cell));
}

void give_back_shadow(Region &region) { madvise(region.cells, shadow_bytes(region.bytes), MADV_DONTNEED); }

}  // namespace cuda_on_cpu
