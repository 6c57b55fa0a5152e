// Textures and surfaces in device code. An element is read and written by plain accesses of its channels, which are checked
// like any other: bounds of the memory behind it, whether it is initialised and alive, and races.
//
// Filtering follows the CUDA programming guide: coordinates minus a half, weights of 8 fractional bits. How the hardware
// rounds beyond that is not specified.
#pragma once
#include <math.h>

#include "bits.h"
#include "language.h"
#include "texture_types.h"
#include "vectors.h"

// What is behind an object; ends the thread if there is no such object.
CUDA_ON_CPU_IMPORT void cuda_on_cpu_image(unsigned long long object, bool is_surface, cuda_on_cpu::Image *to, int line);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_outside_surface(int64_t bytes, bool writes, int line);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_misaligned_in_surface(const void *at, uint32_t bytes, int line);

namespace cuda_on_cpu {

// An element's channels: as a float, or as the bits that they are.
struct Texel {
  float value[4];
  uint32_t bits[4];
};

// Where a coordinate lies on an axis of `n` elements; -1: outside, where the border is read.
CUDA_ON_CPU_INLINE int64_t placed(int64_t i, int64_t n, cudaTextureAddressMode mode, bool normalised) {
  if (i >= 0 && i < n) return i;
  if (mode == cudaAddressModeBorder) return -1;
  if (normalised && mode == cudaAddressModeWrap) return ((i % n) + n) % n;
  if (normalised && mode == cudaAddressModeMirror) {
    int64_t in_two = ((i % (2 * n)) + 2 * n) % (2 * n);
    return in_two < n ? in_two : 2 * n - 1 - in_two;
  }
  return i < 0 ? 0 : n - 1;
}

CUDA_ON_CPU_INLINE Texel texel_at(const Image &image, int64_t x, int64_t y, int64_t z) {
  Texel texel = {};
  if (x < 0 || y < 0 || z < 0) {
    for (int c = 0; c < 4; c++) texel.value[c] = image.border[c], texel.bits[c] = from_bits<uint32_t>(to_bits(image.border[c]));
    return texel;
  }
  const char *at = image.at + z * image.slice + y * image.pitch + x * image.channels * image.bytes;
  bool is_signed = image.kind == cudaChannelFormatKindSigned;
  for (int c = 0; c < image.channels; c++, at += image.bytes) {
    uint32_t bits = image.bytes == 1 ? *reinterpret_cast<const uint8_t *>(at) : image.bytes == 2 ? *reinterpret_cast<const uint16_t *>(at) : *reinterpret_cast<const uint32_t *>(at);
    if (is_signed && image.bytes == 1) bits = static_cast<uint32_t>(static_cast<int8_t>(bits));
    if (is_signed && image.bytes == 2) bits = static_cast<uint32_t>(static_cast<int16_t>(bits));
    texel.bits[c] = bits;
    if (image.kind == cudaChannelFormatKindFloat) texel.value[c] = from_bits<float>(bits);
    if (!image.reads_as_fraction) continue;
    float most = image.bytes == 1 ? (is_signed ? 127.0f : 255.0f) : is_signed ? 32767.0f : 65535.0f;
    float fraction = (is_signed ? static_cast<float>(static_cast<int32_t>(bits)) : static_cast<float>(bits)) / most;
    texel.value[c] = fraction < -1 ? -1 : fraction;
  }
  return texel;
}

// A coordinate in elements, small enough for an integer; what is no number is 0.
CUDA_ON_CPU_INLINE double in_elements(float x, int64_t n, bool normalised) {
  double at = static_cast<double>(x) * (normalised ? static_cast<double>(n) : 1.0);
  return at != at ? 0 : at < -0x1p40 ? -0x1p40 : at > 0x1p40 ? 0x1p40 : at;
}

// The element that a coordinate reads, or the first of two, and the second's weight.
struct Sample {
  int64_t at[2];
  float weight[2];
};
CUDA_ON_CPU_INLINE Sample sample_of(const Image &image, int axis, float x, int64_t n) {
  double at = in_elements(x, n, image.is_normalised);
  auto place = [&](int64_t i) { return placed(i, n, image.address[axis], image.is_normalised); };
  if (!image.filters) return {{place(static_cast<int64_t>(floor(at))), 0}, {1, 0}};
  double first = floor(at - 0.5), weight = floor((at - 0.5 - first) * 256 + 0.5) / 256;
  return {{place(static_cast<int64_t>(first)), place(static_cast<int64_t>(first) + 1)},
          {static_cast<float>(1 - weight), static_cast<float>(weight)}};
}

template <class T>
CUDA_ON_CPU_INLINE T made_of(const Texel &texel, const Image &image) {
  using Scalar = typename Channels<T>::Scalar;
  Scalar channel[Channels<T>::count];
  for (int c = 0; c < Channels<T>::count; c++) {
    bool as_float = image.filters || image.reads_as_fraction || image.kind == cudaChannelFormatKindFloat;
    if constexpr (std::is_same_v<Scalar, float>)
      channel[c] = as_float ? texel.value[c] : from_bits<float>(texel.bits[c]);
    else
      channel[c] = static_cast<Scalar>(texel.bits[c]);
  }
  T value;
  __builtin_memcpy(static_cast<void *>(&value), channel, sizeof value);
  return value;
}

constexpr Sample single = {{0, 0}, {1, 0}};

// An element whose weight is 0 is not read.
template <class T>
CUDA_ON_CPU_INLINE T fetched(const Image &image, const Sample &x, const Sample &y, const Sample &z) {
  if (!image.filters) return made_of<T>(texel_at(image, x.at[0], y.at[0], z.at[0]), image);
  Texel sum = {};
  for (int k = 0; k < 2; k++)
    for (int j = 0; j < 2; j++)
      for (int i = 0; i < 2; i++) {
        float weight = x.weight[i] * y.weight[j] * z.weight[k];
        if (weight == 0) continue;
        Texel one = texel_at(image, x.at[i], y.at[j], z.at[k]);
        for (int c = 0; c < 4; c++) sum.value[c] += weight * one.value[c];
      }
  return made_of<T>(sum, image);
}

CUDA_ON_CPU_INLINE Image texture_of(cudaTextureObject_t object, int line) {
  Image image;
  cuda_on_cpu_image(object, false, &image, line);
  return image;
}
CUDA_ON_CPU_INLINE Sample layer_of(const Image &image, int layer) {
  return {{layer < 0 ? 0 : layer >= image.depth ? image.depth - 1 : layer, 0}, {1, 0}};
}

// An element of a surface: null where nothing is to be done.
template <class T>
CUDA_ON_CPU_INLINE T *element_of(cudaSurfaceObject_t surface, int64_t x, int64_t y, int64_t z, bool writes, cudaSurfaceBoundaryMode mode, int line) {
  Image image;
  cuda_on_cpu_image(surface, true, &image, line);
  int64_t last = image.width * image.channels * image.bytes - static_cast<int64_t>(sizeof(T));
  auto is_in = [](int64_t i, int64_t most) { return i >= 0 && i <= most; };
  if (!is_in(x, last) || !is_in(y, image.height - 1) || !is_in(z, image.depth - 1)) {
    if (mode == cudaBoundaryModeTrap) cuda_on_cpu_outside_surface(sizeof(T), writes, line);
    if (mode != cudaBoundaryModeClamp) return nullptr;
    auto clamped = [](int64_t i, int64_t most) { return i < 0 ? 0 : i > most ? most : i; };
    x = clamped(x, last), y = clamped(y, image.height - 1), z = clamped(z, image.depth - 1);
  }
  char *at = image.at + z * image.slice + y * image.pitch + x;
  if (x % static_cast<int64_t>(sizeof(T))) cuda_on_cpu_misaligned_in_surface(at, sizeof(T), line);
  return reinterpret_cast<T *>(at);
}
template <class T>
CUDA_ON_CPU_INLINE T read_surface(cudaSurfaceObject_t surface, int64_t x, int64_t y, int64_t z, cudaSurfaceBoundaryMode mode, int line) {
  T value = {};
  if (T *at = element_of<T>(surface, x, y, z, false, mode, line)) value = *at;
  return value;
}
template <class T>
CUDA_ON_CPU_INLINE void write_surface(T value, cudaSurfaceObject_t surface, int64_t x, int64_t y, int64_t z, cudaSurfaceBoundaryMode mode, int line) {
  if (T *at = element_of<T>(surface, x, y, z, true, mode, line)) *at = value;
}

}  // namespace cuda_on_cpu

