// Copies and memsets by host functions: between host and device memory, by rows and slices, and to and from symbols.
#include <cstdlib>
#include <cstring>

#include "../runtime/library_image.h"
#include "../runtime/repetitions.h"
#include "../runtime/arena.h"
#include "../runtime/memory_map.h"
#include "../runtime/report.h"
#include "asked.h"
#include "deferred.h"
#include "nested_launches.h"

namespace cuda_on_cpu {

static uint64_t offset_in(const Buffer &b, const void *address) {
  return static_cast<uint64_t>(static_cast<const char *>(address) - b.address);
}

static size_t room_at(const void *address) {
  const Buffer *b = device_array_at(address);
  return b && !(b->flags & is_freed) ? b->bytes - offset_in(*b, address) : 0;
}

// How many bytes of a copy or a memset lie in the array in which it begins. The rest is reported and left out.
static size_t inside(const void *address, size_t bytes, bool writes, int line) {
  size_t room = room_at(address);
  if (bytes <= room) return bytes;
  if (Finding *f = report(Kind::copy_outside, 0, static_cast<uint32_t>(line))) {
    locate(reinterpret_cast<uintptr_t>(address), *f);
    f->bytes = static_cast<uint32_t>(bytes);
    f->writes = writes;
    f->detail = room;
  }
  return room;
}

// Memory that is not the runtime's own is pageable: the host has it back when the call returns, whether it is a copy's
// source, which is staged, or its target.
static bool host_waits_for_copy(bool to_device, bool from_device, bool either_visible, bool waits) {
  if (waits) return !(to_device && from_device) || either_visible;
  return !to_device;
}

// Slices of rows of `width` bytes, with the distance to the next row and slice on either side; one row is a plain copy.
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

static void copy_row(char *to, const char *from, size_t width, bool checks_to, bool checks_from, const Asked &by, const Working &work) {
  if (checks_to) width = inside(to, width, true, by.line);
  if (checks_from) width = inside(from, width, false, by.line);
  if (checks_from) moves(from, width, Move::reads, by, work);
  if (checks_to) moves(to, width, Move::writes, by, work);
  if (to + width <= from || from + width <= to) make_own(to, width);
  note_in_host(true);  // a wrong host pointer faults where it is used
  memmove(to, from, width);
  note_in_host(false);
  if (checks_to && run->check) host_has_written(reinterpret_cast<uintptr_t>(to), width);
}

// Rows without gaps are one range, whose shadow takes less memory than that of many parts (runtime/chunks.h).
static void copy_slice(char *to, const char *from, const Copied &c, bool to_device, bool from_device, const Working &work) {
  size_t all = c.width * c.rows;
  bool to_whole = to_device && c.to_pitch == c.width && all <= room_at(to);
  bool from_whole = from_device && c.from_pitch == c.width && all <= room_at(from);
  if (from_whole) moves(from, all, Move::reads, c.by, work);
  if (to_whole) moves(to, all, Move::writes, c.by, work);
  for (size_t row = 0; row < c.rows; row++)
    copy_row(to + row * c.to_pitch, from + row * c.from_pitch, c.width, to_device && !to_whole, from_device && !from_whole, c.by, work);
  if (to_whole && run->check) host_has_written(reinterpret_cast<uintptr_t>(to), all);
}

static cudaError_t copy_again(void *arguments);
static cudaError_t copied(const Copied &c) {
  const Asked &by = c.by;
  refuse_to_kernels("a function that copies memory", by.line);
  if (!c.width || !c.rows || !c.slices) return cudaSuccess;
  if (!is_stream(by.stream)) return returns(cudaErrorInvalidResourceHandle);
  bool to_device = is_device_memory(c.to), from_device = is_device_memory(c.from);
  bool to_either = is_host_visible(device_array_at(c.to)), from_either = is_host_visible(device_array_at(c.from));
  bool wants_to = c.kind == cudaMemcpyHostToDevice || c.kind == cudaMemcpyDeviceToDevice;
  bool wants_from = c.kind == cudaMemcpyDeviceToHost || c.kind == cudaMemcpyDeviceToDevice;
  if (c.kind != cudaMemcpyDefault && ((to_device != wants_to && !to_either) || (from_device != wants_from && !from_either)))
    return returns(cudaErrorInvalidValue);
  if (run->only_launches && to_device) return cudaSuccess;  // and a copy to the host ends the run
  if (is_captured(by.stream)) return capture(by.stream, cudaGraphNodeTypeMemcpy, copy_again, c);
  Within runtime;
  bool waits = !lane_of_graph() && host_waits_for_copy(to_device, from_device, to_either || from_either, by.waits);
  Working work(timeline_of(by.stream), Work::copy, waits);
  if (to_device) note_memory_change();
  for (size_t slice = 0; slice < c.slices; slice++)
    copy_slice(static_cast<char *>(c.to) + slice * c.to_slice, static_cast<const char *>(c.from) + slice * c.from_slice, c, to_device, from_device, work);
  if (run->check) checker_has_moved();
  return cudaSuccess;
}
static cudaError_t copy_again(void *arguments) { return copied(*static_cast<Copied *>(arguments)); }

// A program that clears the same array again and again changes nothing.
static bool holds_only(const char *at, unsigned char value, size_t bytes) {
  return bytes && static_cast<unsigned char>(*at) == value && !memcmp(at, at + 1, bytes - 1);
}

static cudaError_t set_again(void *arguments);
static cudaError_t set(const Filled &f) {
  const Asked &by = f.by;
  refuse_to_kernels("a function that sets memory", by.line);
  if (!f.width || !f.rows || !f.slices) return cudaSuccess;
  if (!is_stream(by.stream)) return returns(cudaErrorInvalidResourceHandle);
  if (!is_device_memory(f.to)) return returns(cudaErrorInvalidValue);
  if (run->only_launches) return cudaSuccess;
  if (is_captured(by.stream)) return capture(by.stream, cudaGraphNodeTypeMemset, set_again, f);
  SetKey key = {f.to, f.width, f.rows * f.slices, f.pitch, f.slice, f.value | uint64_t{f.element_bytes} << 32, is_only_stream(by.stream)};
  const Buffer *array = device_array_at(f.to);
  bool is_apart = array && is_unused(*array);
  if (has_deferred() && !is_apart && was_done(key) && may_defer(by.stream, &f.to, sizeof f.to)) {
    auto *kept = static_cast<Filled *>(malloc(sizeof f));
    *kept = f;
    defer(Waiting::set, {cudaGraphNodeTypeMemset, set_again, kept, free});
    return cudaSuccess;
  }
  if ((!has_deferred() || is_apart) && is_done_already(key)) return cudaSuccess;
  Within runtime;  // it changes the protection of all pages: 5 ms for 1 GB of arrays
  Working work(timeline_of(by.stream), Work::set, !lane_of_graph() && by.waits && is_host_visible(array), false, is_apart);
  for (size_t row = 0; row < f.rows * f.slices; row++) {
    char *into = static_cast<char *>(f.to) + row / f.rows * f.slice + row % f.rows * f.pitch;
    size_t part = inside(into, f.width, true, by.line);
    moves(into, part, Move::writes, by, work);
    if (f.element_bytes != 1 || !holds_only(into, static_cast<unsigned char>(f.value), part)) note_memory_change();
    if (f.element_bytes == 1) set_memory(into, static_cast<int>(f.value), part);
    for (size_t i = 0; f.element_bytes > 1 && i + f.element_bytes <= part; i += f.element_bytes) memcpy(into + i, &f.value, f.element_bytes);
    if (run->check) host_has_written(reinterpret_cast<uintptr_t>(into), part);
  }
  if (run->check) checker_has_moved();
  note_done(key);
  return cudaSuccess;
}
static cudaError_t set_again(void *arguments) { return set(*static_cast<Filled *>(arguments)); }

// As in cudaMemcpy3D between plain memory: places and widths in bytes, and slices of as many rows as a place has.
static Copied in_slices(const cudaMemcpy3DParms &asked, const Asked &by) {
  auto slice = [](const cudaPitchedPtr &one) { return one.pitch * one.ysize; };
  auto at = [&](const cudaPitchedPtr &one, const cudaPos &p) { return static_cast<char *>(one.ptr) + p.x + p.y * one.pitch + p.z * slice(one); };
  const cudaExtent &extent = asked.extent;
  return {at(asked.dstPtr, asked.dstPos), asked.dstPtr.pitch, at(asked.srcPtr, asked.srcPos), asked.srcPtr.pitch,
          extent.width, extent.height, asked.kind, by, extent.depth, slice(asked.dstPtr), slice(asked.srcPtr)};
}
// Where an array takes part, widths count its elements.
cudaError_t copy_in_slices(const cudaMemcpy3DParms &asked, const Asked &by) {
  cudaMemcpy3DParms plain = asked;
  size_t to = 0, from = 0;
  if (asked.dstArray && !lay_out_array(asked.dstArray, plain.dstPos, plain.dstPtr, to)) return returns(cudaErrorInvalidValue);
  if (asked.srcArray && !lay_out_array(asked.srcArray, plain.srcPos, plain.srcPtr, from)) return returns(cudaErrorInvalidValue);
  if (to || from) plain.extent.width *= to ? to : from;
  bool fits = plain.extent.width <= plain.dstPtr.pitch && plain.extent.width <= plain.srcPtr.pitch && (!to || !from || to == from) &&
              (!to || array_holds(asked.dstArray, plain.dstPos, plain.extent)) && (!from || array_holds(asked.srcArray, plain.srcPos, plain.extent));
  return fits ? copied(in_slices(plain, by)) : returns(cudaErrorInvalidValue);
}

cudaError_t copy_on(cudaStream_t stream, const cudaMemcpy3DParms &asked_for, int line, const void *back) {
  return copy_in_slices(asked_for, asked(line, back, stream, false));
}
cudaError_t set_on(cudaStream_t stream, const cudaMemsetParams &f, int line, const void *back) {
  if (f.elementSize != 1 && f.elementSize != 2 && f.elementSize != 4) return returns(cudaErrorInvalidValue);
  return set({f.dst, f.pitch, f.value, f.width * f.elementSize, f.height, asked(line, back, stream, false), f.elementSize});
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

CUDA_ON_CPU_API cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, int line) {
  Alone alone;
  return copied({to, 0, from, 0, bytes, 1, kind, ASKED(nullptr, true)});
}
CUDA_ON_CPU_API cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream, int line) {
  Alone alone;
  return copied({to, 0, from, 0, bytes, 1, kind, ASKED(stream, false)});
}
CUDA_ON_CPU_API cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                         size_t height, cudaMemcpyKind kind, int line) {
  Alone alone;
  if (width > to_pitch || width > from_pitch) return returns(cudaErrorInvalidPitchValue);
  return copied({to, to_pitch, from, from_pitch, width, height, kind, ASKED(nullptr, true)});
}
CUDA_ON_CPU_API cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                              size_t height, cudaMemcpyKind kind, cudaStream_t stream, int line) {
  Alone alone;
  if (width > to_pitch || width > from_pitch) return returns(cudaErrorInvalidPitchValue);
  return copied({to, to_pitch, from, from_pitch, width, height, kind, ASKED(stream, false)});
}
static unsigned int byte_of(int value) { return static_cast<unsigned char>(value); }
CUDA_ON_CPU_API cudaError_t cudaMemset(void *to, int value, size_t bytes, int line) {
  Alone alone;
  return set({to, 0, byte_of(value), bytes, 1, ASKED(nullptr, true)});
}
CUDA_ON_CPU_API cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream, int line) {
  Alone alone;
  return set({to, 0, byte_of(value), bytes, 1, ASKED(stream, false)});
}
CUDA_ON_CPU_API cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height, int line) {
  Alone alone;
  if (width > pitch) return returns(cudaErrorInvalidPitchValue);
  return set({to, pitch, byte_of(value), width, height, ASKED(nullptr, true)});
}
CUDA_ON_CPU_API cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream, int line) {
  Alone alone;
  if (width > pitch) return returns(cudaErrorInvalidPitchValue);
  return set({to, pitch, byte_of(value), width, height, ASKED(stream, false)});
}
static cudaError_t set_3d(const cudaPitchedPtr &to, int value, const cudaExtent &extent, const Asked &by) {
  if (extent.width > to.pitch) return returns(cudaErrorInvalidPitchValue);
  return set({to.ptr, to.pitch, byte_of(value), extent.width, extent.height, by, 1, extent.depth, to.pitch * to.ysize});
}
CUDA_ON_CPU_API cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent, int line) {
  Alone alone;
  return set_3d(to, value, extent, ASKED(nullptr, true));
}
CUDA_ON_CPU_API cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream, int line) {
  Alone alone;
  return set_3d(to, value, extent, ASKED(stream, false));
}
CUDA_ON_CPU_API cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *asked_for, int line) {
  Alone alone;
  return copy_in_slices(*asked_for, ASKED(nullptr, true));
}
CUDA_ON_CPU_API cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *asked_for, cudaStream_t stream, int line) {
  Alone alone;
  return copy_in_slices(*asked_for, ASKED(stream, false));
}

