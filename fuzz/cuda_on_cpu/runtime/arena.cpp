#include "arena.h"

#include <sys/mman.h>

#include <cstring>

#include "guard_zone.h"
#include "report.h"
#include "state.h"
#include "unwritten.h"

namespace cuda_on_cpu {

constexpr uint64_t capacity = uint64_t{1} << arena_shift, checked_capacity = 256 << 20, default_alignment = 256;

// Where accesses are checked, an access that leaves an array by a wrong index must not land in the next array.
constexpr uint64_t apart = 16 << 20;

// The address is the same in every process, so that what depends on addresses can be replayed. Its lower 32 bits, and
// those of its quarter, are not a negative int: a kernel that truncates an address to an int does not expect -3 % 4.
static void *const usual_place = reinterpret_cast<void *>(usual_arena);

namespace {

struct ArenaMapping {
  char *start;
  uint32_t runs;  // since the process began
};

PerProcess<ArenaMapping> arena;

}  // namespace

bool map_arena() {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void *memory = mmap(usual_place, capacity, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, -1, 0);
  if (memory == MAP_FAILED) memory = mmap(nullptr, capacity, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (memory == MAP_FAILED) return false;
  arena.start = static_cast<char *>(memory);
  return true;
}

uintptr_t arena_start() { return reinterpret_cast<uintptr_t>(arena.start); }
uint64_t arena_bytes() { return capacity; }

// Every so often, before the arrays of a run are placed, frees large arrays of earlier jobs, and stray writes.
static void give_back() {
  constexpr uint32_t once_in = 1024;
  if (++arena.runs % once_in == 0) madvise(arena.start, capacity, MADV_DONTNEED);
}

static uint64_t align_up(uint64_t offset) { return (offset + default_alignment - 1) & ~(default_alignment - 1); }

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

bool is_host_visible(uintptr_t address) { return address - arena_start() - visible_from < capacity - visible_from; }

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
  for (uint32_t i = 0; i < run.buffer_count; i++) all += run.buffers[i].bytes + 2 * guard_zone_bytes;
  return all;
}

uint64_t arena_left(const Run &run) {
  uint64_t used = run.check ? bytes_of_all(run) : end_of(run, 0, visible_from), room = run.check ? checked_capacity : visible_from;
  return used + 2 * guard_zone_bytes < room ? room - used - 2 * guard_zone_bytes : 0;
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

bool place_one_more(const Run &run, Buffer &b) {
  bool visible = b.flags & is_host_visible_memory;
  uint64_t from = visible ? visible_from : 0, to = visible ? capacity : visible_from;
  uint64_t behind = end_of(run, from, to), gap = behind < to ? (to - behind) / 16 : 0;
  uint64_t offset = align_up(behind + (!run.check ? 0 : gap < apart ? gap : apart));
  if (b.bytes > arena_left(run) || b.bytes > to || offset + b.bytes + 2 * guard_zone_bytes > to) return false;
  b.address = arena.start + offset;
  paint_zone(b.address - guard_zone_bytes, run.poison);
  bring_in(b.address, b.bytes);
  fill(b.address, b.bytes, b.fill, b.element_bytes);
  paint_zone(b.address + b.bytes, run.poison);
  return true;
}

void allow_device_memory(bool allowed) {
  mprotect(arena.start, visible_from, allowed ? PROT_READ | PROT_WRITE : PROT_NONE);
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
    if (b.flags & is_freed) {
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
