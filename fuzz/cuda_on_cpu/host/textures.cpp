// CUDA arrays, textures and surfaces. An array is an allocation like any other, with its rows at equal distances.
#include "../runtime/report.h"
#include "../runtime/state.h"
#include "asked.h"
#include "deferred.h"
#include "include/cuda_on_cpu_host/arrays.h"

using namespace cuda_on_cpu;

struct cudaArray {
  bool is_alive;
  void *memory;
  cudaChannelFormatDesc channels;
  cudaExtent extent;  // as it was asked for: 0 along axes that it does not have
  unsigned int flags;
  size_t pitch;
};

namespace {

constexpr int most_arrays = 256, most_objects = 256;
struct Object {
  bool is_alive, is_surface;
  Image image;
};
struct Arrays {
  cudaArray at[most_arrays];
  Object objects[most_objects];
};
PerRun<Arrays> arrays;

size_t at_least_1(size_t n) { return n ? n : 1; }
int channels_of(const cudaChannelFormatDesc &c) { return (c.x > 0) + (c.y > 0) + (c.z > 0) + (c.w > 0); }
size_t element_of(const cudaChannelFormatDesc &c) { return static_cast<size_t>(c.x + c.y + c.z + c.w) / 8; }
bool is_known(const cudaChannelFormatDesc &c) {
  int count = channels_of(c);
  bool equal = count && count != 3 && c.x + c.y + c.z + c.w == count * c.x;
  bool is_float = c.f == cudaChannelFormatKindFloat;
  return equal && c.f != cudaChannelFormatKindNone && (c.x == 32 || (!is_float && (c.x == 8 || c.x == 16)));
}
bool is_array(cudaArray_const_t array) { return array >= arrays.at && array < arrays.at + most_arrays && array->is_alive; }

cudaError_t made_array(cudaArray_t *to, const cudaChannelFormatDesc *channels, cudaExtent extent, unsigned int flags, int line) {
  if (!to || !channels || !extent.width) return returns(cudaErrorInvalidValue);
  if (flags & ~unsigned{cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather})
    host_refuses("kfuzz: sparse arrays do not run on the cpu device", line);
  bool is_cube = flags & cudaArrayCubemap;
  if (is_cube && (extent.width != extent.height || !extent.depth || extent.depth % 6 || (extent.depth != 6 && !(flags & cudaArrayLayered))))
    return returns(cudaErrorInvalidValue);
  if (!is_known(*channels)) host_refuses("kfuzz: arrays of these channels do not run on the cpu device (halves, for one)", line);
  for (cudaArray &one : arrays.at) {
    if (one.is_alive) continue;
    constexpr size_t row_alignment = 16;  // of the largest element
    size_t pitch = (extent.width * element_of(*channels) + row_alignment - 1) / row_alignment * row_alignment;
    void *memory;
    cudaError_t error = cuda_on_cpu_allocate(&memory, pitch * at_least_1(extent.height) * at_least_1(extent.depth), cuda_on_cpu_device_memory, line);
    if (error != cudaSuccess) return error;
    one = {true, memory, *channels, extent, flags, pitch};
    *to = &one;
    return cudaSuccess;
  }
  return returns(cudaErrorMemoryAllocation);
}

Image image_of(const cudaArray &a) {
  Image image = {};
  image.at = static_cast<char *>(a.memory);
  image.width = static_cast<int64_t>(a.extent.width);
  image.height = static_cast<int64_t>(at_least_1(a.extent.height));
  image.depth = static_cast<int64_t>(at_least_1(a.extent.depth));
  image.pitch = static_cast<int64_t>(a.pitch);
  image.slice = image.pitch * image.height;
  return image;
}
void describe(Image &image, const cudaChannelFormatDesc &channels) {
  image.channels = channels_of(channels);
  image.bytes = channels.x / 8;
  image.kind = channels.f;
}

// False: there is no such resource.
bool resolve(const cudaResourceDesc &resource, Image &image, int line) {
  if (resource.resType == cudaResourceTypeMipmappedArray) host_refuses("kfuzz: mipmapped arrays do not run on the cpu device", line);
  cudaChannelFormatDesc channels;
  if (resource.resType == cudaResourceTypeArray) {
    if (!is_array(resource.res.array.array)) return false;
    image = image_of(*resource.res.array.array);
    channels = resource.res.array.array->channels;
  } else {
    bool is_linear = resource.resType == cudaResourceTypeLinear;
    channels = is_linear ? resource.res.linear.desc : resource.res.pitch2D.desc;
    void *at = is_linear ? resource.res.linear.devPtr : resource.res.pitch2D.devPtr;
    if (!is_known(channels)) host_refuses("kfuzz: textures of these channels do not run on the cpu device (halves, for one)", line);
    if (!is_device_memory(at)) return false;
    image = {};
    image.at = static_cast<char *>(at);
    image.depth = 1;
    image.is_linear_memory = is_linear;
    image.width = static_cast<int64_t>(is_linear ? resource.res.linear.sizeInBytes / element_of(channels) : resource.res.pitch2D.width);
    image.height = static_cast<int64_t>(is_linear ? 1 : resource.res.pitch2D.height);
    image.pitch = static_cast<int64_t>(is_linear ? 0 : resource.res.pitch2D.pitchInBytes);
  }
  describe(image, channels);
  return true;
}

// Numbers that are no small ones, so that an object that was never made is not mistaken for one.
constexpr uint64_t first_object = 0x7e00000000000000;
cudaError_t made_object(unsigned long long *to, const Image &image, bool is_surface) {
  for (int i = 0; i < most_objects; i++) {
    Object &one = arrays.objects[i];
    if (one.is_alive) continue;
    one = {true, is_surface, image};
    *to = first_object + static_cast<uint64_t>(i);
    return cudaSuccess;
  }
  return returns(cudaErrorMemoryAllocation);
}
Object *object_at(unsigned long long number, bool is_surface) {
  uint64_t i = number - first_object;
  Object *one = i < most_objects ? &arrays.objects[i] : nullptr;
  return one && one->is_alive && one->is_surface == is_surface ? one : nullptr;
}
cudaError_t destroyed(unsigned long long number, bool is_surface) {
  do_deferred();  // it may use it
  Object *one = object_at(number, is_surface);
  if (!one) return number ? returns(cudaErrorInvalidValue) : cudaSuccess;
  one->is_alive = false;
  return cudaSuccess;
}

// Rows of an array; x and width count bytes here, and elements in cudaMemcpy3D.
struct Rows {
  size_t x, y, width, height;
};
bool holds(const cudaArray &a, const Rows &r) {
  size_t row = a.extent.width * element_of(a.channels), rows = at_least_1(a.extent.height);
  return r.x <= row && r.width <= row - r.x && r.y <= rows && r.height <= rows - r.y;
}
cudaError_t copied_rows(cudaArray_const_t array, const Rows &r, void *other, size_t pitch, bool to_array, cudaMemcpyKind kind, const Asked &by) {
  if (!is_array(array) || !holds(*array, r) || (r.height > 1 && r.width > pitch)) return returns(cudaErrorInvalidValue);
  char *there = static_cast<char *>(array->memory) + r.y * array->pitch + r.x;
  cudaPitchedPtr in_array = {there, array->pitch, r.width, r.height}, outside = {other, r.height > 1 ? pitch : r.width, r.width, r.height};
  cudaMemcpy3DParms asked_for = {};
  asked_for.srcPtr = to_array ? outside : in_array;
  asked_for.dstPtr = to_array ? in_array : outside;
  asked_for.extent = {r.width, r.height, 1};
  asked_for.kind = kind;
  return copy_in_slices(asked_for, by);
}
// One after the other: whole rows, and what is left of them.
cudaError_t copied_linear(cudaArray_const_t array, size_t x, size_t y, void *other, size_t bytes, bool to_array, cudaMemcpyKind kind, const Asked &by) {
  if (!is_array(array)) return returns(cudaErrorInvalidValue);
  size_t row = array->extent.width * element_of(array->channels);
  auto *at = static_cast<char *>(other);
  while (bytes) {
    bool whole = x == 0 && bytes >= row;
    if (x >= row) return returns(cudaErrorInvalidValue);
    size_t width = whole ? row : bytes < row - x ? bytes : row - x, rows = whole ? bytes / row : 1;
    cudaError_t error = copied_rows(array, {x, y, width, rows}, at, width, to_array, kind, by);
    if (error != cudaSuccess) return error;
    at += width * rows;
    bytes -= width * rows;
    y += rows;
    x = 0;
  }
  return cudaSuccess;
}

}  // namespace

