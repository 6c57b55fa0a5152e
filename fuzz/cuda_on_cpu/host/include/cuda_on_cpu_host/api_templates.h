// The C++ additions to the CUDA runtime API: pointers of any type, symbols by name, kernels by their own type.
#pragma once
#include "api.h"

inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags) { return cudaEventCreateWithFlags(event, flags); }

// CUDA_ON_CPU_INLINE: a function that a finding may name gets the place of its caller.

template <class T>
inline cudaError_t cudaMalloc(T **to, size_t bytes, CUDA_ON_CPU_LINE) {  // T may be const
  return cuda_on_cpu_allocate((void **)to, bytes, cuda_on_cpu_device_memory, line);
}
template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaMallocAsync(T **to, size_t bytes, cudaStream_t stream, CUDA_ON_CPU_LINE) {
  return cuda_on_cpu_allocate_on(reinterpret_cast<void **>(to), bytes, stream, line);
}
template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaMallocAsync(T **to, size_t bytes, cudaMemPool_t, cudaStream_t stream, CUDA_ON_CPU_LINE) {
  return cuda_on_cpu_allocate_on(reinterpret_cast<void **>(to), bytes, stream, line);
}
template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaMallocFromPoolAsync(T **to, size_t bytes, cudaMemPool_t, cudaStream_t stream, CUDA_ON_CPU_LINE) {
  return cuda_on_cpu_allocate_on(reinterpret_cast<void **>(to), bytes, stream, line);
}
// As in CUDA 13.
inline cudaError_t cudaMemPrefetchAsync(const void *memory, size_t bytes, cudaMemLocation, unsigned int, cudaStream_t stream = 0) {
  return cudaMemPrefetchAsync(memory, bytes, 0, stream);
}
inline cudaError_t cudaMemAdvise(const void *memory, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation) {
  return cudaMemAdvise(memory, bytes, advice, 0);
}
template <class T>
inline cudaError_t cudaMallocManaged(T **to, size_t bytes, unsigned int = cudaMemAttachGlobal, CUDA_ON_CPU_LINE) {
  return cuda_on_cpu_allocate(reinterpret_cast<void **>(to), bytes, cuda_on_cpu_managed_memory, line);
}
template <class T>
inline cudaError_t cudaMallocHost(T **to, size_t bytes, unsigned int = cudaHostAllocDefault, CUDA_ON_CPU_LINE) {
  return cuda_on_cpu_allocate(reinterpret_cast<void **>(to), bytes, cuda_on_cpu_pinned_memory, line);
}
template <class T>
inline cudaError_t cudaHostAlloc(T **to, size_t bytes, unsigned int, CUDA_ON_CPU_LINE) {
  return cuda_on_cpu_allocate(reinterpret_cast<void **>(to), bytes, cuda_on_cpu_pinned_memory, line);
}
template <class T>
inline cudaError_t cudaHostGetDevicePointer(T **to, void *memory, unsigned int) {
  return cuda_on_cpu_device_pointer(reinterpret_cast<void **>(to), memory);
}
template <class T>
inline cudaError_t cudaMallocPitch(T **to, size_t *pitch, size_t width, size_t height, CUDA_ON_CPU_LINE) {
  constexpr size_t row_alignment = 512;
  *pitch = (width + row_alignment - 1) / row_alignment * row_alignment;
  return cuda_on_cpu_allocate(reinterpret_cast<void **>(to), *pitch * height, cuda_on_cpu_device_memory, line);
}

inline cudaError_t cudaMalloc3D(cudaPitchedPtr *to, cudaExtent extent, CUDA_ON_CPU_LINE) {
  to->xsize = extent.width;
  to->ysize = extent.height;
  return cudaMallocPitch(&to->ptr, &to->pitch, extent.width, extent.height * extent.depth, line);
}

