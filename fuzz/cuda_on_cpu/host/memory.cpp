// Device memory for host functions: allocated behind the arrays of the job, copied to and from, and freed.
// Long, since every way to copy or fill leaves the same traces, by the functions on top.
#include <cstdlib>
#include <cstring>

#include "../runtime/arena.h"
#include "../runtime/block.h"
#include "../runtime/checker.h"
#include "../runtime/guard_zone.h"
#include "../runtime/library_image.h"
#include "../runtime/memory_map.h"
#include "../runtime/report.h"
#include "../runtime/state.h"
#include "host.h"

namespace cuda_on_cpu {

static uint64_t offset_in(const Buffer &b, const void *address) {
  return static_cast<uint64_t>(static_cast<const char *>(address) - b.address);
}

Buffer *device_array_at(const void *address) {
  auto *at = static_cast<const char *>(address);
  for (uint32_t i = run->buffer_count; i-- > 0;) {
    Buffer &b = run->buffers[i];
    if (at >= b.address && (at < b.address + b.bytes || (at == b.address && !b.bytes))) return &b;
  }
  return nullptr;
}

bool is_device_memory(const void *address) {
  return reinterpret_cast<uintptr_t>(address) - arena_start() < arena_bytes();
}

static bool is_host_visible(const Buffer *b) { return b && b->flags & is_host_visible_memory; }

// What of a copy or a memset lies outside the array in which it begins: told, and left out.
static size_t inside(const void *address, size_t bytes, bool writes, int line) {
  Buffer *b = device_array_at(address);
  size_t room = b && !(b->flags & is_freed) ? b->bytes - offset_in(*b, address) : 0;
  if (bytes <= room) return bytes;
  if (Finding *f = report(Kind::copy_outside, 0, static_cast<uint32_t>(line))) {
    locate(reinterpret_cast<uintptr_t>(address), *f);
    f->bytes = static_cast<uint32_t>(bytes);
    f->writes = writes;
    f->detail = room;
  }
  return room;
}

// Who asks for a copy or a memset: from which place of the library, on which stream, and whether it is asked to wait.
struct Asked {
  int line;
  uint64_t pc;  // relative
  cudaStream_t stream;
  bool waits;
};

static Asked asked(int line, const void *back, cudaStream_t stream, bool waits) {
  return {line, reinterpret_cast<uintptr_t>(back) - library_start(*run->module), stream, waits};
}
#define ASKED(stream, waits) asked(line, __builtin_return_address(0), stream, waits)

static void moves(const void *address, size_t bytes, Move move, const Asked &by, const Working &work) {
  if (run->check) checker_moves(reinterpret_cast<uintptr_t>(address), bytes, move, by.pc, !work.host_waits());
}

// Memory that is not the runtime's own is pageable: the host has it back when the call returns, whether that is a copy's
// source, which is staged, or what it writes.
static bool host_waits_for_copy(bool to_device, bool from_device, bool either_visible, bool waits) {
  if (waits) return !(to_device && from_device) || either_visible;
  return !to_device;
}

// Slices of rows of `width` bytes, and how far the next row and slice are on either side; one row is a plain copy.
struct Copied {
  void *to;
  size_t to_pitch;
  const void *from;
  size_t from_pitch, width, rows;
  cudaMemcpyKind kind;
  Asked by;
  size_t slices = 1, to_slice = 0, from_slice = 0;
};
struct Filled {
  void *to;
  size_t pitch;
  unsigned int value;
  size_t width, rows;
  Asked by;
  size_t element_bytes = 1, slices = 1, slice = 0;
};

static void copy_row(char *to, const char *from, size_t width, bool to_device, bool from_device, const Asked &by, const Working &work) {
  if (to_device) width = inside(to, width, true, by.line);
  if (from_device) width = inside(from, width, false, by.line);
  if (from_device) moves(from, width, Move::reads, by, work);
  if (to_device) moves(to, width, Move::writes, by, work);
  note_in_host(true);  // a wrong pointer of the host's faults where it is used
  memmove(to, from, width);
  note_in_host(false);
  if (to_device && run->check) host_has_written(reinterpret_cast<uintptr_t>(to), width);
}

static cudaError_t copy_again(void *arguments);
static cudaError_t copied(const Copied &c) {
  const Asked &by = c.by;
  if (!c.width || !c.rows || !c.slices) return cudaSuccess;
  if (!is_stream(by.stream)) return returns(cudaErrorInvalidResourceHandle);
  bool to_device = is_device_memory(c.to), from_device = is_device_memory(c.from);
  bool to_either = is_host_visible(device_array_at(c.to)), from_either = is_host_visible(device_array_at(c.from));
  bool wants_to = c.kind == cudaMemcpyHostToDevice || c.kind == cudaMemcpyDeviceToDevice;
  bool wants_from = c.kind == cudaMemcpyDeviceToHost || c.kind == cudaMemcpyDeviceToDevice;
  if (c.kind != cudaMemcpyDefault && ((to_device != wants_to && !to_either) || (from_device != wants_from && !from_either)))
    return returns(cudaErrorInvalidValue);
  if (is_captured(by.stream)) return capture(by.stream, cudaGraphNodeTypeMemcpy, copy_again, c);
  Within runtime;
  bool waits = !lane_of_graph() && host_waits_for_copy(to_device, from_device, to_either || from_either, by.waits);
  Working work(timeline_of(by.stream), Work::copy, waits);
  for (size_t slice = 0; slice < c.slices; slice++)
    for (size_t row = 0; row < c.rows; row++)
      copy_row(static_cast<char *>(c.to) + slice * c.to_slice + row * c.to_pitch,
               static_cast<const char *>(c.from) + slice * c.from_slice + row * c.from_pitch, c.width, to_device, from_device, by, work);
  if (run->check) checker_has_moved();
  return cudaSuccess;
}
static cudaError_t copy_again(void *arguments) { return copied(*static_cast<Copied *>(arguments)); }

static cudaError_t set_again(void *arguments);
static cudaError_t set(const Filled &f) {
  const Asked &by = f.by;
  if (!f.width || !f.rows || !f.slices) return cudaSuccess;
  if (!is_stream(by.stream)) return returns(cudaErrorInvalidResourceHandle);
  if (!is_device_memory(f.to)) return returns(cudaErrorInvalidValue);
  if (is_captured(by.stream)) return capture(by.stream, cudaGraphNodeTypeMemset, set_again, f);
  Within runtime;
  Working work(timeline_of(by.stream), Work::set, !lane_of_graph() && by.waits && is_host_visible(device_array_at(f.to)));
  for (size_t row = 0; row < f.rows * f.slices; row++) {
    char *into = static_cast<char *>(f.to) + row / f.rows * f.slice + row % f.rows * f.pitch;
    size_t part = inside(into, f.width, true, by.line);
    moves(into, part, Move::writes, by, work);
    if (f.element_bytes == 1) memset(into, static_cast<int>(f.value), part);
    for (size_t i = 0; f.element_bytes > 1 && i + f.element_bytes <= part; i += f.element_bytes) memcpy(into + i, &f.value, f.element_bytes);
    if (run->check) host_has_written(reinterpret_cast<uintptr_t>(into), part);
  }
  if (run->check) checker_has_moved();
  return cudaSuccess;
}
static cudaError_t set_again(void *arguments) { return set(*static_cast<Filled *>(arguments)); }

// As cudaMemcpy3D has it between plain memory: places and widths in bytes, and slices of so many rows as a place has.
static Copied in_slices(const cudaMemcpy3DParms &asked, const Asked &by) {
  auto slice = [](const cudaPitchedPtr &one) { return one.pitch * one.ysize; };
  auto at = [&](const cudaPitchedPtr &one, const cudaPos &p) { return static_cast<char *>(one.ptr) + p.x + p.y * one.pitch + p.z * slice(one); };
  const cudaExtent &extent = asked.extent;
  return {at(asked.dstPtr, asked.dstPos), asked.dstPtr.pitch, at(asked.srcPtr, asked.srcPos), asked.srcPtr.pitch,
          extent.width, extent.height, asked.kind, by, extent.depth, slice(asked.dstPtr), slice(asked.srcPtr)};
}
static cudaError_t copied(const cudaMemcpy3DParms &asked, const Asked &by) {
  bool fits = asked.extent.width <= asked.dstPtr.pitch && asked.extent.width <= asked.srcPtr.pitch;
  return asked.srcArray || asked.dstArray || !fits ? returns(cudaErrorInvalidValue) : copied(in_slices(asked, by));
}

cudaError_t copy_on(cudaStream_t stream, const cudaMemcpy3DParms &asked_for, int line, const void *back) {
  return copied(asked_for, asked(line, back, stream, false));
}
cudaError_t set_on(cudaStream_t stream, const cudaMemsetParams &f, int line, const void *back) {
  if (f.elementSize != 1 && f.elementSize != 2 && f.elementSize != 4) return returns(cudaErrorInvalidValue);
  return set({f.dst, f.pitch, f.value, f.width * f.elementSize, f.height, asked(line, back, stream, false), f.elementSize});
}

// What was freed is given to nobody else, so that each use of it is seen; only a program that asks for memory again and
// again, until there is no more, is given it a second time: the smallest that is large enough.
static Buffer *freed_with_room(size_t bytes, bool visible) {
  Buffer *found = nullptr;
  for (uint32_t i = 0; run->is_program && i < run->buffer_count; i++) {
    Buffer &b = run->buffers[i];
    if (b.flags & is_freed && is_host_visible(&b) == visible && b.bytes >= bytes && (!found || b.bytes < found->bytes)) found = &b;
  }
  return found;
}

static bool placed_again(Buffer &b) {
  Buffer *room = freed_with_room(b.bytes, is_host_visible(&b));
  if (!room) return false;
  b.address = room->address;
  fill(b.address, b.bytes, b.fill, b.element_bytes);
  paint_zone(b.address + b.bytes, run->poison);
  if (run->check) mark_array(b);
  *room = b;
  return true;
}

static void free_array(Buffer &b, int line) {
  b.flags |= is_freed;
  b.freed_line = static_cast<uint32_t>(line);
  fill(b.address, b.bytes, run->poison, sizeof run->poison);
  if (run->check) unmark_array(b);
}

// Memory that is freed on a stream may be in use on another one; cudaFree waits for all of them.
static cudaError_t freed(void *memory, const Asked &by) {
  if (!memory || !in_host()) return cudaSuccess;  // a thread destroys its copy of an argument, which a GPU's does not
  Buffer *b = device_array_at(memory);
  if (!b || !(b->flags & is_allocated_by_host) || b->flags & is_freed || b->address != memory || !is_stream(by.stream))
    return returns(cudaErrorInvalidValue);
  if (!by.waits && is_captured(by.stream)) return returns(cudaErrorStreamCaptureUnsupported);
  Within runtime;
  if (by.waits) host_waits_for_all();
  if (!by.waits && run->check) {
    Working work(timeline_of(by.stream), Work::freeing, false);
    moves(b->address, b->bytes, Move::writes, by, work);
    fill(b->address, b->bytes, run->poison, sizeof run->poison);
    checker_has_moved();
  }
  free_array(*b, by.line);
  return cudaSuccess;
}

void free_at_once(void *memory) {
  Buffer *b = device_array_at(memory);
  if (!b || b->flags & is_freed) return;
  Within runtime;
  free_array(*b, 0);
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

static cudaError_t allocated(void **to, size_t bytes, CudaOnCpuMemory kind, int line) {
  *to = nullptr;
  if (!bytes) return cudaSuccess;
  Within runtime;
  Buffer b = {};
  b.bytes = bytes;
  b.fill = run->poison;
  b.element_bytes = sizeof run->poison;
  b.line = static_cast<uint32_t>(line);
  b.flags = is_allocated_by_host;
  if (kind != cuda_on_cpu_device_memory) b.flags |= is_host_visible_memory | is_initialised;
  if (run->buffer_count < run->buffer_capacity && place_one_more(*run, b)) {
    run->buffers[run->buffer_count++] = b;
    if (run->check) mark_array(b);
  } else if (!placed_again(b)) {
    return returns(cudaErrorMemoryAllocation);
  }
  *to = b.address;
  return cudaSuccess;
}

CUDA_ON_CPU_API cudaError_t cuda_on_cpu_allocate(void **to, size_t bytes, CudaOnCpuMemory kind, int line) {
  return allocated(to, bytes, kind, line);
}

// Its memory is there for what comes after it on this stream.
CUDA_ON_CPU_API cudaError_t cuda_on_cpu_allocate_on(void **to, size_t bytes, cudaStream_t stream, int line) {
  if (!is_stream(stream)) return returns(cudaErrorInvalidResourceHandle);
  if (is_captured(stream)) return returns(cudaErrorStreamCaptureUnsupported);
  cudaError_t error = allocated(to, bytes, cuda_on_cpu_device_memory, line);
  if (error != cudaSuccess || !run->check) return error;
  Within runtime;
  Working work(timeline_of(stream), Work::allocation, false);
  moves(*to, bytes, Move::allocates, ASKED(stream, false), work);
  checker_has_moved();
  return cudaSuccess;
}

CUDA_ON_CPU_API cudaError_t cudaFree(void *memory, int line) { return freed(memory, ASKED(nullptr, true)); }
CUDA_ON_CPU_API cudaError_t cudaFreeHost(void *memory, int line) { return freed(memory, ASKED(nullptr, true)); }
CUDA_ON_CPU_API cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream, int line) { return freed(memory, ASKED(stream, false)); }

CUDA_ON_CPU_API cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, int line) {
  return copied({to, 0, from, 0, bytes, 1, kind, ASKED(nullptr, true)});
}
CUDA_ON_CPU_API cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream, int line) {
  return copied({to, 0, from, 0, bytes, 1, kind, ASKED(stream, false)});
}
CUDA_ON_CPU_API cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                         size_t height, cudaMemcpyKind kind, int line) {
  if (width > to_pitch || width > from_pitch) return returns(cudaErrorInvalidPitchValue);
  return copied({to, to_pitch, from, from_pitch, width, height, kind, ASKED(nullptr, true)});
}
CUDA_ON_CPU_API cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                              size_t height, cudaMemcpyKind kind, cudaStream_t stream, int line) {
  if (width > to_pitch || width > from_pitch) return returns(cudaErrorInvalidPitchValue);
  return copied({to, to_pitch, from, from_pitch, width, height, kind, ASKED(stream, false)});
}
static unsigned int byte_of(int value) { return static_cast<unsigned char>(value); }
CUDA_ON_CPU_API cudaError_t cudaMemset(void *to, int value, size_t bytes, int line) {
  return set({to, 0, byte_of(value), bytes, 1, ASKED(nullptr, true)});
}
CUDA_ON_CPU_API cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream, int line) {
  return set({to, 0, byte_of(value), bytes, 1, ASKED(stream, false)});
}
CUDA_ON_CPU_API cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height, int line) {
  if (width > pitch) return returns(cudaErrorInvalidPitchValue);
  return set({to, pitch, byte_of(value), width, height, ASKED(nullptr, true)});
}
CUDA_ON_CPU_API cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream, int line) {
  if (width > pitch) return returns(cudaErrorInvalidPitchValue);
  return set({to, pitch, byte_of(value), width, height, ASKED(stream, false)});
}
static cudaError_t set_3d(const cudaPitchedPtr &to, int value, const cudaExtent &extent, const Asked &by) {
  if (extent.width > to.pitch) return returns(cudaErrorInvalidPitchValue);
  return set({to.ptr, to.pitch, byte_of(value), extent.width, extent.height, by, 1, extent.depth, to.pitch * to.ysize});
}
CUDA_ON_CPU_API cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent, int line) {
  return set_3d(to, value, extent, ASKED(nullptr, true));
}
CUDA_ON_CPU_API cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream, int line) {
  return set_3d(to, value, extent, ASKED(stream, false));
}
CUDA_ON_CPU_API cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *asked_for, int line) {
  return copied(*asked_for, ASKED(nullptr, true));
}
CUDA_ON_CPU_API cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *asked_for, cudaStream_t stream, int line) {
  return copied(*asked_for, ASKED(stream, false));
}