// Symbols are variables of the library, which the host could reach, too: the copy is all that is needed.
struct WithSymbol {
  void *to;
  const void *from;
  size_t bytes;
  bool writes;
  Asked by;
};
static bool is_symbol(const void *symbol) {
  auto at = reinterpret_cast<uintptr_t>(symbol);
  return at >= library_start(*run->module) && at < library_end(*run->module);
}
static cudaError_t with_symbol_again(void *arguments);
static cudaError_t with_symbol(const WithSymbol &w) {
  const Asked &by = w.by;
  if (!is_stream(by.stream)) return returns(cudaErrorInvalidResourceHandle);
  if (is_captured(by.stream)) return capture(by.stream, cudaGraphNodeTypeMemcpy, with_symbol_again, w);
  Within runtime;
  bool waits = by.waits || (!w.writes && !is_device_memory(w.to));
  Working work(timeline_of(by.stream), Work::copy, waits && !lane_of_graph());
  note_memory_change();
  moves(w.from, w.bytes, Move::reads, by, work);
  moves(w.to, w.bytes, Move::writes, by, work);
  memmove(w.to, w.from, w.bytes);
  if (run->check) checker_has_moved();
  return cudaSuccess;
}
static cudaError_t with_symbol_again(void *arguments) { return with_symbol(*static_cast<WithSymbol *>(arguments)); }