namespace cuda_on_cpu {
template <class T>
void *address_of(T &symbol) { return const_cast<void *>(static_cast<const volatile void *>(&symbol)); }
}  // namespace cuda_on_cpu
template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
                                      cudaMemcpyKind = cudaMemcpyHostToDevice, CUDA_ON_CPU_LINE) {
  return cuda_on_cpu_to_symbol(cuda_on_cpu::address_of(symbol), sizeof symbol, from, bytes, offset, nullptr, line);
}
template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t bytes, size_t offset, cudaMemcpyKind,
                                           cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {
  return cuda_on_cpu_to_symbol(cuda_on_cpu::address_of(symbol), sizeof symbol, from, bytes, offset, &stream, line);
}
template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                        cudaMemcpyKind = cudaMemcpyDeviceToHost, CUDA_ON_CPU_LINE) {
  return cuda_on_cpu_from_symbol(to, cuda_on_cpu::address_of(symbol), sizeof symbol, bytes, offset, nullptr, line);
}
template <class T>
CUDA_ON_CPU_INLINE cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t bytes, size_t offset, cudaMemcpyKind,
                                             cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {
  return cuda_on_cpu_from_symbol(to, cuda_on_cpu::address_of(symbol), sizeof symbol, bytes, offset, &stream, line);
}
template <class T>
inline cudaError_t cudaGetSymbolAddress(void **to, const T &symbol) {
  *to = cuda_on_cpu::address_of(symbol);
  return cudaSuccess;
}
template <class T>
inline cudaError_t cudaGetSymbolSize(size_t *bytes, const T &symbol) {
  *bytes = sizeof symbol;
  return cudaSuccess;
}

namespace cuda_on_cpu {
template <class... Parameter>
const void *address_of_kernel(void (*kernel)(Parameter...)) { return reinterpret_cast<const void *>(kernel); }
inline const void *address_of_kernel(const void *kernel) { return kernel; }
}  // namespace cuda_on_cpu

template <class Kernel>
inline cudaError_t cudaFuncSetAttribute(Kernel *kernel, cudaFuncAttribute attribute, int value) {
  return cuda_on_cpu_set_attribute(cuda_on_cpu::address_of_kernel(kernel), attribute, value);
}
template <class Kernel>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, Kernel *kernel) {
  return cuda_on_cpu_get_attributes(attributes, cuda_on_cpu::address_of_kernel(kernel));
}
template <class Kernel>
inline cudaError_t cudaFuncSetCacheConfig(Kernel *, cudaFuncCache) { return cudaSuccess; }
template <class Kernel>
inline cudaError_t cudaFuncSetSharedMemConfig(Kernel *, cudaSharedMemConfig) { return cudaSuccess; }
template <class Kernel>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel *kernel, int block, size_t shared) {
  return cuda_on_cpu_blocks_per_multiprocessor(blocks, cuda_on_cpu::address_of_kernel(kernel), block, shared);
}
template <class Kernel>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, Kernel *kernel, int block, size_t shared, unsigned int) {
  return cuda_on_cpu_blocks_per_multiprocessor(blocks, cuda_on_cpu::address_of_kernel(kernel), block, shared);
}
template <class Kernel>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, Kernel *kernel, size_t shared = 0, int most = 0) {
  *block = most && most < 1024 ? most : 1024;
  int blocks = 0, multiprocessors = 0;
  cuda_on_cpu_blocks_per_multiprocessor(&blocks, cuda_on_cpu::address_of_kernel(kernel), *block, shared);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  *grid = blocks * multiprocessors;
  return cudaSuccess;
}
template <class Kernel, class SharedOf>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block, Kernel *kernel, SharedOf shared_of, int most = 0) {
  for (int threads = most && most < 1024 ? most : 1024; threads >= 32; threads -= 32)
    if (cudaOccupancyMaxPotentialBlockSize(grid, block, kernel, shared_of(threads), threads) == cudaSuccess && *grid) return cudaSuccess;
  return cudaErrorInvalidValue;
}
