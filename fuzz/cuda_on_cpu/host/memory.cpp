// Device memory for host functions: allocated after the job's arrays, freed, and queried.
#include <cstdio>
#include <cstring>

#include "../runtime/arena.h"
#include "../runtime/guard_zone.h"
#include "../runtime/memory_map.h"
#include "../runtime/repetitions.h"
#include "../runtime/report.h"
#include "../runtime/state.h"
#include "../runtime/unbacked.h"
#include "asked.h"
#include "deferred.h"
#include "graph.h"
#include "nested_launches.h"

CUDA_ON_CPU_API void *cuda_on_cpu_malloc(uint64_t bytes);
CUDA_ON_CPU_API void cuda_on_cpu_free(void *memory, int line);
CUDA_ON_CPU_API bool cuda_on_cpu_is_on_device_heap(const void *memory);

namespace cuda_on_cpu {

bool is_device_memory(const void *address) {
  return run->only_launches ? device_array_at(address) != nullptr : reinterpret_cast<uintptr_t>(address) - arena_start() < arena_bytes();
}

// Freed memory is not given out again, so that each use of it is detected. Only a program that allocates again and
// again, until no memory is left, gets freed memory a second time: the smallest block that is large enough.
static Buffer *freed_with_room(size_t bytes, bool visible) {
  Buffer *found = nullptr;
  for (uint32_t i = 0; run->is_program && i < run->buffer_count; i++) {
    Buffer &b = run->buffers[i];
    if (b.flags & is_freed && !(b.flags & is_of_graph) && is_host_visible(&b) == visible && b.bytes >= bytes && (!found || b.bytes < found->bytes)) found = &b;
  }
  return found;
}

static void lay_out_again(const Buffer &b) {
  poison_buffer(*run, b);
  paint_zone(b.address + b.bytes, run->poison);
  if (run->check) mark_array(b);
}

static bool placed_again(Buffer &b) {
  Buffer *room = freed_with_room(b.bytes, is_host_visible(&b));
  if (!room) return false;
  b.address = room->address;
  lay_out_again(b);
  *room = b;
  return true;
}

static Again allocation_of(Buffer &b) {
  auto allocate_again = [](void *array) {
    auto &one = *static_cast<Buffer *>(array);
    note_memory_change();
    one.flags &= ~uint32_t{is_freed};
    lay_out_again(one);
    return cudaSuccess;
  };
  return {cudaGraphNodeTypeEmpty, allocate_again, &b, [](void *) {}};
}

static void free_array(Buffer &b, int line) {
  note_memory_change();
  b.flags = (b.flags | is_freed) & ~uint32_t{waits_to_be_freed};
  b.freed_line = static_cast<uint32_t>(line);
  if (run->only_launches) return;
  poison_buffer(*run, b);
  if (run->check) unmark_array(b);
}

static cudaError_t freed(void *memory, const Asked &by);
struct Freed {
  void *memory;
  Asked by;
};
static cudaError_t free_again(void *arguments) {
  auto &one = *static_cast<Freed *>(arguments);
  return freed(one.memory, one.by);
}
static bool waits_with_work(Buffer &b, const Asked &by) {
  if (!has_deferred() || is_unused(b)) return false;
  if (!by.waits) {
    do_deferred();
    return false;
  }
  auto *kept = static_cast<Freed *>(malloc(sizeof(Freed)));
  *kept = {b.address, by};
  bool waits = defer_free(b, {cudaGraphNodeTypeEmpty, free_again, kept, free});
  if (!waits) free(kept);
  return waits;
}

// Memory that is freed on a stream may be in use on another one; cudaFree waits for all streams.
static cudaError_t freed(void *memory, const Asked &by) {
  if (is_asked_by_kernel() && cuda_on_cpu_is_on_device_heap(memory)) {
    cuda_on_cpu_free(memory, by.line);
    return cudaSuccess;
  }
  if (!memory || !in_host()) return cudaSuccess;  // a thread destroys its copy of an argument, which a GPU thread does not
  Buffer *b = device_array_at(memory);
  if (b && b->address == memory && !by.waits && is_captured(by.stream)) return capture_free(by.stream, memory, by.line, by.pc);
  if (!b || !(b->flags & is_allocated_by_host) || b->flags & is_freed || b->address != memory || !is_stream(by.stream))
    return returns(cudaErrorInvalidValue);
  if (waits_with_work(*b, by)) return cudaSuccess;
  if (b->flags & is_freed) return returns(cudaErrorInvalidValue);
  Within runtime;
  if (by.waits) host_waits_for_all(), note_host_waits();
  if (!by.waits && run->check) {
    Working work(timeline_of(by.stream), Work::freeing, false);
    moves(b->address, b->bytes, Move::writes, by, work);
    poison_buffer(*run, *b);
    checker_has_moved();
  }
  free_array(*b, by.line);
  return cudaSuccess;
}

void free_at_once(void *memory) {
  do_deferred();
  Buffer *b = device_array_at(memory);
  if (!b || b->flags & is_freed) return;
  Within runtime;
  free_array(*b, 0);
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

// A program need not ask whether it was given memory that every GPU of this size has: it cannot run here.
[[noreturn]] static void refuse_to_allocate(size_t bytes, int line) {
  char words[160];
  if (run->buffer_count == run->buffer_capacity)
    snprintf(words, sizeof words, "it holds more than %u arrays at once", run->buffer_capacity);
  else
    snprintf(words, sizeof words, "needs %zu bytes more for an array; the cpu device has %zu left", bytes, static_cast<size_t>(arena_left(*run)));
  host_refuses(words, line);
}

static cudaError_t allocated(void **to, size_t bytes, CudaOnCpuMemory kind, int line) {
  *to = nullptr;
  if (!bytes) return cudaSuccess;
  if (is_asked_by_kernel()) {  // from the heap of malloc()
    if (kind != cuda_on_cpu_device_memory) refuse_to_kernels("a function that allocates memory of the host", line);
    *to = cuda_on_cpu_malloc(bytes);
    return *to ? cudaSuccess : returns(cudaErrorMemoryAllocation);
  }
  Within runtime;
  if (kind != cuda_on_cpu_device_memory) do_deferred();
  note_memory_change();
  Buffer b = {};
  b.bytes = bytes;
  b.fill = run->poison;
  b.element_bytes = sizeof run->poison;
  b.line = static_cast<uint32_t>(line);
  b.flags = is_allocated_by_host;
  if (kind != cuda_on_cpu_device_memory) b.flags |= is_host_visible_memory | is_initialised;
  if (run->buffer_count < run->buffer_capacity && (run->only_launches ? place_unbacked(b) : place_one_more(*run, b))) {
    run->buffers[run->buffer_count++] = b;
    if (run->check) mark_array(b);
  } else if (const Buffer *waits = kind == cuda_on_cpu_device_memory ? allocate_behind_free(bytes, line, allocation_of) : nullptr) {
    b.address = waits->address;
  } else if (do_deferred(); !placed_again(b)) {
    if (bytes > memory_of_gpu || !run->is_program) return returns(cudaErrorMemoryAllocation);
    refuse_to_allocate(bytes, line);
  }
  *to = b.address;
  return cudaSuccess;
}

cudaError_t cuda_on_cpu::reserve_for_graph(void **to, size_t bytes, int line) {
  cudaError_t error = allocated(to, bytes, cuda_on_cpu_device_memory, line);
  if (error != cudaSuccess || !bytes) return error;
  Within runtime;
  Buffer &b = *device_array_at(*to);
  b.flags |= is_of_graph;
  free_array(b, line);
  return error;
}
cudaError_t cuda_on_cpu::free_on(void *memory, const Asked &by) { return freed(memory, by); }

CUDA_ON_CPU_API cudaError_t cuda_on_cpu_allocate(void **to, size_t bytes, CudaOnCpuMemory kind, int line) {
  Alone alone;
  return allocated(to, bytes, kind, line);
}

// The memory is available to later work on this stream.
CUDA_ON_CPU_API cudaError_t cuda_on_cpu_allocate_on(void **to, size_t bytes, cudaStream_t stream, int line) {
  Alone alone;
  if (!is_stream(stream)) return returns(cudaErrorInvalidResourceHandle);
  if (is_captured(stream)) return capture_allocation(stream, to, bytes, line, ASKED(stream, false).pc);
  cudaError_t error = allocated(to, bytes, cuda_on_cpu_device_memory, line);
  if (error != cudaSuccess || !run->check) return error;
  Within runtime;
  Working work(timeline_of(stream), Work::allocation, false);
  moves(*to, bytes, Move::allocates, ASKED(stream, false), work);
  checker_has_moved();
  return cudaSuccess;
}

CUDA_ON_CPU_API cudaError_t cudaFree(void *memory, int line) { Alone alone; return freed(memory, ASKED(nullptr, true)); }
CUDA_ON_CPU_API cudaError_t cudaFreeHost(void *memory, int line) { Alone alone; return freed(memory, ASKED(nullptr, true)); }
CUDA_ON_CPU_API cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream, int line) { Alone alone; return freed(memory, ASKED(stream, false)); }

CUDA_ON_CPU_API cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *all) {
  Alone alone;
  if (run->only_launches) stop_run(Status::unbacked);  // how much is left depends on arrays that take nothing
  *all = memory_of_device();
  *free_bytes = arena_left(*run);
  return cudaSuccess;
}

