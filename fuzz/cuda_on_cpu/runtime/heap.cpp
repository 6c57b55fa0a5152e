#include "heap.h"

#include <sys/mman.h>

#include <cstdlib>

#include "host_code.h"
#include "block.h"
#include "guard_zone.h"
#include "memory_map.h"
#include "report.h"
#include "signals.h"
#include "state.h"

namespace cuda_on_cpu {

namespace {

// The default of cudaLimitMallocHeapSize, except that nothing is reused before the run ends: this detects a use of
// freed memory. Between two allocations lie bytes that belong to none.
constexpr uint64_t capacity = 8 << 20, alignment = 16, between = 64;
constexpr uint32_t most_allocations = capacity / (alignment + between);

struct Allocation {
  uint64_t offset, bytes;
  uint64_t freed_at;  // 0: not freed; otherwise a place in the library, plus one
};

struct HeapMapping {
  char *start;
  Allocation *allocations;
};
PerProcess<HeapMapping> heap;

struct Allocated {
  uint64_t used;
  uint32_t count;
  ~Allocated() {
    if (used && memory_map.heap.cells) unmark(memory_map.heap, heap_start(), used);
  }
};
PerRun<Allocated> allocated;

uint64_t offset_of(uintptr_t address) { return address - heap_start(); }

// The last allocation that begins at or before the address.
Allocation *allocation_at(uintptr_t address) {
  uint32_t low = 0, high = allocated.count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (heap.allocations[middle].offset <= offset_of(address))
      low = middle + 1;
    else
      high = middle;
  }
  return low ? &heap.allocations[low - 1] : nullptr;
}

void *map(uint64_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

bool map_heap() {
  if (!heap.start) heap.start = static_cast<char *>(map(capacity));
  if (!heap.allocations) heap.allocations = static_cast<Allocation *>(map(most_allocations * sizeof(Allocation)));
  return heap.start && heap.allocations;
}

uintptr_t heap_start() { return reinterpret_cast<uintptr_t>(heap.start); }
uintptr_t heap_bytes() { return capacity; }

bool was_freed(uintptr_t address, uint64_t &freed_at) {
  const Allocation *a = memory_map.heap.holds(address) ? allocation_at(address) : nullptr;
  if (!a || !a->freed_at || offset_of(address) >= a->offset + a->bytes) return false;
  freed_at = a->freed_at - 1;
  return true;
}

void locate_on_heap(Finding &f, uintptr_t address) {
  const Allocation *a = allocation_at(address);
  f.place = Place::heap;
  f.place_number = static_cast<uint32_t>(a ? a->bytes : 0);
  f.offset = static_cast<int64_t>(offset_of(address) - (a ? a->offset : 0));
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

CUDA_ON_CPU_API void *cuda_on_cpu_malloc(uint64_t bytes) {
  uint64_t taken = (bytes + alignment - 1) / alignment * alignment + between;
  if (taken < bytes || taken > capacity - between - allocated.used || allocated.count == most_allocations) return nullptr;
  heap.allocations[allocated.count++] = {allocated.used + between, bytes, 0};
  char *memory = heap.start + allocated.used + between;
  allocated.used += taken;
  fill(memory, bytes, run->poison, sizeof run->poison);
  if (run->check) mark(memory_map.heap, reinterpret_cast<uintptr_t>(memory), bytes, false);
  return memory;
}

CUDA_ON_CPU_API void cuda_on_cpu_free(void *memory, int line) {
  uintptr_t address = reinterpret_cast<uintptr_t>(memory);
  if (!address) return;
  Allocation *a = address - heap_start() < capacity ? allocation_at(address) : nullptr;
  if (!a || offset_of(address) != a->offset || a->freed_at) {
    Kind kind = a && a->freed_at ? Kind::freed_twice : Kind::bad_free;
    if (Finding *f = report(kind, 0, static_cast<uint32_t>(line))) f->address = address;
    return;
  }
  a->freed_at = reinterpret_cast<uintptr_t>(__builtin_return_address(0)) - memory_map.library_start + 1;
  if (run->check) unmark(memory_map.heap, address, a->bytes);
}

// From module.cpp and host/library.cpp: malloc and new, for a kernel and for the host. While a library is being loaded
// no kernel runs, and the library's own constructors count as the host's.
CUDA_ON_CPU_API bool cuda_on_cpu_is_on_host() { return in_host() || !is_in_kernels(); }
CUDA_ON_CPU_API bool cuda_on_cpu_is_on_device_heap(const void *memory) {
  return reinterpret_cast<uintptr_t>(memory) - heap_start() < capacity;
}
CUDA_ON_CPU_API void *cuda_on_cpu_host_malloc(size_t bytes) { return malloc(bytes); }
CUDA_ON_CPU_API void *cuda_on_cpu_new(size_t bytes) {
  return cuda_on_cpu_is_on_host() ? malloc(bytes) : cuda_on_cpu_malloc(bytes);
}
CUDA_ON_CPU_API void cuda_on_cpu_delete(void *memory, int line) {
  if (cuda_on_cpu_is_on_host() && !cuda_on_cpu_is_on_device_heap(memory))
    free(memory);
  else
    cuda_on_cpu_free(memory, line);
}