// Symbols are variables of the library, which the host could reach, too: the copy is all that there is to do.
struct WithSymbol {
  void *to;
  const void *from;
  size_t bytes;
  bool writes;
  Asked by;
};
static cudaError_t with_symbol_again(void *arguments);
static cudaError_t with_symbol(const WithSymbol &w) {
  const Asked &by = w.by;
  if (!is_stream(by.stream)) return returns(cudaErrorInvalidResourceHandle);
  if (is_captured(by.stream)) return capture(by.stream, cudaGraphNodeTypeMemcpy, with_symbol_again, w);
  Within runtime;
  bool waits = by.waits || (!w.writes && !is_device_memory(w.to));
  Working work(timeline_of(by.stream), Work::copy, waits && !lane_of_graph());
  moves(w.from, w.bytes, Move::reads, by, work);
  moves(w.to, w.bytes, Move::writes, by, work);
  memmove(w.to, w.from, w.bytes);
  if (run->check) checker_has_moved();
  return cudaSuccess;
}
static cudaError_t with_symbol_again(void *arguments) { return with_symbol(*static_cast<WithSymbol *>(arguments)); }

CUDA_ON_CPU_API cudaError_t cuda_on_cpu_to_symbol(void *symbol, size_t room, const void *from, size_t bytes, size_t offset,
                                                  const cudaStream_t *stream, int line) {
  if (offset > room || bytes > room - offset) return returns(cudaErrorInvalidValue);
  return with_symbol({static_cast<char *>(symbol) + offset, from, bytes, true, ASKED(stream ? *stream : nullptr, !stream)});
}
CUDA_ON_CPU_API cudaError_t cuda_on_cpu_from_symbol(void *to, const void *symbol, size_t room, size_t bytes, size_t offset,
                                                    const cudaStream_t *stream, int line) {
  if (offset > room || bytes > room - offset) return returns(cudaErrorInvalidValue);
  return with_symbol({to, static_cast<const char *>(symbol) + offset, bytes, false, ASKED(stream ? *stream : nullptr, !stream)});
}

