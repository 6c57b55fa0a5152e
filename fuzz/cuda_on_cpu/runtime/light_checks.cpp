#include "light_checks.h"

#include <sys/mman.h>

#include <cstring>

#include "chunks.h"
#include "state.h"

namespace cuda_on_cpu {

namespace {

// Between arrays that are far apart lie many lines that take no memory.
void drop_lines(uint64_t first, uint64_t end) {
  constexpr uintptr_t page = 4096;
  auto start = reinterpret_cast<uintptr_t>(cuda_on_cpu_lines.of + first), after = reinterpret_cast<uintptr_t>(cuda_on_cpu_lines.of + end);
  uintptr_t from = (start + page - 1) & ~(page - 1), to = after & ~(page - 1);
  madvise(reinterpret_cast<void *>(from), to - from, MADV_DONTNEED);
  memset(cuda_on_cpu_lines.of + first, 0, from - start);
  memset(reinterpret_cast<void *>(to), 0, after - to);
}

// The lines that are remembered lie in [first, end).
struct RememberedLines {
  bool are_remembered;
  uint64_t first, end;
  RememberedLines() : are_remembered(false), first(0), end(0) {}
  ~RememberedLines() { forget(); }
  void forget() {
    constexpr uint64_t large = 1 << 20;
    if (end - first > large)
      drop_lines(first, end);
    else if (first < end)
      memset(cuda_on_cpu_lines.of + first, static_cast<int>(Line::other), end - first);
    first = end = 0;
  }
};
PerRun<RememberedLines> remembered;

constexpr uintptr_t line_bytes = uintptr_t{1} << line_shift;
static_assert(line_bytes == bytes_of_line);

void remember(uintptr_t address, Line as) {
  if (!remembered.are_remembered) return;
  uint64_t line = (address - usual_arena) >> line_shift;
  if (remembered.first == remembered.end) remembered.first = line, remembered.end = line + 1;
  if (line < remembered.first) remembered.first = line;
  if (line >= remembered.end) remembered.end = line + 1;
  cuda_on_cpu_lines.of[line] = as;
}

// What is known of some words.
struct Words {
  bool are_inside, are_initialised, are_read, are_written;  // read, written: by what may be concurrent
};

void add(Words &words, const Cell &cell, uint32_t mask) {
  words.are_inside &= (cell.addressable() & mask) == mask;
  words.are_initialised &= (cell.initialised() & mask) == mask;
  words.are_read |= cell.read.when >= ordering.all_before || cell.other_read.when >= ordering.all_before;
  words.are_written |= cell.write.when >= ordering.all_before;
}

uint32_t mask_of(uintptr_t word, uintptr_t start, uintptr_t end) {
  uint32_t mask = 15;
  if (word < start) mask &= 15u << (start - word);
  if (word + 4 > end) mask &= 15u >> (word + 4 - end);
  return mask;
}

bool are_words_uncontested(const Region &region, uintptr_t address, uint32_t bytes, bool writes) {
  Words words = {true, true, false, false};
  uintptr_t end = address + bytes;
  for (uintptr_t word = address & ~uintptr_t{3}; word < end; word += 4) add(words, *region.cell(word), mask_of(word, address, end));
  if (!words.are_inside || words.are_written || (writes ? words.are_read : !words.are_initialised)) return false;
  for (uintptr_t word = address & ~uintptr_t{3}; writes && word < end; word += 4) {
    Cell &cell = *region.cell(word);
    cell.set_initialised(cell.initialised() | mask_of(word, address, end));
  }
  return true;
}

}  // namespace

void remember_lines() { remembered.are_remembered = true; }

void forget_lines() {
  remembered.are_remembered = false;
  remembered.forget();
}

bool is_line_uncontested(uintptr_t address, uint32_t bytes, bool writes) {
  const Region &region = memory_map.buffers;
  uintptr_t start = address & ~(line_bytes - 1);
  Words words = {true, true, false, false};
  Cell *first = region.cell(start), *end = first + line_bytes / 4;
  const Cell *all = cell_of_all(region, start);
  if (all) {
    add(words, *all, 15);
    words.are_initialised |= is_line_set(region, start);
  }
  for (Cell *cell = first; !all && cell < end; cell++) add(words, *cell, 15);
  if (words.are_inside && (words.are_written || (writes && words.are_read))) {
    remember(start, Line::contested);
    return false;
  }
  if (!words.are_inside || words.are_written || (!writes && !words.are_initialised))
    return are_words_uncontested(region, address, bytes, writes);
  if (all && !words.are_initialised) set_line(region, start);
  for (Cell *cell = first; !all && !words.are_initialised && cell < end; cell++) cell->set_initialised(15);
  remember(start, words.are_read ? Line::unwritten : Line::uncontested);
  return true;
}

bool is_uncontested(const Region &region, uintptr_t address, uint32_t bytes, bool writes) {
  uintptr_t end = address + bytes;
  if (&region != &memory_map.buffers) return are_words_uncontested(region, address, bytes, writes);
  Line line = cuda_on_cpu_lines.of[(address - usual_arena) >> line_shift];
  bool in_one_line = !((address ^ (end - 1)) & ~(line_bytes - 1));
  if (!in_one_line) return are_words_uncontested(region, address, bytes, writes);
  if (line == Line::uncontested || (!writes && line == Line::unwritten)) return true;
  return line == Line::other && is_line_uncontested(address, bytes, writes);
}

}  // namespace cuda_on_cpu