CUDA_ON_CPU_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *memory) {
  Alone alone;
  *attributes = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, const_cast<void *>(memory)};
  const Buffer *b = device_array_at(memory);
  if (!b) return cudaSuccess;
  attributes->type = is_host_visible(b) ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
  attributes->device = 0;
  attributes->devicePointer = const_cast<void *>(memory);
  if (!is_host_visible(b)) attributes->hostPointer = nullptr;
  return cudaSuccess;
}

// Copies do not differ for registered memory. Kernels cannot reach it: cudaHostGetDevicePointer says so.
CUDA_ON_CPU_API cudaError_t cudaHostRegister(void *, size_t, unsigned int) { Alone alone; return cudaSuccess; }
CUDA_ON_CPU_API cudaError_t cudaHostUnregister(void *) { Alone alone; return cudaSuccess; }
CUDA_ON_CPU_API cudaError_t cudaMemPrefetchAsync(const void *, size_t, int, cudaStream_t) { Alone alone; return cudaSuccess; }
CUDA_ON_CPU_API cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, int) { Alone alone; return cudaSuccess; }
CUDA_ON_CPU_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *, size_t, unsigned int) {
  Alone alone;
  return is_stream(stream) ? cudaSuccess : returns(cudaErrorInvalidResourceHandle);
}
CUDA_ON_CPU_API cudaError_t cuda_on_cpu_device_pointer(void **to, void *memory) {
  Alone alone;
  *to = memory;
  return is_host_visible(device_array_at(memory)) ? cudaSuccess : returns(cudaErrorNotSupported);
}
CUDA_ON_CPU_API cudaError_t cudaHostGetFlags(unsigned int *flags, void *memory) {
  Alone alone;
  *flags = cudaHostAllocMapped;
  return is_host_visible(device_array_at(memory)) ? cudaSuccess : returns(cudaErrorInvalidValue);
}

