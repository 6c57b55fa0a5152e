// CUDA arrays, and the objects through which kernels read and write them: the host's functions (../../textures.cpp).
#pragma once
#include "../../../include/cuda_on_cpu/texture_types.h"
#include "api.h"

CUDA_ON_CPU_IMPORT cudaChannelFormatDesc cuda_on_cpu_channels(int x, int y, int z, int w, cudaChannelFormatKind kind);
CUDA_ON_CPU_INLINE cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return cuda_on_cpu_channels(x, y, z, w, kind);
}
CUDA_ON_CPU_RUNTIME cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *channels, size_t width, size_t height = 0,
                                    unsigned int flags = 0, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *channels, cudaExtent extent,
                                      unsigned int flags = 0, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cudaFreeArray(cudaArray_t array, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cudaArrayGetInfo(cudaChannelFormatDesc *channels, cudaExtent *extent, unsigned int *flags, cudaArray_t array);
CUDA_ON_CPU_RUNTIME cudaGetChannelDesc(cudaChannelFormatDesc *channels, cudaArray_const_t array);

CUDA_ON_CPU_RUNTIME cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes, cudaMemcpyKind kind, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height,
                                        cudaMemcpyKind kind, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,
                                          cudaMemcpyKind kind, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                             size_t height, cudaMemcpyKind kind, cudaStream_t stream = 0, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                               size_t height, cudaMemcpyKind kind, cudaStream_t stream = 0, CUDA_ON_CPU_LINE);

CUDA_ON_CPU_RUNTIME cudaCreateTextureObject(cudaTextureObject_t *texture, const cudaResourceDesc *resource, const cudaTextureDesc *how,
                                            const cudaResourceViewDesc *view, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cudaDestroyTextureObject(cudaTextureObject_t texture);
CUDA_ON_CPU_RUNTIME cudaCreateSurfaceObject(cudaSurfaceObject_t *surface, const cudaResourceDesc *resource);
CUDA_ON_CPU_RUNTIME cudaDestroySurfaceObject(cudaSurfaceObject_t surface);

namespace cuda_on_cpu {
template <class Scalar>
constexpr cudaChannelFormatKind channel_kind() {
  if (Scalar(0.5) != Scalar(0)) return cudaChannelFormatKindFloat;
  return Scalar(-1) < Scalar(0) ? cudaChannelFormatKindSigned : cudaChannelFormatKindUnsigned;
}
}  // namespace cuda_on_cpu
template <class T>
inline cudaChannelFormatDesc cudaCreateChannelDesc() {
  using Own = cuda_on_cpu::Channels<T>;
  constexpr int bits = 8 * sizeof(typename Own::Scalar), count = Own::count;
  return {bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0, cuda_on_cpu::channel_kind<typename Own::Scalar>()};
}
