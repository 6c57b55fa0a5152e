#include "chunks.h"

#include <sys/mman.h>

#include <cstring>

#include "host_code.h"
#include "patterns.h"
#include "state.h"

namespace cuda_on_cpu {

namespace {

constexpr uintptr_t cell_bytes_of_chunk = chunk_bytes / 4 * sizeof(Cell), page = 4096;

// The patterns that chunks have begun with lately: nearly always the cell of a new array, or of one copy.
constexpr uint32_t most_patterns = 4;
struct Patterns {
  Pattern of[most_patterns];
  Cell cell[most_patterns];
  uint32_t next;
};
PerProcess<Patterns> patterns;

struct Given {
  uint64_t count;
};
PerRun<Given> given;

const Pattern *pattern_of(const Cell &cell) {
  for (uint32_t i = 0; i < most_patterns; i++)
    if (patterns.of[i].bytes && !memcmp(&patterns.cell[i], &cell, sizeof cell)) return &patterns.of[i];
  uint32_t i = patterns.next++ % most_patterns;
  forget_pattern(patterns.of[i]);
  patterns.cell[i] = cell;
  if (make_pattern(patterns.of[i], &cell, sizeof cell, cell_bytes_of_chunk)) return &patterns.of[i];
  forget_pattern(patterns.of[i]);
  return nullptr;
}

uintptr_t up_to_page(uintptr_t bytes) { return (bytes + page - 1) & ~(page - 1); }

[[noreturn]] void refuse() { host_refuses("kfuzz: the system gives no more memory for checking the accesses of large arrays"); }

// The cells of the first words of a chunk, all equal to this one.
void map_cells(Cell *first, const Cell &all, uintptr_t words) {
  const Pattern *pattern = pattern_of(all);
  uintptr_t by_pages = words * sizeof(Cell) & ~(page - 1);
  if (!pattern || (by_pages && !map_pattern(*pattern, first, by_pages))) refuse();
  for (Cell *cell = first + by_pages / sizeof(Cell); cell < first + words; cell++) *cell = all;
}

bool has_all(const uint64_t *lines) {
  for (uintptr_t i = 0; i < lines_of_chunk / lines_of_word; i++)
    if (~lines[i]) return false;
  return true;
}

void set_initialised(const Region &region, uintptr_t line) {
  for (Cell *cell = region.cell(line); cell < region.cell(line + bytes_of_line); cell++) cell->set_initialised(15);
}

}  // namespace

static uintptr_t count_chunks(const Region &region) { return (region.start + region.bytes - region.chunks_from) / chunk_bytes + 1; }

static uintptr_t bytes_of_chunks(const Region &region) { return count_chunks(region) * sizeof(Chunk); }
static uintptr_t bytes_of_lines(const Region &region) { return count_chunks(region) * lines_of_chunk / 8; }

static void *map_table(uintptr_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

bool map_chunks(Region &region, uintptr_t from) {
  if (!open_shadow(region, region.start, region.bytes)) return false;  // its pages are mapped one by one
  region.chunks_from = from;
  region.chunks = static_cast<Chunk *>(map_table(bytes_of_chunks(region)));
  region.lines_set = static_cast<uint64_t *>(map_table(bytes_of_lines(region)));
  return region.chunks && region.lines_set;
}

void unmap_chunks(Region &region) {
  munmap(region.chunks, bytes_of_chunks(region));
  if (region.lines_set) munmap(region.lines_set, bytes_of_lines(region));
}

void forget_lines_set(const Region &region, uintptr_t address) {
  Chunk &chunk = chunk_at(region, address);
  if (chunk.has_lines_set) memset(region.lines_set + (address - region.chunks_from) / chunk_bytes * lines_of_chunk / lines_of_word, 0, lines_of_chunk / 8);
  chunk.has_lines_set = false;
}

void mark_chunks(Region &region, uintptr_t start, uintptr_t bytes, bool initialised) {
  Cell all = {};
  all.state = initialised ? Cell::all : 15;
  uintptr_t whole = bytes / chunk_bytes * chunk_bytes, rest = bytes - whole;
  for (uintptr_t at = start; at < start + whole; at += chunk_bytes) forget_lines_set(region, at), chunk_at(region, at) = {all, true, false, false};
  if (!map_nothing(region.cell(start), whole / 4 * sizeof(Cell))) refuse();
  map_cells(region.cell(start + whole), all, rest / 4);
  if (rest % 4) {
    uint32_t mask = 15u >> (4 - rest % 4);
    region.cell(start + bytes)->state = static_cast<uint8_t>(mask | (initialised ? mask << 4 : 0));
  }
}

void unmark_chunks(Region &region, uintptr_t start, uintptr_t bytes) {
  for (uintptr_t at = start; at < start + bytes; at += chunk_bytes) chunk_at(region, at).is_uniform = false;
  if (!map_zeros(region.cell(start), up_to_page((bytes + 3) / 4 * sizeof(Cell)))) refuse();
  auto from = reinterpret_cast<uintptr_t>(region.settled_at(start)), to = reinterpret_cast<uintptr_t>(region.settled_at(start + bytes));
  from = up_to_page(from), to &= ~(page - 1);
  if (from < to) madvise(reinterpret_cast<void *>(from), to - from, MADV_DONTNEED);
}

uint64_t chunks_with_cells() { return given.count; }

bool give_cells(const Region &region, uintptr_t at) {
  auto cells = reinterpret_cast<uintptr_t>(region.cells);
  if (!region.chunks || at < cells || at >= reinterpret_cast<uintptr_t>(region.settled)) return false;
  uintptr_t address = region.start + (at - cells) / sizeof(Cell) * 4;
  if (!has_chunks(region, address) || !region.holds(address)) return false;
  Chunk &chunk = chunk_at(region, address);
  if (!chunk.is_uniform) return false;
  uintptr_t start = address - (address - region.chunks_from) % chunk_bytes;
  const uint64_t *lines = region.lines_set + line_at(region, start) / lines_of_word;
  if (chunk.has_lines_set && has_all(lines)) chunk.all.state = Cell::all, chunk.has_lines_set = false;
  map_cells(region.cell(start), chunk.all, chunk_bytes / 4);
  given.count++;
  chunk.is_uniform = false;
  for (uintptr_t line = 0; chunk.has_lines_set && line < lines_of_chunk; line++)
    if (lines[line / lines_of_word] >> line % lines_of_word & 1) set_initialised(region, start + line * bytes_of_line);
  chunk.has_lines_set = true;
  forget_lines_set(region, start);
  // Where the first access of a page reads, the system maps its neighbours, too, although hardly any of them may be needed.
  __atomic_fetch_or(reinterpret_cast<uint8_t *>(at), 0, __ATOMIC_RELAXED);
  return true;
}

}  // namespace cuda_on_cpu
