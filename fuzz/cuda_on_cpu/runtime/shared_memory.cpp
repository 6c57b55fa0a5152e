#include "shared_memory.h"

#include <sys/mman.h>

#include "block.h"
#include "grid.h"
#include "guard_zone.h"
#include "lower_halves.h"
#include "memory_map.h"
#include "report.h"
#include "state.h"

constexpr uint64_t page_bound = 65536;
constexpr uint64_t dynamic_room = (dynamic_shared_capacity + page_bound - 1) / page_bound * page_bound;
constexpr uint64_t beyond_reach = 16 << 20;
constexpr uint64_t open_bytes = shared_red_zone + static_shared_capacity + shared_red_zone + dynamic_room + shared_red_zone;

static char *map_shared() {
  void *memory = mmap(nullptr, open_bytes + 2 * beyond_reach + page_bound, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  uintptr_t start = (reinterpret_cast<uintptr_t>(memory) + beyond_reach + page_bound - 1) & ~(page_bound - 1);
  char *open = reinterpret_cast<char *>(start);
  return mprotect(open, open_bytes, PROT_READ | PROT_WRITE) ? nullptr : open + shared_red_zone;
}

char *cuda_on_cpu_static_shared = map_shared();
char *cuda_on_cpu_dynamic_shared =
    cuda_on_cpu_static_shared ? cuda_on_cpu_static_shared + static_shared_capacity + shared_red_zone : nullptr;

using namespace cuda_on_cpu;

extern "C" void *__tls_get_addr(void *index);
CUDA_ON_CPU_API void *cuda_on_cpu_thread_local_of_others(void *index) { return __tls_get_addr(index); }

// As the launch has asked for them.
CUDA_ON_CPU_API uint32_t cuda_on_cpu_dynamic_shared_bytes() { return static_cast<uint32_t>(run->steps[run->step].shared); }

CUDA_ON_CPU_API bool cuda_on_cpu_is_shared(const void *p) {
  auto is_within = [p](const char *start, uint64_t bytes) {
    return reinterpret_cast<uintptr_t>(p) - reinterpret_cast<uintptr_t>(start) < bytes;
  };
  if (is_within(cuda_on_cpu_dynamic_shared, run->steps[run->step].shared)) return true;
  return run->shared_array_count && is_within(static_shared_start(), static_shared_bytes());
}

static void *near_to(const char *start, uint32_t lower) {
  auto near = reinterpret_cast<uint64_t>(start);
  auto apart = static_cast<int32_t>(lower - static_cast<uint32_t>(near));
  return reinterpret_cast<void *>(near + static_cast<uint64_t>(int64_t{apart}));
}

// The lower 32 bits of an address in shared memory are enough to identify it.
CUDA_ON_CPU_API void *cuda_on_cpu_shared_at(uint64_t address) {
  if (address >> 32) return reinterpret_cast<void *>(address);
  return near_to(cuda_on_cpu_static_shared, static_cast<uint32_t>(address));
}

namespace {

// Pages of which a kernel has the address in shared memory: a matrix of wgmma lies in one of them.
constexpr uint64_t page_count = 4096;
struct TakenAddresses {
  bool of_page[page_count];
};
cuda_on_cpu::PerRun<TakenAddresses> taken;
uint64_t page_of(const char *p) { return reinterpret_cast<uintptr_t>(p) / page_bound; }

}  // namespace

CUDA_ON_CPU_API uint64_t cuda_on_cpu_address_of_shared(const void *p) {
  taken.of_page[page_of(static_cast<const char *>(p)) % page_count] = true;
  return reinterpret_cast<uint64_t>(p);
}

namespace cuda_on_cpu {

bool is_address_taken(const char *start, uint64_t bytes) {
  for (uint64_t page = page_of(start); page <= page_of(start + bytes - 1); page++)
    if (taken.of_page[page % page_count]) return true;
  return false;
}

void forget_taken_addresses() { taken = TakenAddresses(); }

char *static_shared_start() { return run->module->thread_local_anchor() - run->thread_local_anchor_offset; }

uint64_t static_shared_bytes() {
  uint64_t end = 0;
  for (uint32_t i = 0; i < run->shared_array_count; i++) {
    const SharedArray &array = run->shared_arrays[i];
    if (array.offset + array.bytes > end) end = array.offset + array.bytes;
  }
  return end;
}

namespace {

struct SharedMemory {
  char *static_arrays, *dynamic_array;
};

struct SharedMappings {
  SharedMemory of_resident[max_residents];
  Stretch place[max_residents];
  uint32_t mapped_residents = 1;  // the first is the process's own
};
PerProcess<SharedMappings> mappings;

uint64_t rounded_up(uint64_t bytes) { return (bytes + page_bound - 1) & ~(page_bound - 1); }

SharedMemory &first() {
  SharedMemory &s = mappings.of_resident[0];
  if (!s.static_arrays) {
    s = {cuda_on_cpu_static_shared, cuda_on_cpu_dynamic_shared};
    mappings.place[0] = {reinterpret_cast<uintptr_t>(s.static_arrays) - shared_red_zone, open_bytes};
  }
  return s;
}

}  // namespace

// Not where static arrays lie in the C library's thread-local memory: there is only one of that.
bool has_place_for_residents() {
  enter_shared_of(0);
  return !run->shared_array_count || static_shared_start() == cuda_on_cpu_static_shared;
}

bool map_shared_of(uint32_t resident, uint32_t dynamic_bytes, bool is_in_cluster) {
  first();
  if (resident < mappings.mapped_residents) return true;
  SharedMemory &s = mappings.of_resident[resident];
  uint64_t arrays = rounded_up(static_shared_bytes());
  uint64_t bytes = arrays + rounded_up(dynamic_bytes) + 4 * shared_red_zone;
  void *memory = map_apart(bytes, mappings.place, is_in_cluster ? resident : 0);
  if (!memory) return false;
  mappings.place[resident] = {reinterpret_cast<uintptr_t>(memory), bytes};
  uintptr_t start = rounded_up(reinterpret_cast<uintptr_t>(memory) + shared_red_zone);
  s.static_arrays = reinterpret_cast<char *>(start);
  s.dynamic_array = s.static_arrays + arrays + shared_red_zone;
  if (run->check && !map_shared_shadow_of(resident, s.static_arrays, s.dynamic_array, dynamic_bytes)) {
    munmap(memory, bytes);
    return false;
  }
  mappings.mapped_residents = resident + 1;
  return true;
}

void enter_shared_of(uint32_t resident) {
  const SharedMemory &s = resident ? mappings.of_resident[resident] : first();
  cuda_on_cpu_static_shared = s.static_arrays;
  cuda_on_cpu_dynamic_shared = s.dynamic_array;
  if (run->check) enter_shared_shadow_of(resident);
}

void unmap_shared_of_residents() {
  while (mappings.mapped_residents > 1) {
    const Stretch &place = mappings.place[--mappings.mapped_residents];
    munmap(reinterpret_cast<void *>(place.start), place.bytes);
    unmap_shared_shadow_of(mappings.mapped_residents);
  }
}

namespace {

const SharedMemory &shared_of(uint32_t resident) { return resident ? mappings.of_resident[resident] : first(); }

// Includes the surroundings of the arrays, so that an access that misses one always misses it in the same way.
bool is_near(uintptr_t address, const char *start, uint64_t bytes) {
  return address - (reinterpret_cast<uintptr_t>(start) - shared_red_zone) < bytes + 2 * shared_red_zone;
}

bool is_in_dynamic_of(const SharedMemory &s, uintptr_t address) {
  return is_near(address, s.dynamic_array, running_step()->shared);
}

}  // namespace

bool is_shared_of(uint32_t resident, uintptr_t address) {
  const SharedMemory &s = shared_of(resident);
  return is_in_dynamic_of(s, address) || is_near(address, s.static_arrays, static_shared_bytes());
}

void *shared_near(uint32_t resident, uint32_t lower) { return near_to(shared_of(resident).static_arrays, lower); }

void *same_place(const void *p, uint32_t of, uint32_t in) {
  const SharedMemory &from = shared_of(of), &to = shared_of(in);
  auto *at = static_cast<const char *>(p);
  if (is_in_dynamic_of(from, reinterpret_cast<uintptr_t>(p))) return to.dynamic_array + (at - from.dynamic_array);
  return to.static_arrays + (at - from.static_arrays);
}

void locate_in_shared_of(uint32_t resident, uintptr_t address, Finding &f) {
  const SharedMemory &s = shared_of(resident);
  auto offset_from = [address](const char *start) { return static_cast<int64_t>(address - reinterpret_cast<uintptr_t>(start)); };
  f.place = Place::dynamic_shared;
  f.offset = offset_from(s.dynamic_array);
  if (is_in_dynamic_of(s, address)) return;
  uint64_t nearest = ~uint64_t{0};
  for (uint32_t i = 0; i < run->shared_array_count; i++) {
    const SharedArray &array = run->shared_arrays[i];
    int64_t offset = offset_from(s.static_arrays + array.offset), bytes = static_cast<int64_t>(array.bytes);
    auto distance = static_cast<uint64_t>(offset < 0 ? -offset : offset < bytes ? 0 : offset - bytes + 1);
    if (distance >= nearest) continue;
    nearest = distance;
    f.place = Place::static_shared;
    f.place_number = i;
    f.offset = offset;
  }
}

uint64_t shared_bytes_of_arrays() {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < run->shared_array_count; i++) bytes += run->shared_arrays[i].bytes;
  return bytes;
}

void poison_shared(uint32_t dynamic_bytes) {
  auto paint = [](char *to, uint64_t bytes) {
    uint64_t words = bytes / sizeof run->poison;
    for (uint64_t i = 0; i < words; i++) reinterpret_cast<uint32_t *>(to)[i] = run->poison;
    for (uint64_t i = words * sizeof run->poison; i < bytes; i++) to[i] = reinterpret_cast<const char *>(&run->poison)[i % 4];
  };
  paint(cuda_on_cpu_dynamic_shared, dynamic_bytes);
  if (!run->shared_array_count) return;
  char *start = static_shared_start();
  for (uint32_t i = 0; i < run->shared_array_count; i++)
    if (!run->shared_arrays[i].is_guard) paint(start + run->shared_arrays[i].offset, run->shared_arrays[i].bytes);
}

static bool has_zones_around_static() {
  return run->shared_array_count && static_shared_start() == cuda_on_cpu_static_shared;
}

void paint_shared_zones(uint32_t dynamic_bytes) {
  paint_zone(cuda_on_cpu_dynamic_shared - guard_zone_bytes, run->poison);
  paint_zone(cuda_on_cpu_dynamic_shared + dynamic_bytes, run->poison);
  if (!has_zones_around_static()) return;
  fill(cuda_on_cpu_static_shared, static_shared_bytes(), run->poison, sizeof run->poison);  // between arrays, too
  paint_zone(cuda_on_cpu_static_shared - guard_zone_bytes, run->poison);
  paint_zone(cuda_on_cpu_static_shared + static_shared_bytes(), run->poison);
}

static void report_zone(Place place, uint32_t number, int64_t offset) {
  uint64_t distinct = max_buffers + 1 + static_cast<uint64_t>(place);
  if (Finding *f = report(Kind::guard_overwritten, distinct, 0, static_cast<uint64_t>(offset < 0))) {
    f->place = place;
    f->place_number = number;
    f->offset = offset;
    f->writes = 1;
    f->bytes = sizeof run->poison;
  }
}

// Offsets count from the array beside the zone: for the static ones, from the first and the last.
static void check_static_zones() {
  const SharedArray *arrays = run->shared_arrays;
  uint32_t first = 0, last = 0;
  for (uint32_t i = 1; i < run->shared_array_count; i++) {
    if (arrays[i].offset < arrays[first].offset) first = i;
    if (arrays[i].offset > arrays[last].offset) last = i;
  }
  int64_t before = last_change(cuda_on_cpu_static_shared - guard_zone_bytes, run->poison);
  int64_t after = first_change(cuda_on_cpu_static_shared + static_shared_bytes(), guard_zone_bytes, run->poison);
  if (before >= 0) report_zone(Place::static_shared, first, before - static_cast<int64_t>(guard_zone_bytes));
  if (after >= 0) report_zone(Place::static_shared, last, static_cast<int64_t>(arrays[last].bytes) + after);
}

static void check_dynamic_zones(uint32_t bytes) {
  int64_t before = last_change(cuda_on_cpu_dynamic_shared - guard_zone_bytes, run->poison);
  int64_t after = first_change(cuda_on_cpu_dynamic_shared + bytes, guard_zone_bytes, run->poison);
  if (before >= 0) report_zone(Place::dynamic_shared, 0, before - static_cast<int64_t>(guard_zone_bytes));
  if (after >= 0) report_zone(Place::dynamic_shared, 0, static_cast<int64_t>(bytes) + after);
}

void check_shared_zones(uint32_t dynamic_bytes) {
  check_dynamic_zones(dynamic_bytes);
  if (has_zones_around_static()) check_static_zones();
}

}  // namespace cuda_on_cpu
