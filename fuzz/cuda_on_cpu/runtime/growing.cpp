#include "growing.h"

#include <sys/mman.h>

#include "state.h"

namespace cuda_on_cpu {

namespace {

// Large, so that few faults open all that a kernel writes, and a multiple of a large page.
constexpr uintptr_t piece = 4 << 20;
constexpr uint32_t most_ranges = 8, most_pieces = 4096, bits = 64;

struct Range {
  uintptr_t start, bytes;  // 0 bytes: unused
  uint64_t open[most_pieces / bits];
  bool is_open(uintptr_t number) const { return open[number / bits] >> number % bits & 1; }
};

struct Ranges {
  Range at[most_ranges];
};
PerProcess<Ranges> ranges;

Range *range_of(uintptr_t address) {
  for (Range &one : ranges.at)
    if (address - one.start < one.bytes) return &one;
  return nullptr;
}

uintptr_t piece_of(const Range &range, uintptr_t address) { return address / piece - range.start / piece; }

bool open_piece(Range &range, uintptr_t number) {
  uintptr_t from = (range.start / piece + number) * piece, to = from + piece;
  if (from < range.start) from = range.start;
  if (to > range.start + range.bytes) to = range.start + range.bytes;
  if (mprotect(reinterpret_cast<void *>(from), to - from, PROT_READ | PROT_WRITE)) return false;
  range.open[number / bits] |= uint64_t{1} << number % bits;
  return true;
}

}  // namespace

void *map_growing(uint64_t bytes) {
  Range *unused = nullptr;
  for (Range &one : ranges.at)
    if (!one.bytes) unused = &one;
  bool grows = unused && bytes >= 2 * piece && bytes < (most_pieces - 1) * piece;
  int protection = grows ? PROT_READ : PROT_READ | PROT_WRITE;
  void *memory = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (grows) {
    *unused = {};
    unused->start = reinterpret_cast<uintptr_t>(memory);
    unused->bytes = (bytes + 4095) & ~uint64_t{4095};
  }
  return memory;
}

void unmap_growing(void *memory, uint64_t bytes) {
  if (Range *range = range_of(reinterpret_cast<uintptr_t>(memory))) range->bytes = 0;
  munmap(memory, bytes);
}

bool open_growing(const void *start, uint64_t bytes) {
  auto first = reinterpret_cast<uintptr_t>(start);
  Range *range = range_of(first);
  if (!range || !bytes) return true;
  uintptr_t last = first + bytes - 1;
  if (last >= range->start + range->bytes) last = range->start + range->bytes - 1;
  for (uintptr_t number = piece_of(*range, first); number <= piece_of(*range, last); number++)
    if (!range->is_open(number) && !open_piece(*range, number)) return false;
  return true;
}

Growth grow_at(uintptr_t address) {
  Range *range = range_of(address);
  if (!range || range->is_open(piece_of(*range, address))) return Growth::elsewhere;
  return open_piece(*range, piece_of(*range, address)) ? Growth::grown : Growth::refused;
}

}  // namespace cuda_on_cpu
