// CUDA's types of textures and surfaces, and what the cpu device keeps of such an object.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "vectors.h"

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
typedef struct cudaArray *cudaArray_t;
typedef const struct cudaArray *cudaArray_const_t;

enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned,
  cudaChannelFormatKindUnsigned,
  cudaChannelFormatKindFloat,
  cudaChannelFormatKindNone
};
struct cudaChannelFormatDesc {
  int x, y, z, w;
  enum cudaChannelFormatKind f;
};
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
enum cudaResourceType { cudaResourceTypeArray, cudaResourceTypeMipmappedArray, cudaResourceTypeLinear, cudaResourceTypePitch2D };
struct cudaResourceDesc {
  enum cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      void *devPtr;
      struct cudaChannelFormatDesc desc;
      size_t sizeInBytes;
    } linear;
    struct {
      void *devPtr;
      struct cudaChannelFormatDesc desc;
      size_t width, height, pitchInBytes;
    } pitch2D;
  } res;
};
struct cudaResourceViewDesc;
struct cudaTextureDesc {
  enum cudaTextureAddressMode addressMode[3];
  enum cudaTextureFilterMode filterMode;
  enum cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned int maxAnisotropy;
  enum cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, seamlessCubemap;
};
#define cudaArrayDefault 0
#define cudaArrayLayered 1
#define cudaArraySurfaceLoadStore 2
#define cudaArrayCubemap 4
#define cudaArrayTextureGather 8

namespace cuda_on_cpu {

// The channels of a type: one scalar, or a vector's.
template <class T>
struct Channels {
  using Scalar = T;
  static constexpr int count = 1;
};
#define CUDA_ON_CPU_CHANNELS(scalar, name)                                  \
  template <> struct Channels<name##1> { using Scalar = scalar; static constexpr int count = 1; }; \
  template <> struct Channels<name##2> { using Scalar = scalar; static constexpr int count = 2; }; \
  template <> struct Channels<name##4> { using Scalar = scalar; static constexpr int count = 4; };
CUDA_ON_CPU_CHANNELS(signed char, char)
CUDA_ON_CPU_CHANNELS(unsigned char, uchar)
CUDA_ON_CPU_CHANNELS(short, short)
CUDA_ON_CPU_CHANNELS(unsigned short, ushort)
CUDA_ON_CPU_CHANNELS(int, int)
CUDA_ON_CPU_CHANNELS(unsigned int, uint)
CUDA_ON_CPU_CHANNELS(float, float)
#undef CUDA_ON_CPU_CHANNELS

// Elements of equal size, in rows and slices (or layers), and how a texture reads them.
struct Image {
  char *at;
  int64_t width, height, depth;  // at least 1
  int64_t pitch, slice;          // in bytes
  int channels, bytes;           // of a channel: 1, 2 or 4
  cudaChannelFormatKind kind;
  bool is_linear_memory;
  cudaTextureAddressMode address[3];
  bool filters, is_normalised, reads_as_fraction;
  float border[4];
};

}  // namespace cuda_on_cpu