struct CudaOnCpuPool {
  uint64_t release_threshold;
};
static PerRun<CudaOnCpuPool> the_pool;

CUDA_ON_CPU_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) {
  Alone alone;
  *pool = &the_pool;
  return device ? returns(cudaErrorInvalidDevice) : cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) { Alone alone; return cudaDeviceGetDefaultMemPool(pool, device); }
CUDA_ON_CPU_API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t) {
  Alone alone;
  return device ? returns(cudaErrorInvalidDevice) : cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *) {
  Alone alone;
  *pool = &the_pool;
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t) { Alone alone; return cudaSuccess; }
CUDA_ON_CPU_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value) {
  Alone alone;
  if (attribute == cudaMemPoolAttrReleaseThreshold) memcpy(&pool->release_threshold, value, sizeof pool->release_threshold);
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value) {
  Alone alone;
  do_deferred();
  uint64_t used = 0;
  for (uint32_t i = run->job_buffer_count; i < run->buffer_count; i++)
    if (!(run->buffers[i].flags & is_freed)) used += run->buffers[i].bytes;
  int allowed = 1;
  if (attribute <= cudaMemPoolReuseAllowInternalDependencies)
    memcpy(value, &allowed, sizeof allowed);
  else
    memcpy(value, attribute == cudaMemPoolAttrReleaseThreshold ? &pool->release_threshold : &used, sizeof used);
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc *asked, size_t count) {
  Alone alone;
  for (size_t i = 0; i < count; i++)
    if (asked[i].location.type == cudaMemLocationTypeDevice && asked[i].location.id) return returns(cudaErrorInvalidDevice);
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { Alone alone; return cudaSuccess; }