// Beyond linear memory a fetch reads 0, as on a GPU.
template <class T>
CUDA_ON_CPU_INLINE T tex1Dfetch(cudaTextureObject_t texture, int i, CUDA_ON_CPU_LINE) {
  cuda_on_cpu::Image image = cuda_on_cpu::texture_of(texture, line);
  if (i < 0 || i >= image.width) return T{};
  return cuda_on_cpu::made_of<T>(cuda_on_cpu::texel_at(image, i, 0, 0), image);
}
// Each also with its result as the first argument, from which the type is taken.
#define CUDA_ON_CPU_FETCH(name, parameters, arguments, x, y, z)                                       \
  template <class T>                                                                                  \
  CUDA_ON_CPU_INLINE T name(cudaTextureObject_t texture, CUDA_ON_CPU_EACH parameters, CUDA_ON_CPU_LINE) {  \
    using namespace cuda_on_cpu;                                                                      \
    Image image = texture_of(texture, line);                                                          \
    return fetched<T>(image, x, y, z);                                                                \
  }                                                                                                   \
  template <class T>                                                                                  \
  CUDA_ON_CPU_INLINE void name(T *to, cudaTextureObject_t texture, CUDA_ON_CPU_EACH parameters, CUDA_ON_CPU_LINE) { \
    *to = name<T>(texture, CUDA_ON_CPU_EACH arguments, line);                                         \
  }