namespace cuda_on_cpu {

bool lay_out_array(cudaArray_const_t array, cudaPos &at, cudaPitchedPtr &as, size_t &element) {
  if (!is_array(array)) return false;
  element = element_of(array->channels);
  at.x *= element;
  as = {array->memory, array->pitch, array->extent.width * element, at_least_1(array->extent.height)};
  return true;
}
bool array_holds(cudaArray_const_t array, const cudaPos &at, const cudaExtent &extent) {
  return holds(*array, {at.x, at.y, extent.width, extent.height}) && at.z + extent.depth <= at_least_1(array->extent.depth);
}

}  // namespace cuda_on_cpu

// Called by kernels.
CUDA_ON_CPU_API void cuda_on_cpu_image(unsigned long long object, bool is_surface, Image *to, int line) {
  if (const Object *one = object_at(object, is_surface)) {
    *to = one->image;
    return;
  }
  report(Kind::no_such_object, 0, static_cast<uint32_t>(line));
  run_is_damaged();
  end_thread();
}
CUDA_ON_CPU_API void cuda_on_cpu_outside_surface(int64_t bytes, bool writes, int line) {
  if (Finding *f = report(Kind::outside_surface, 0, static_cast<uint32_t>(line))) {
    f->bytes = static_cast<uint32_t>(bytes);
    f->writes = writes;
  }
  run_is_damaged();
  end_thread();
}
CUDA_ON_CPU_API void cuda_on_cpu_misaligned_in_surface(const void *at, uint32_t bytes, int line) {
  report_misaligned_at_line(reinterpret_cast<uintptr_t>(at), bytes, static_cast<uint32_t>(line));
}

