#include "arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>

#include "block.h"
#include "chunks.h"
#include "guard_zone.h"
#include "host_code.h"
#include "memory_watch.h"
#include "patterns.h"
#include "report.h"
#include "state.h"
#include "tensor_maps.h"
#include "unwritten.h"

namespace cuda_on_cpu {

constexpr uint64_t capacity = first_part_bytes, checked_capacity = 256 << 20, default_alignment = 256;
static_assert(capacity == uint64_t{1} << arena_shift);

// The second part: of as many addresses, for this much memory.
constexpr uint64_t with_second_part = uint64_t{1} << arena_of_program_shift, most_of_program = uint64_t{8} << 30, large_array = 16 << 20;

// Where accesses are checked, an access that leaves an array by a wrong index must not land in the next array.
constexpr uint64_t apart = 16 << 20;

// The address is the same in every process, so that what depends on addresses can be replayed. Its lower 32 bits, and
// those of its quarter, are not a negative int: a kernel that truncates an address to an int does not expect -3 % 4.
static void *const usual_place = reinterpret_cast<void *>(usual_arena);

namespace {

struct ArenaMapping {
  char *start;
  uint64_t bytes;
  uint32_t runs;  // since the process began
  Pattern poison;  // what the second part begins with
  uint32_t poison_value;
};

PerProcess<ArenaMapping> arena;

// The second part: device memory grows from its start, host-visible memory downwards from its end. Offsets in the arena.
struct SecondPart {
  uint64_t end_of_device = first_part_bytes, start_of_visible = with_second_part;
};
PerRun<SecondPart> second;

// The pieces of the second part that have their own pages, and show no pattern.
struct OwnPieces {
  uint64_t of[with_second_part / large_page / 64];
  bool holds(uint64_t piece) const { return of[piece / 64] >> piece % 64 & 1; }
  void add(uint64_t piece) { of[piece / 64] |= uint64_t{1} << piece % 64; }
  void drop(uint64_t piece) { of[piece / 64] &= ~(uint64_t{1} << piece % 64); }
};
PerRun<OwnPieces> own_pieces;

}  // namespace

// Whether the system gives so many addresses: a limit of the process, or a strict way of counting, may forbid it.
static bool has_addresses(uint64_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory != MAP_FAILED && !munmap(memory, bytes);
}

bool map_arena(bool for_program) {
  constexpr uint64_t with_shadow = 11;  // times as many: the arena, 8.5 times for cells, and once for late writes
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  if (arena.start) return true;
  bool has_room = for_program && has_addresses(with_shadow * with_second_part);
  for (uint64_t bytes : {has_room ? with_second_part : capacity, capacity})
    for (void *place : {usual_place, static_cast<void *>(nullptr)}) {
      void *memory = mmap(place, bytes, PROT_READ | PROT_WRITE, flags | (place ? MAP_FIXED_NOREPLACE : 0), -1, 0);
      if (memory == MAP_FAILED) continue;
      arena.start = static_cast<char *>(memory);
      arena.bytes = bytes;
      if (memory == usual_place) cuda_on_cpu_lines.first = usual_arena >> line_shift, cuda_on_cpu_lines.count = bytes >> line_shift;
      return true;
    }
  return false;
}

uintptr_t arena_start() { return reinterpret_cast<uintptr_t>(arena.start); }
uint64_t arena_bytes() { return arena.bytes; }
uint64_t memory_of_device() { return arena.bytes > capacity ? most_of_program : capacity; }

// Every so often, before the arrays of a run are placed, frees large arrays of earlier jobs, and stray writes.
static void give_back() {
  constexpr uint32_t once_in = 1024;
  if (++arena.runs % once_in == 0) madvise(arena.start, capacity, MADV_DONTNEED);
}

static uint64_t align_up(uint64_t offset) { return (offset + default_alignment - 1) & ~(default_alignment - 1); }

static void write_link(Run &run, const Link &link) {
  char *at = run.buffers[link.buffer].address + link.at, *start = run.buffers[link.of].address + link.offset;
  if (!link.rank) {
    memcpy(at, &start, sizeof start);
    return;
  }
  constexpr uint32_t steps[most_axes] = {1, 1, 1, 1, 1};
  alignas(64) char made[bytes_of_map] = {};  // zeros, if the driver refuses the map
  AskedMap asked = {link.type, link.rank, start, link.size, link.stride, link.box, steps, 0, link.swizzle, 0, link.fill};
  encode(made, asked);
  memcpy(at, made, sizeof made);
}

bool place_buffers(Run &run) {
  uint64_t room = run.check ? checked_capacity : capacity, all = 0;
  for (uint32_t i = 0; i < run.buffer_count; i++) {
    if (run.buffers[i].bytes > room) return false;
    all += run.buffers[i].bytes + 2 * guard_zone_bytes + 2 * default_alignment;
    if (all + guard_zone_bytes > room) return false;
  }
  uint64_t gap = 0;
  if (run.check) gap = (capacity - all - guard_zone_bytes) / (run.buffer_count + 1);
  if (gap > apart) gap = apart;
  uint64_t used = guard_zone_bytes;
  for (uint32_t i = 0; i < run.buffer_count; i++) {
    Buffer &b = run.buffers[i];
    uint64_t offset = align_up(used) + b.distance;
    b.address = arena.start + offset;
    used = offset + b.bytes + 2 * guard_zone_bytes + gap;  // one zone after it, one before the next
  }
  give_back();
  for (uint32_t i = 0; i < run.buffer_count; i++) {
    Buffer &b = run.buffers[i];
    paint_zone(b.address - guard_zone_bytes, run.poison);
    lay(b, run.first_counted && b.earlier_content ? b.earlier_content : b.content);
    paint_zone(b.address + b.bytes, run.poison);
  }
  for (uint64_t i = 0; i < run.link_count; i++) write_link(run, run.links[i]);
  return true;
}

void lay(const Buffer &b, const void *content) {
  if (b.flags & has_content)
    memcpy(b.address, content, b.bytes);
  else
    fill(b.address, b.bytes, b.fill, b.element_bytes);
}

// Host-visible memory lies in the last quarter.
constexpr uint64_t visible_from = capacity / 4 * 3;

bool is_host_visible(uintptr_t address) {
  uint64_t offset = address - arena_start();
  return offset - visible_from < capacity - visible_from || (offset >= second.start_of_visible && offset < arena.bytes);
}

static uint64_t end_of(const Run &run, uint64_t from, uint64_t to) {
  uint64_t end = from + guard_zone_bytes;
  for (uint32_t i = 0; i < run.buffer_count; i++) {
    const Buffer &b = run.buffers[i];
    uint64_t start = static_cast<uint64_t>(b.address - arena.start), behind = start + b.bytes + 2 * guard_zone_bytes;
    if (start >= from && start < to && behind > end) end = behind;
  }
  return end;
}

static uint64_t bytes_of_all(const Run &run) {
  uint64_t all = 0;
  for (uint32_t i = 0; i < run.buffer_count; i++)
    if (!is_in_second_part(reinterpret_cast<uintptr_t>(run.buffers[i].address))) all += run.buffers[i].bytes + 2 * guard_zone_bytes;
  return all;
}

static uint64_t left_in_first_part(const Run &run) {
  uint64_t used = run.check ? bytes_of_all(run) : end_of(run, 0, visible_from), room = run.check ? checked_capacity : visible_from;
  return used + 2 * guard_zone_bytes < room ? room - used - 2 * guard_zone_bytes : 0;
}

Buffer *device_array_at(const void *address) {
  auto *at = static_cast<const char *>(address);
  for (uint32_t i = run->buffer_count; i-- > 0;) {
    Buffer &b = run->buffers[i];
    if (at >= b.address && (at < b.address + b.bytes || (at == b.address && !b.bytes))) return &b;
  }
  return nullptr;
}

uint64_t arena_left(const Run &run) {
  if (arena.bytes == capacity) return left_in_first_part(run);
  uint64_t used = 0;
  for (uint32_t i = 0; i < run.buffer_count; i++) used += run.buffers[i].flags & is_freed ? 0 : run.buffers[i].bytes;
  return used < most_of_program ? most_of_program - used : 0;
}

void bring_in(const void *start, uint64_t bytes) {
  if (bytes < large_page / 2) return;
  uintptr_t first = reinterpret_cast<uintptr_t>(start) & ~(large_page - 1);
  uintptr_t end = (reinterpret_cast<uintptr_t>(start) + bytes + large_page - 1) & ~(large_page - 1);
  madvise(reinterpret_cast<void *>(first), end - first, MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE  // Linux 5.14 and later; otherwise pages come one by one
  madvise(reinterpret_cast<void *>(first), end - first, MADV_POPULATE_WRITE);
#endif
}

static uint64_t piece_at(const char *address) { return static_cast<uint64_t>(address - arena.start) / large_page; }

static void forget_own(const char *start, uint64_t bytes) {
  for (uint64_t piece = piece_at(start); bytes && piece <= piece_at(start + bytes - 1); piece++) own_pieces.drop(piece);
}

void make_own(char *to, uint64_t bytes) {
  if (!is_in_second_part(reinterpret_cast<uintptr_t>(to)) || bytes < 2 * large_page) return;
  for (uint64_t piece = piece_at(to + large_page - 1); piece < piece_at(to + bytes); piece++) {
    char *start = arena.start + piece * large_page;
    if (own_pieces.holds(piece) || !map_zeros(start, large_page)) continue;
    madvise(start, large_page, MADV_HUGEPAGE);
    own_pieces.add(piece);
  }
}

static void map_poison(const Run &run, char *start, uint64_t bytes) {
  constexpr uint64_t bytes_of_pattern = large_array;
  if (arena.poison.bytes && arena.poison_value != run.poison) forget_pattern(arena.poison);
  arena.poison_value = run.poison;
  forget_own(start, bytes);
  bool is_made = arena.poison.bytes || make_pattern(arena.poison, &run.poison, sizeof run.poison, bytes_of_pattern);
  if (!is_made || !map_pattern(arena.poison, start, bytes)) host_refuses("kfuzz: the system gives no more memory for large arrays");
}

void poison_buffer(const Run &run, const Buffer &b) {
  if (is_in_second_part(reinterpret_cast<uintptr_t>(b.address)))
    map_poison(run, b.address, b.bytes);
  else
    fill(b.address, b.bytes, run.poison, sizeof run.poison);
}

// Without touching so many bytes. False: nothing was done, since there are too few.
static bool map_bytes(char *start, int value, uint64_t bytes) {
  constexpr uint64_t of_zeros = 4 << 20, of_others = 4 * large_array;
  if (bytes < (value ? of_others : of_zeros)) return false;
  forget_own(start, bytes);
  if (!value) return map_zeros(start, bytes);
  Pattern pattern;
  auto byte = static_cast<char>(value);
  if (!make_pattern(pattern, &byte, 1, large_array)) return false;
  bool is_mapped = map_pattern(pattern, start, bytes);
  forget_pattern(pattern);
  return is_mapped;
}

void set_memory(char *to, int value, uint64_t bytes) {
  constexpr uint64_t page = 4096;
  auto start = reinterpret_cast<uintptr_t>(to), from = (start + page - 1) & ~(page - 1), end = std::max(from, (start + bytes) & ~(page - 1));
  if (!is_in_second_part(start) || !map_bytes(reinterpret_cast<char *>(from), value, end - from)) from = end = start + bytes;
  memset(to, value, from - start);
  memset(reinterpret_cast<void *>(end), value, start + bytes - end);
}

// The bytes between an array and the next: many as long as there is room, few for the thousands that a program may make.
static uint64_t gap_of(uint64_t left, uint64_t whole) { return std::min(apart, left > whole / 4 ? left / 16 : left / 1024); }

static bool find_in_first_part(const Run &run, Buffer &b) {
  bool visible = b.flags & is_host_visible_memory;
  uint64_t from = visible ? visible_from : 0, to = visible ? capacity : visible_from;
  uint64_t behind = end_of(run, from, to), gap = behind < to && run.check ? gap_of(to - behind, to - from) : 0;
  uint64_t offset = align_up(behind + gap);
  if (b.bytes > left_in_first_part(run) || b.bytes > to || offset + b.bytes + 2 * guard_zone_bytes > to) return false;
  b.address = arena.start + offset;
  return true;
}

// Between two arrays lie as many bytes as in the first part, and each begins at the start of a chunk of the shadow.
static bool find_in_second_part(const Run &run, Buffer &b) {
  if (b.bytes > arena_left(run)) return false;
  uint64_t space = second.start_of_visible - second.end_of_device, bytes = b.bytes + chunk_bytes + 2 * guard_zone_bytes;
  if (bytes > space) return false;
  uint64_t gap = gap_of(space - bytes, with_second_part - first_part_bytes);
  bool visible = b.flags & is_host_visible_memory;
  uint64_t after = visible ? second.start_of_visible - gap - b.bytes - guard_zone_bytes : second.end_of_device + gap + guard_zone_bytes + chunk_bytes - 1;
  uint64_t offset = after / chunk_bytes * chunk_bytes;
  if (visible)
    second.start_of_visible = offset - guard_zone_bytes;
  else
    second.end_of_device = offset + b.bytes + guard_zone_bytes;
  b.address = arena.start + offset;
  watch_memory();
  return true;
}

bool place_one_more(const Run &run, Buffer &b) {
  bool has_second = arena.bytes > capacity, is_small = !has_second || b.bytes < large_array;
  if (!(is_small && find_in_first_part(run, b)) && !(has_second && find_in_second_part(run, b))) return false;
  paint_zone(b.address - guard_zone_bytes, run.poison);
  if (!is_in_second_part(reinterpret_cast<uintptr_t>(b.address))) bring_in(b.address, b.bytes);
  poison_buffer(run, b);
  paint_zone(b.address + b.bytes, run.poison);
  return true;
}

void allow_device_memory(bool allowed) {
  int protection = allowed ? PROT_READ | PROT_WRITE : PROT_NONE;
  mprotect(arena.start, visible_from, protection);
  if (second.end_of_device > capacity) mprotect(arena.start + capacity, second.end_of_device - capacity, protection);
}

static void report_guard(Run &run, uint32_t number, int64_t offset) {
  if (Finding *f = report(Kind::guard_overwritten, number + 1, 0, static_cast<uint64_t>(offset < 0))) {
    f->place = Place::buffer;
    f->place_number = number;
    f->offset = offset;
    f->writes = 1;
    f->bytes = run.buffers[number].element_bytes;
  }
}

void check_guards(Run &run) {
  for (uint32_t i = 0; i < run.buffer_count; i++) {
    Buffer &b = run.buffers[i];
    if (b.flags & is_of_earlier_call) continue;
    if (b.flags & is_freed && !is_in_second_part(reinterpret_cast<uintptr_t>(b.address))) {  // reading all of it would take its memory
      int64_t at = first_change(b.address, b.bytes, run.poison);
      if (at >= 0) report_guard(run, i, at);
    }
    const char *before = b.address - guard_zone_bytes, *after = b.address + b.bytes;
    int64_t changed = last_change(before, run.poison);
    if (changed >= 0) report_guard(run, i, changed - static_cast<int64_t>(guard_zone_bytes));
    changed = first_change(after, guard_zone_bytes, run.poison);
    if (changed >= 0) report_guard(run, i, static_cast<int64_t>(b.bytes) + changed);
  }
}

void check_inputs(Run &run) {
  for (uint32_t i = 0; i < run.buffer_count; i++) {
    Buffer &b = run.buffers[i];
    if (!(b.flags & has_content) || b.flags & (is_output | is_of_earlier_call) || !memcmp(b.address, b.content, b.bytes)) continue;
    const char *content = static_cast<const char *>(b.content);
    uint64_t at = 0;
    while (b.address[at] == content[at]) at++;
    if (Finding *f = report(Kind::input_changed, i + 1, 0)) {
      f->place = Place::buffer;
      f->place_number = i;
      f->offset = static_cast<int64_t>(at);
      f->bytes = b.element_bytes;
    }
  }
}

}  // namespace cuda_on_cpu