#define CUDA_ON_CPU_EACH(...) __VA_ARGS__
#define CUDA_ON_CPU_X sample_of(image, 0, x, image.width)
#define CUDA_ON_CPU_Y sample_of(image, 1, y, image.height)
#define CUDA_ON_CPU_Z sample_of(image, 2, z, image.depth)
CUDA_ON_CPU_FETCH(tex1D, (float x), (x), CUDA_ON_CPU_X, single, single)
CUDA_ON_CPU_FETCH(tex2D, (float x, float y), (x, y), CUDA_ON_CPU_X, CUDA_ON_CPU_Y, single)
CUDA_ON_CPU_FETCH(tex3D, (float x, float y, float z), (x, y, z), CUDA_ON_CPU_X, CUDA_ON_CPU_Y, CUDA_ON_CPU_Z)
CUDA_ON_CPU_FETCH(tex1DLod, (float x, float), (x, 0), CUDA_ON_CPU_X, single, single)
CUDA_ON_CPU_FETCH(tex2DLod, (float x, float y, float), (x, y, 0), CUDA_ON_CPU_X, CUDA_ON_CPU_Y, single)
CUDA_ON_CPU_FETCH(tex3DLod, (float x, float y, float z, float), (x, y, z, 0), CUDA_ON_CPU_X, CUDA_ON_CPU_Y, CUDA_ON_CPU_Z)
CUDA_ON_CPU_FETCH(tex1DLayered, (float x, int layer), (x, layer), CUDA_ON_CPU_X, single, layer_of(image, layer))
CUDA_ON_CPU_FETCH(tex2DLayered, (float x, float y, int layer), (x, y, layer), CUDA_ON_CPU_X, CUDA_ON_CPU_Y, layer_of(image, layer))