CUDA_ON_CPU_API cudaChannelFormatDesc cuda_on_cpu_channels(int x, int y, int z, int w, cudaChannelFormatKind kind) { return {x, y, z, w, kind}; }
CUDA_ON_CPU_API cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *channels, size_t width, size_t height,
                                            unsigned int flags, int line) {
  Alone alone;
  return made_array(array, channels, {width, height, 0}, flags, line);
}
CUDA_ON_CPU_API cudaError_t cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *channels, cudaExtent extent,
                                              unsigned int flags, int line) {
  Alone alone;
  return made_array(array, channels, extent, flags, line);
}
CUDA_ON_CPU_API cudaError_t cudaFreeArray(cudaArray_t array, int line) {
  Alone alone;
  if (!array) return cudaSuccess;
  if (!is_array(array)) return returns(cudaErrorInvalidValue);
  do_deferred();
  array->is_alive = false;
  return cudaFree(array->memory, line);
}
CUDA_ON_CPU_API cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc *channels, cudaExtent *extent, unsigned int *flags, cudaArray_t array) {
  Alone alone;
  if (!is_array(array)) return returns(cudaErrorInvalidResourceHandle);
  if (channels) *channels = array->channels;
  if (extent) *extent = array->extent;
  if (flags) *flags = array->flags;
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc *channels, cudaArray_const_t array) {
  Alone alone;
  if (!is_array(array)) return returns(cudaErrorInvalidResourceHandle);
  *channels = array->channels;
  return cudaSuccess;
}

CUDA_ON_CPU_API cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes, cudaMemcpyKind kind, int line) {
  Alone alone;
  return copied_linear(to, x, y, const_cast<void *>(from), bytes, true, kind, ASKED(nullptr, true));
}
CUDA_ON_CPU_API cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind, int line) {
  Alone alone;
  return copied_linear(from, x, y, to, bytes, false, kind, ASKED(nullptr, true));
}
CUDA_ON_CPU_API cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                                size_t height, cudaMemcpyKind kind, int line) {
  Alone alone;
  return copied_rows(to, {x, y, width, height}, const_cast<void *>(from), pitch, true, kind, ASKED(nullptr, true));
}
CUDA_ON_CPU_API cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                                  size_t height, cudaMemcpyKind kind, int line) {
  Alone alone;
  return copied_rows(from, {x, y, width, height}, to, pitch, false, kind, ASKED(nullptr, true));
}
CUDA_ON_CPU_API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                                     size_t height, cudaMemcpyKind kind, cudaStream_t stream, int line) {
  Alone alone;
  return copied_rows(to, {x, y, width, height}, const_cast<void *>(from), pitch, true, kind, ASKED(stream, false));
}
CUDA_ON_CPU_API cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                                       size_t height, cudaMemcpyKind kind, cudaStream_t stream, int line) {
  Alone alone;
  return copied_rows(from, {x, y, width, height}, to, pitch, false, kind, ASKED(stream, false));
}

CUDA_ON_CPU_API cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture, const cudaResourceDesc *resource, const cudaTextureDesc *how,
                                                    const cudaResourceViewDesc *view, int line) {
  Alone alone;
  if (!texture || !resource || !how) return returns(cudaErrorInvalidValue);
  if (view) host_refuses("kfuzz: views of resources do not run on the cpu device", line);
  if (how->seamlessCubemap) host_refuses("kfuzz: seamless cube maps do not run on the cpu device", line);
  if (how->sRGB) host_refuses("kfuzz: textures of sRGB colours do not run on the cpu device", line);
  Image image;
  if (!resolve(*resource, image, line)) return returns(cudaErrorInvalidValue);
  for (int axis = 0; axis < 3; axis++) image.address[axis] = how->addressMode[axis];
  for (int c = 0; c < 4; c++) image.border[c] = how->borderColor[c];
  image.is_normalised = how->normalizedCoords;
  image.reads_as_fraction = how->readMode == cudaReadModeNormalizedFloat && image.kind != cudaChannelFormatKindFloat;
  image.filters = how->filterMode == cudaFilterModeLinear && !image.is_linear_memory;
  bool gives_floats = image.kind == cudaChannelFormatKindFloat || image.reads_as_fraction;
  if ((image.filters && !gives_floats) || (image.reads_as_fraction && image.bytes == 4)) return returns(cudaErrorInvalidValue);
  return made_object(texture, image, false);
}
CUDA_ON_CPU_API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) { Alone alone; return destroyed(texture, false); }
CUDA_ON_CPU_API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *surface, const cudaResourceDesc *resource) {
  Alone alone;
  if (!surface || !resource || resource->resType != cudaResourceTypeArray || !is_array(resource->res.array.array) ||
      !(resource->res.array.array->flags & cudaArraySurfaceLoadStore))
    return returns(cudaErrorInvalidValue);
  Image image = image_of(*resource->res.array.array);
  describe(image, resource->res.array.array->channels);
  return made_object(surface, image, true);
}
CUDA_ON_CPU_API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) { Alone alone; return destroyed(surface, true); }
