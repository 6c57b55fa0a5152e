// The memory that kernels may touch while accesses are checked: its regions, the arrays in them, and their shadow.
#pragma once
#include "shadow.h"
#include "state.h"

namespace cuda_on_cpu {

struct MemoryMap {
  Region buffers, static_shared, dynamic_shared;  // shared memory: the running block's
  Region variables, heap;
  uintptr_t library_start, library_end;
  uintptr_t arguments_start, arguments_end;  // of a launch by a host function, before threads receive them
};

extern PerProcess<MemoryMap> memory_map;

// Before a run: shadow for all of its arrays; false when the system gives no memory for it.
bool map_memory(const Run &run, uintptr_t library_start, uintptr_t library_end);
void map_dynamic_shared(uint32_t bytes);
bool map_shared_shadow_of(uint32_t resident, char *static_arrays, char *dynamic_array, uint32_t dynamic_bytes);
void enter_shared_shadow_of(uint32_t resident);
void unmap_shared_shadow_of(uint32_t resident);
// Memory that a host function allocates, frees and writes meanwhile.
void mark_array(const Buffer &buffer);
void unmark_array(const Buffer &buffer);
void mark_as_laid(const Buffer &buffer);
void host_has_written(uintptr_t address, uintptr_t bytes);
// The first byte of a range in an array that nothing has written; 0 if there is none.
uintptr_t first_unwritten(uintptr_t address, uintptr_t bytes);
void forget_memory();                          // all of it, with what is remembered of its accesses
void forget_library_memory(const Module &module);  // it is being unloaded

// The region that an address lies in, with or without an array there; null where there is no shadow.
static inline const Region *common_region_of(uintptr_t address, bool &shared) {
  shared = false;
  if (memory_map.buffers.holds(address)) return &memory_map.buffers;
  shared = true;
  if (memory_map.static_shared.holds(address)) return &memory_map.static_shared;
  if (memory_map.dynamic_shared.holds(address)) return &memory_map.dynamic_shared;
  return nullptr;
}

// Shared memory of other blocks of the running one's cluster.
const Region *remote_region_of(uintptr_t address, bool &shared);

static inline const Region *region_of(uintptr_t address, bool &shared) {
  const Region *region = common_region_of(address, shared);
  if (region) return region;
  shared = false;
  if (memory_map.variables.holds(address)) return &memory_map.variables;
  if (memory_map.heap.holds(address)) return &memory_map.heap;
  return remote_region_of(address, shared);
}

// Local memory, and the library's own: allowed, and not checked.
bool is_unchecked(uintptr_t address);
bool is_constant(uintptr_t address);
bool is_constructor_guard(uintptr_t address);

// The array that an address lies in or next to, for reports.
void locate(uintptr_t address, Finding &finding);

}  // namespace cuda_on_cpu
