#include "memory_map.h"

#include <initializer_list>

#include "arena.h"
#include "block.h"
#include "device_functions.h"
#include "shared_memory.h"
#include "stacks.h"

namespace cuda_on_cpu {

MemoryMap memory_map;

namespace {

Region &buffers = memory_map.buffers, &static_shared = memory_map.static_shared;
Region &dynamic_shared = memory_map.dynamic_shared;

const Module *marked_module;  // whose static shared arrays are marked
uint32_t marked_dynamic_bytes;
Buffer marked_buffers[max_buffers];
uint32_t marked_buffer_count;

uintptr_t static_start() { return reinterpret_cast<uintptr_t>(static_shared_start()); }
uintptr_t dynamic_start() { return reinterpret_cast<uintptr_t>(cuda_on_cpu_dynamic_shared); }

bool map_libraries_shared() {
  unmap_shadow(static_shared);
  if (!map_shadow(static_shared, static_start() - shared_red_zone, static_shared_bytes() + 2 * shared_red_zone))
    return false;
  for (uint32_t i = 0; i < run->shared_array_count; i++) {
    const SharedArray &array = run->shared_arrays[i];
    if (!array.is_guard) mark(static_shared, static_start() + array.offset, array.bytes, false);
  }
  return true;
}

bool is_initialised_buffer(const Buffer &b) { return b.flags & (has_content | is_initialised); }

// The same arrays at the same places as in the run before: what the cells remember of that run is older than this
// launch, and does no harm. Only what is initialised has to be told anew.
bool lies_as_before() {
  if (run->buffer_count != marked_buffer_count) return false;
  for (uint32_t i = 0; i < run->buffer_count; i++)
    if (run->buffers[i].address != marked_buffers[i].address || run->buffers[i].bytes != marked_buffers[i].bytes)
      return false;
  return true;
}

// Now and then: the shadow of a large job is ten times as large.
void give_back_beyond_buffers() {
  constexpr uint32_t once_in = 64;
  static uint32_t jobs;
  uintptr_t end = buffers.start;
  for (uint32_t i = 0; i < run->buffer_count; i++) {
    uintptr_t last = reinterpret_cast<uintptr_t>(run->buffers[i].address) + run->buffers[i].bytes;
    if (last > end) end = last;
  }
  if (++jobs % once_in == 0) give_back_shadow(buffers, end + sizeof(uint32_t));
}

void mark_buffers() {
  if (!lies_as_before()) {
    for (uint32_t i = 0; i < marked_buffer_count; i++)
      unmark(buffers, reinterpret_cast<uintptr_t>(marked_buffers[i].address), marked_buffers[i].bytes);
    marked_buffer_count = 0;
    for (uint32_t i = 0; i < run->buffer_count; i++) {
      const Buffer &b = run->buffers[i];
      mark(buffers, reinterpret_cast<uintptr_t>(b.address), b.bytes, is_initialised_buffer(b));
      marked_buffers[marked_buffer_count++] = b;
    }
    give_back_beyond_buffers();
    return;
  }
  for (uint32_t i = 0; i < run->buffer_count; i++) {
    const Buffer &b = run->buffers[i];
    bool initialised = is_initialised_buffer(b);
    if (initialised && is_initialised_buffer(marked_buffers[i])) continue;
    set_initialised(buffers, reinterpret_cast<uintptr_t>(b.address), b.bytes, initialised);
    marked_buffers[i] = b;
  }
}

}  // namespace

bool map_memory(const Run &the_run, uintptr_t library_start, uintptr_t library_end) {
  if (!buffers.cells && !map_shadow(buffers, arena_start(), checked_arena_bytes)) return false;
  if (!dynamic_shared.cells &&
      !map_shadow(dynamic_shared, dynamic_start() - shared_red_zone, dynamic_shared_capacity + 2 * shared_red_zone))
    return false;
  if (marked_module != the_run.module && !map_libraries_shared()) return false;
  marked_module = the_run.module;
  memory_map.library_start = library_start;
  memory_map.library_end = library_end;
  mark_buffers();
  return true;
}

void map_dynamic_shared(uint32_t bytes) {
  if (bytes == marked_dynamic_bytes) return;
  unmark(dynamic_shared, dynamic_start(), marked_dynamic_bytes);
  mark(dynamic_shared, dynamic_start(), bytes, false);
  marked_dynamic_bytes = bytes;
}

void forget_memory() {
  for (Region *region : {&buffers, &static_shared, &dynamic_shared}) unmap_shadow(*region);
  marked_module = nullptr;
  marked_buffer_count = marked_dynamic_bytes = 0;
}

void forget_library_memory(const Module &module) {
  if (marked_module == &module) marked_module = nullptr;
}

bool is_unchecked(uintptr_t address) {
  return is_on_stacks(address) || is_device_variable(address) || is_on_device_heap(address);
}

bool is_constructor_guard(uintptr_t address) {
  for (uint32_t i = 0; i < run->shared_array_count; i++) {
    const SharedArray &array = run->shared_arrays[i];
    if (array.is_guard && address - static_start() - array.offset < array.bytes) return true;
  }
  return false;
}

bool is_device_variable(uintptr_t address) {
  return address - memory_map.library_start < memory_map.library_end - memory_map.library_start;
}

static void locate_in(Finding &f, Place place, uint32_t number, uintptr_t start, uintptr_t address) {
  f.place = place;
  f.place_number = number;
  f.offset = static_cast<int64_t>(address - start);
}

// How far an address lies outside [start, start + bytes).
static uintptr_t distance(uintptr_t address, uintptr_t start, uint64_t bytes) {
  if (address < start) return start - address;
  return address < start + bytes ? 0 : address - (start + bytes) + 1;
}

void locate(uintptr_t address, Finding &f) {
  f.address = address;
  if (address - (dynamic_start() - shared_red_zone) < dynamic_shared_capacity + 2 * shared_red_zone)
    return locate_in(f, Place::dynamic_shared, 0, dynamic_start(), address);
  uintptr_t nearest = shared_red_zone;
  for (uint32_t i = 0; i < run->shared_array_count; i++) {
    uintptr_t start = static_start() + run->shared_arrays[i].offset;
    uintptr_t d = distance(address, start, run->shared_arrays[i].bytes);
    if (d < nearest) nearest = d, locate_in(f, Place::static_shared, i, start, address);
  }
  nearest = ~uintptr_t{0};
  if (address - arena_start() >= arena_bytes()) return;
  for (uint32_t i = 0; i < run->buffer_count; i++) {
    uintptr_t start = reinterpret_cast<uintptr_t>(run->buffers[i].address);
    uintptr_t d = distance(address, start, run->buffers[i].bytes);
    if (d < nearest) nearest = d, locate_in(f, Place::buffer, i, start, address);
  }
}

}  // namespace cuda_on_cpu