CUDA_ON_CPU_API cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *all) {
  *all = arena_bytes();
  *free_bytes = arena_left(*run);
  return cudaSuccess;
}

CUDA_ON_CPU_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *memory) {
  *attributes = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, const_cast<void *>(memory)};
  const Buffer *b = device_array_at(memory);
  if (!b) return cudaSuccess;
  attributes->type = is_host_visible(b) ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
  attributes->device = 0;
  attributes->devicePointer = const_cast<void *>(memory);
  if (!is_host_visible(b)) attributes->hostPointer = nullptr;
  return cudaSuccess;
}

CUDA_ON_CPU_API cudaError_t cudaHostRegister(void *, size_t, unsigned int flags) {
  return flags & cudaHostAllocMapped ? returns(cudaErrorNotSupported) : cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaHostUnregister(void *) { return cudaSuccess; }
CUDA_ON_CPU_API cudaError_t cudaMemPrefetchAsync(const void *, size_t, int, cudaStream_t) { return cudaSuccess; }
CUDA_ON_CPU_API cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, int) { return cudaSuccess; }
CUDA_ON_CPU_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *, size_t, unsigned int) {
  return is_stream(stream) ? cudaSuccess : returns(cudaErrorInvalidResourceHandle);
}
CUDA_ON_CPU_API cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes, int line) {
  if (to_device || from_device) return returns(cudaErrorInvalidDevice);
  return copied({to, 0, from, 0, bytes, 1, cudaMemcpyDeviceToDevice, ASKED(nullptr, true)});
}
CUDA_ON_CPU_API cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                                cudaStream_t stream, int line) {
  if (to_device || from_device) return returns(cudaErrorInvalidDevice);
  return copied({to, 0, from, 0, bytes, 1, cudaMemcpyDeviceToDevice, ASKED(stream, false)});
}
CUDA_ON_CPU_API cudaError_t cudaHostGetFlags(unsigned int *flags, void *memory) {
  *flags = cudaHostAllocMapped;
  return is_host_visible(device_array_at(memory)) ? cudaSuccess : returns(cudaErrorInvalidValue);
}

struct CudaOnCpuPool {
  uint64_t release_threshold;
};
static PerRun<CudaOnCpuPool> the_pool;

CUDA_ON_CPU_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) {
  *pool = &the_pool;
  return device ? returns(cudaErrorInvalidDevice) : cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) { return cudaDeviceGetDefaultMemPool(pool, device); }
CUDA_ON_CPU_API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t) {
  return device ? returns(cudaErrorInvalidDevice) : cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *) {
  *pool = &the_pool;
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t) { return cudaSuccess; }
CUDA_ON_CPU_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value) {
  if (attribute == cudaMemPoolAttrReleaseThreshold) memcpy(&pool->release_threshold, value, sizeof pool->release_threshold);
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value) {
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
CUDA_ON_CPU_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
