#include "memory_map.h"

#include <initializer_list>

#include "arena.h"
#include "block.h"
#include "chunks.h"
#include "cluster.h"
#include "grid.h"
#include "heap.h"
#include "library_image.h"
#include "shared_memory.h"
#include "stacks.h"
#include "unwritten.h"

namespace cuda_on_cpu {

PerProcess<MemoryMap> memory_map;

namespace {


uintptr_t static_start() { return reinterpret_cast<uintptr_t>(static_shared_start()); }
uintptr_t dynamic_start() { return reinterpret_cast<uintptr_t>(cuda_on_cpu_dynamic_shared); }

struct SharedShadow {
  Region static_arrays, dynamic_array;
};

// Cells keep their content from run to run: what they know of an earlier run is older than the launch, and harmless. So
// only what has changed since is marked again.
struct Marked {
  const Module *module;  // whose static shared arrays are marked
  uint32_t dynamic_bytes;
  Buffer buffers[max_buffers];
  uint32_t buffer_count;
  uint32_t jobs;
  SharedShadow of_resident[max_residents];  // 0: the process's own shared memory
};
PerProcess<Marked> marked;

bool map_static_shadow(Region &region, char *arrays) {
  uintptr_t start = reinterpret_cast<uintptr_t>(arrays);
  if (!map_shadow(region, start - shared_red_zone, static_shared_bytes() + 2 * shared_red_zone)) return false;
  for (uint32_t i = 0; i < run->shared_array_count; i++) {
    const SharedArray &array = run->shared_arrays[i];
    if (!array.is_guard) mark(region, start + array.offset, array.bytes, false);
  }
  return true;
}

bool map_variables(const Module &module) {
  unmap_shadow(memory_map.variables);
  if (!map_shadow(memory_map.variables, variables_start(module), variables_bytes(module))) return false;
  for (uint32_t i = 0; i < run->variable_count; i++) {
    const Variable &v = run->variables[i];
    if (memory_map.variables.holds(memory_map.library_start + v.offset)) mark(memory_map.variables, memory_map.library_start + v.offset, v.bytes, true);
  }
  return true;
}

bool map_library(const Module &module) {
  Region &first = marked.of_resident[0].static_arrays;
  unmap_shadow(first);
  return map_static_shadow(first, static_shared_start()) && map_variables(module);
}

bool map_shadow_of_arena() {
  if (!map_shadow(memory_map.buffers, arena_start(), arena_bytes())) return false;
  return arena_bytes() == first_part_bytes || map_chunks(memory_map.buffers, arena_start() + first_part_bytes);
}

bool is_initialised_buffer(const Buffer &b) { return b.flags & (has_content | is_initialised); }

// The same arrays at the same places as in the run before: what the cells remember of that run is older than this
// launch, and harmless. Only the marks of initialised bytes have to be set again.
bool lies_as_before() {
  if (run->buffer_count != marked.buffer_count) return false;
  for (uint32_t i = 0; i < run->buffer_count; i++)
    if (run->buffers[i].address != marked.buffers[i].address || run->buffers[i].bytes != marked.buffers[i].bytes ||
        is_guessed(run->buffers[i]) != is_guessed(marked.buffers[i]))
      return false;
  return true;
}

// Every so often: the shadow of a large job is eight times as large as the job.
bool is_time_to_give_back() {
  constexpr uint32_t once_in = 64;
  return ++marked.jobs % once_in == 0;
}

// False where the shadow of a buffer cannot be written.
bool mark_buffers() {
  if (!lies_as_before()) {
    for (uint32_t i = 0; i < marked.buffer_count; i++)
      unmark(memory_map.buffers, reinterpret_cast<uintptr_t>(marked.buffers[i].address), marked.buffers[i].bytes);
    if (is_time_to_give_back()) give_back_shadow(memory_map.buffers);
    marked.buffer_count = 0;
    for (uint32_t i = 0; i < run->buffer_count; i++) {
      const Buffer &b = run->buffers[i];
      if (!open_shadow(memory_map.buffers, reinterpret_cast<uintptr_t>(b.address), b.bytes)) return false;
      if (!is_guessed(b)) mark(memory_map.buffers, reinterpret_cast<uintptr_t>(b.address), b.bytes, is_initialised_buffer(b));
      marked.buffers[marked.buffer_count++] = b;
    }
    return true;
  }
  for (uint32_t i = 0; i < run->buffer_count; i++) {
    const Buffer &b = run->buffers[i];
    bool initialised = is_initialised_buffer(b);
    if (initialised && is_initialised_buffer(marked.buffers[i])) continue;
    set_initialised(memory_map.buffers, reinterpret_cast<uintptr_t>(b.address), b.bytes, initialised);
    marked.buffers[i] = b;
  }
  return true;
}

}  // namespace

void mark_array(const Buffer &b) {
  mark(memory_map.buffers, reinterpret_cast<uintptr_t>(b.address), b.bytes, is_initialised_buffer(b));
  if (marked.buffer_count < max_buffers) marked.buffers[marked.buffer_count++] = b;
}

void unmark_array(const Buffer &b) { unmark(memory_map.buffers, reinterpret_cast<uintptr_t>(b.address), b.bytes); }

void mark_as_laid(const Buffer &b) {
  set_initialised(memory_map.buffers, reinterpret_cast<uintptr_t>(b.address), b.bytes, is_initialised_buffer(b));
}

void host_has_written(uintptr_t address, uintptr_t bytes) { set_initialised(memory_map.buffers, address, bytes, true); }

uintptr_t first_unwritten(uintptr_t address, uintptr_t bytes) {
  bool shared;
  const Region *region = region_of(address, shared);
  if (!region) return 0;
  uintptr_t first = 0, end = address + bytes;
  auto look = [&](const Cell &cell, uintptr_t word) {
    uint32_t missing = cell.addressable() & ~cell.initialised();
    for (uint32_t i = 0; missing && !first && i < 4; i++)
      if (missing >> i & 1 && word + i >= address && word + i < end) first = word + i;
    return !first;
  };
  auto look_at_words = [&](uintptr_t from, uintptr_t to) {
    for (uintptr_t word = from; word < to; word += 4)
      if (!look(*region->cell(word), word)) return false;
    return true;
  };
  walk(*region, address & ~uintptr_t{3}, end, look_at_words, [&](const Chunk &chunk, uintptr_t word) {
    return chunk.has_lines_set ? look_at_words(word, word + chunk_bytes) : look(chunk.all, word);
  });
  return first;
}

bool map_memory(const Run &the_run, uintptr_t library_start, uintptr_t library_end) {
  Region &dynamic = marked.of_resident[0].dynamic_array;
  if (!memory_map.buffers.cells && !map_shadow_of_arena()) return false;
  if (!memory_map.heap.cells && !map_shadow(memory_map.heap, heap_start(), heap_bytes())) return false;
  if (!dynamic.cells &&
      !map_shadow(dynamic, dynamic_start() - shared_red_zone, dynamic_shared_capacity + 2 * shared_red_zone))
    return false;
  memory_map.library_start = library_start;
  memory_map.library_end = library_end;
  if (marked.module != the_run.module && !map_library(*the_run.module)) return false;
  marked.module = the_run.module;
  if (!mark_buffers()) {
    run->status = Status::too_large;
    return false;
  }
  enter_shared_shadow_of(0);
  return true;
}

void map_dynamic_shared(uint32_t bytes) {
  if (bytes == marked.dynamic_bytes) return;
  Region &dynamic = marked.of_resident[0].dynamic_array;
  unmark(dynamic, dynamic_start(), marked.dynamic_bytes);
  mark(dynamic, dynamic_start(), bytes, false);
  marked.dynamic_bytes = bytes;
}

bool map_shared_shadow_of(uint32_t resident, char *static_arrays, char *dynamic_array, uint32_t dynamic_bytes) {
  SharedShadow &s = marked.of_resident[resident];
  uintptr_t dynamic = reinterpret_cast<uintptr_t>(dynamic_array);
  if (map_static_shadow(s.static_arrays, static_arrays) &&
      map_shadow(s.dynamic_array, dynamic - shared_red_zone, dynamic_bytes + 2 * shared_red_zone)) {
    mark(s.dynamic_array, dynamic, dynamic_bytes, false);
    return true;
  }
  unmap_shared_shadow_of(resident);
  return false;
}

void enter_shared_shadow_of(uint32_t resident) {
  memory_map.static_shared = marked.of_resident[resident].static_arrays;
  memory_map.dynamic_shared = marked.of_resident[resident].dynamic_array;
}

const Region *remote_region_of(uintptr_t address, bool &shared) {
  uint32_t rank = remote_rank_of(address);
  if (rank == no_rank) return nullptr;
  const SharedShadow &s = marked.of_resident[block.cluster->member[rank].resident];
  shared = true;
  if (s.dynamic_array.holds(address)) return &s.dynamic_array;
  return s.static_arrays.holds(address) ? &s.static_arrays : nullptr;
}

void unmap_shared_shadow_of(uint32_t resident) {
  unmap_shadow(marked.of_resident[resident].static_arrays);
  unmap_shadow(marked.of_resident[resident].dynamic_array);
}

void forget_memory() {
  for (Region *region : {&memory_map.buffers, &memory_map.variables, &memory_map.heap}) unmap_shadow(*region);
  unmap_shared_shadow_of(0);
  marked.module = nullptr;
  marked.buffer_count = marked.dynamic_bytes = 0;
}

void forget_library_memory(const Module &module) {
  if (marked.module == &module) marked.module = nullptr;
}

bool is_unchecked(uintptr_t address) {
  bool in_library = address - memory_map.library_start < memory_map.library_end - memory_map.library_start;
  bool in_arguments = address - memory_map.arguments_start < memory_map.arguments_end - memory_map.arguments_start;
  return is_on_stacks(address) || in_library || in_arguments;
}

bool is_constant(uintptr_t address) {
  for (uint32_t i = 0; i < run->variable_count; i++) {
    const Variable &v = run->variables[i];
    if (v.is_constant && address - memory_map.library_start - v.offset < v.bytes) return true;
  }
  return false;
}

bool is_constructor_guard(uintptr_t address) {
  for (uint32_t i = 0; i < run->shared_array_count; i++) {
    const SharedArray &array = run->shared_arrays[i];
    if (array.is_guard && address - static_start() - array.offset < array.bytes) return true;
  }
  return false;
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
  if (uint32_t rank = remote_rank_of(address); rank != no_rank) {
    const Member &owner = block.cluster->member[rank];
    f.owner = 1 + owner.block;
    return locate_in_shared_of(owner.resident, address, f);
  }
  if (address - (dynamic_start() - shared_red_zone) < dynamic_shared_capacity + 2 * shared_red_zone)
    return locate_in(f, Place::dynamic_shared, 0, dynamic_start(), address);
  uintptr_t nearest = shared_red_zone;
  for (uint32_t i = 0; i < run->shared_array_count; i++) {
    uintptr_t start = static_start() + run->shared_arrays[i].offset;
    uintptr_t d = distance(address, start, run->shared_arrays[i].bytes);
    if (d < nearest) nearest = d, locate_in(f, Place::static_shared, i, start, address);
  }
  nearest = shared_red_zone;
  for (uint32_t i = 0; memory_map.variables.holds(address) && i < run->variable_count; i++) {
    uintptr_t start = memory_map.library_start + run->variables[i].offset;
    uintptr_t d = distance(address, start, run->variables[i].bytes);
    if (d < nearest) nearest = d, locate_in(f, Place::global_variable, i, start, address);
  }
  if (memory_map.heap.holds(address)) return locate_on_heap(f, address);
  nearest = ~uintptr_t{0};
  if (address - arena_start() >= arena_bytes()) return;
  for (uint32_t i = 0; i < run->buffer_count; i++) {
    uintptr_t start = reinterpret_cast<uintptr_t>(run->buffers[i].address);
    uintptr_t d = distance(address, start, run->buffers[i].bytes);
    if (d < nearest) nearest = d, locate_in(f, Place::buffer, i, start, address);
  }
}

}  // namespace cuda_on_cpu