namespace cuda_on_cpu {
// The face of a cube that a direction meets, and the place on it: the table of the CUDA programming guide. Of two axes of
// equal size the earlier counts.
struct OnCube {
  int face;
  float x, y;  // in [0, 1]
};
CUDA_ON_CPU_INLINE OnCube on_cube(float x, float y, float z) {
  float ax = fabsf(x), ay = fabsf(y), az = fabsf(z), most = ax, s = x < 0 ? z : -z, t = -y;
  int face = x < 0 ? 1 : 0;
  if (ay > ax && ay >= az) most = ay, face = y < 0 ? 3 : 2, s = x, t = y < 0 ? -z : z;
  if (az > ax && az > ay) most = az, face = z < 0 ? 5 : 4, s = z < 0 ? -x : x, t = -y;
  return {face, (s / most + 1) / 2, (t / most + 1) / 2};
}
template <class T>
CUDA_ON_CPU_INLINE T fetched_of_cube(Image image, const OnCube &at, int layer) {
  image.is_normalised = true;
  int layers = static_cast<int>(image.depth / 6);
  layer = layer >= layers ? layers - 1 : layer;
  Sample slice = {{(layer < 0 ? 0 : layer) * 6 + at.face, 0}, {1, 0}};
  return fetched<T>(image, sample_of(image, 0, at.x, image.width), sample_of(image, 1, at.y, image.height), slice);
}
}  // namespace cuda_on_cpu
#define CUDA_ON_CPU_CUBE(name, parameters, arguments, layer)                                          \
  template <class T>                                                                                  \
  CUDA_ON_CPU_INLINE T name(cudaTextureObject_t texture, float x, float y, float z CUDA_ON_CPU_EACH parameters, CUDA_ON_CPU_LINE) { \
    using namespace cuda_on_cpu;                                                                      \
    return fetched_of_cube<T>(texture_of(texture, line), on_cube(x, y, z), layer);                    \
  }                                                                                                   \
  template <class T>                                                                                  \
  CUDA_ON_CPU_INLINE void name(T *to, cudaTextureObject_t texture, float x, float y, float z CUDA_ON_CPU_EACH parameters, CUDA_ON_CPU_LINE) { \
    *to = name<T>(texture, x, y, z CUDA_ON_CPU_EACH arguments, line);                                 \
  }
CUDA_ON_CPU_CUBE(texCubemap, (), (), 0)
CUDA_ON_CPU_CUBE(texCubemapLod, (, float), (, 0.0f), 0)
CUDA_ON_CPU_CUBE(texCubemapLayered, (, int layer), (, layer), layer)
CUDA_ON_CPU_CUBE(texCubemapLayeredLod, (, int layer, float), (, layer, 0.0f), layer)
#undef CUDA_ON_CPU_CUBE
#undef CUDA_ON_CPU_FETCH
#undef CUDA_ON_CPU_X
#undef CUDA_ON_CPU_Y
#undef CUDA_ON_CPU_Z

// x counts bytes.
#define CUDA_ON_CPU_SURFACE(read, write, parameters, arguments)                                                                        \
  template <class T>                                                                                                                   \
  CUDA_ON_CPU_INLINE T read(cudaSurfaceObject_t surface, CUDA_ON_CPU_EACH parameters, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, CUDA_ON_CPU_LINE) { \
    return cuda_on_cpu::read_surface<T>(surface, CUDA_ON_CPU_EACH arguments, mode, line);                                              \
  }                                                                                                                                    \
  template <class T>                                                                                                                   \
  CUDA_ON_CPU_INLINE void read(T *to, cudaSurfaceObject_t surface, CUDA_ON_CPU_EACH parameters,                                        \
                               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, CUDA_ON_CPU_LINE) {                                \
    *to = cuda_on_cpu::read_surface<T>(surface, CUDA_ON_CPU_EACH arguments, mode, line);                                               \
  }                                                                                                                                    \
  template <class T>                                                                                                                   \
  CUDA_ON_CPU_INLINE void write(T value, cudaSurfaceObject_t surface, CUDA_ON_CPU_EACH parameters,                                     \
                                cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, CUDA_ON_CPU_LINE) {                               \
    cuda_on_cpu::write_surface<T>(value, surface, CUDA_ON_CPU_EACH arguments, mode, line);                                             \
  }
CUDA_ON_CPU_SURFACE(surf1Dread, surf1Dwrite, (int x), (x, 0, 0))
CUDA_ON_CPU_SURFACE(surf2Dread, surf2Dwrite, (int x, int y), (x, y, 0))
CUDA_ON_CPU_SURFACE(surf3Dread, surf3Dwrite, (int x, int y, int z), (x, y, z))
CUDA_ON_CPU_SURFACE(surfCubemapread, surfCubemapwrite, (int x, int y, int face), (x, y, face))
CUDA_ON_CPU_SURFACE(surfCubemapLayeredread, surfCubemapLayeredwrite, (int x, int y, int layer_and_face), (x, y, layer_and_face))
CUDA_ON_CPU_SURFACE(surf1DLayeredread, surf1DLayeredwrite, (int x, int layer), (x, 0, layer))
CUDA_ON_CPU_SURFACE(surf2DLayeredread, surf2DLayeredwrite, (int x, int y, int layer), (x, y, layer))
#undef CUDA_ON_CPU_SURFACE
#undef CUDA_ON_CPU_EACH