CUDA_ON_CPU_API cudaError_t cuda_on_cpu_to_symbol(void *symbol, size_t room, const void *from, size_t bytes, size_t offset,
                                                  const cudaStream_t *stream, int line) {
  Alone alone;
  if (!is_symbol(symbol)) return returns(cudaErrorInvalidSymbol);
  if (offset > room || bytes > room - offset) return returns(cudaErrorInvalidValue);
  return with_symbol({static_cast<char *>(symbol) + offset, from, bytes, true, ASKED(stream ? *stream : nullptr, !stream)});
}
CUDA_ON_CPU_API cudaError_t cuda_on_cpu_from_symbol(void *to, const void *symbol, size_t room, size_t bytes, size_t offset,
                                                    const cudaStream_t *stream, int line) {
  Alone alone;
  if (!is_symbol(symbol)) return returns(cudaErrorInvalidSymbol);
  if (offset > room || bytes > room - offset) return returns(cudaErrorInvalidValue);
  return with_symbol({to, static_cast<const char *>(symbol) + offset, bytes, false, ASKED(stream ? *stream : nullptr, !stream)});
}

CUDA_ON_CPU_API cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes, int line) {
  Alone alone;
  if (to_device || from_device) return returns(cudaErrorInvalidDevice);
  return copied({to, 0, from, 0, bytes, 1, cudaMemcpyDeviceToDevice, ASKED(nullptr, true)});
}
CUDA_ON_CPU_API cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                                cudaStream_t stream, int line) {
  Alone alone;
  if (to_device || from_device) return returns(cudaErrorInvalidDevice);
  return copied({to, 0, from, 0, bytes, 1, cudaMemcpyDeviceToDevice, ASKED(stream, false)});
}
