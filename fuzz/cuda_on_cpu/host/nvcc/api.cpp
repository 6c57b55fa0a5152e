// CUDA's runtime API with NVIDIA's parameters: the functions to which ours add the line of the call, or which take the name
// of a kernel or a variable.
#include "../include/cuda_on_cpu_host/arrays.h"
#include "nvcc.h"

using namespace cuda_on_cpu;

using Kind = cudaMemcpyKind;
using Stream = cudaStream_t;

NVCC(cudaMalloc)(void **to, size_t bytes) { return cuda_on_cpu_allocate(to, bytes, cuda_on_cpu_device_memory, CALL_LINE); }
NVCC(cudaMallocManaged)(void **to, size_t bytes, unsigned int) { return cuda_on_cpu_allocate(to, bytes, cuda_on_cpu_managed_memory, CALL_LINE); }
NVCC(cudaMallocHost)(void **to, size_t bytes) { return cuda_on_cpu_allocate(to, bytes, cuda_on_cpu_pinned_memory, CALL_LINE); }
NVCC(cudaHostAlloc)(void **to, size_t bytes, unsigned int) { return cuda_on_cpu_allocate(to, bytes, cuda_on_cpu_pinned_memory, CALL_LINE); }
NVCC(cudaMallocAsync)(void **to, size_t bytes, Stream stream) { return cuda_on_cpu_allocate_on(to, bytes, stream, CALL_LINE); }
NVCC(cudaMallocFromPoolAsync)(void **to, size_t bytes, cudaMemPool_t, Stream stream) { return cuda_on_cpu_allocate_on(to, bytes, stream, CALL_LINE); }
static cudaError_t allocate_rows(void **to, size_t *pitch, size_t width, size_t rows, int line) {
  constexpr size_t row_alignment = 512;
  *pitch = (width + row_alignment - 1) / row_alignment * row_alignment;
  return cuda_on_cpu_allocate(to, *pitch * rows, cuda_on_cpu_device_memory, line);
}
NVCC(cudaMallocPitch)(void **to, size_t *pitch, size_t width, size_t height) { return allocate_rows(to, pitch, width, height, CALL_LINE); }
NVCC(cudaMalloc3D)(cudaPitchedPtr *to, cudaExtent extent) {
  to->xsize = extent.width;
  to->ysize = extent.height;
  return allocate_rows(&to->ptr, &to->pitch, extent.width, extent.height * extent.depth, CALL_LINE);
}
NVCC(cudaFree)(void *memory) { return cudaFree(memory, CALL_LINE); }
NVCC(cudaFreeHost)(void *memory) { return cudaFreeHost(memory, CALL_LINE); }
NVCC(cudaFreeAsync)(void *memory, Stream stream) { return cudaFreeAsync(memory, stream, CALL_LINE); }
NVCC(cudaHostGetDevicePointer)(void **to, void *memory, unsigned int) { return cuda_on_cpu_device_pointer(to, memory); }

NVCC(cudaMemcpy)(void *to, const void *from, size_t bytes, Kind kind) { return cudaMemcpy(to, from, bytes, kind, CALL_LINE); }
NVCC(cudaMemcpyAsync)(void *to, const void *from, size_t bytes, Kind kind, Stream stream) { return cudaMemcpyAsync(to, from, bytes, kind, stream, CALL_LINE); }
NVCC(cudaMemcpy2D)(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, Kind kind) {
  return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind, CALL_LINE);
}
NVCC(cudaMemcpy2DAsync)(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, Kind kind, Stream stream) {
  return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, stream, CALL_LINE);
}
NVCC(cudaMemcpy3D)(const cudaMemcpy3DParms *asked) { return cudaMemcpy3D(asked, CALL_LINE); }
NVCC(cudaMemcpy3DAsync)(const cudaMemcpy3DParms *asked, Stream stream) { return cudaMemcpy3DAsync(asked, stream, CALL_LINE); }
NVCC(cudaMemcpyPeer)(void *to, int to_device, const void *from, int from_device, size_t bytes) {
  return cudaMemcpyPeer(to, to_device, from, from_device, bytes, CALL_LINE);
}
NVCC(cudaMemcpyPeerAsync)(void *to, int to_device, const void *from, int from_device, size_t bytes, Stream stream) {
  return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream, CALL_LINE);
}
NVCC(cudaMemset)(void *to, int value, size_t bytes) { return cudaMemset(to, value, bytes, CALL_LINE); }
NVCC(cudaMemsetAsync)(void *to, int value, size_t bytes, Stream stream) { return cudaMemsetAsync(to, value, bytes, stream, CALL_LINE); }
NVCC(cudaMemset2D)(void *to, size_t pitch, int value, size_t width, size_t height) { return cudaMemset2D(to, pitch, value, width, height, CALL_LINE); }
NVCC(cudaMemset2DAsync)(void *to, size_t pitch, int value, size_t width, size_t height, Stream stream) {
  return cudaMemset2DAsync(to, pitch, value, width, height, stream, CALL_LINE);
}
NVCC(cudaMemset3D)(cudaPitchedPtr to, int value, cudaExtent extent) { return cudaMemset3D(to, value, extent, CALL_LINE); }
NVCC(cudaMemset3DAsync)(cudaPitchedPtr to, int value, cudaExtent extent, Stream stream) { return cudaMemset3DAsync(to, value, extent, stream, CALL_LINE); }

static cudaError_t to_variable(const void *named, const void *from, size_t bytes, size_t offset, const Stream *stream, int line) {
  size_t room = 0;
  void *at = variable_of(named, &room);
  return at ? cuda_on_cpu_to_symbol(at, room, from, bytes, offset, stream, line) : cudaErrorInvalidSymbol;
}
static cudaError_t from_variable(void *to, const void *named, size_t bytes, size_t offset, const Stream *stream, int line) {
  size_t room = 0;
  const void *at = variable_of(named, &room);
  return at ? cuda_on_cpu_from_symbol(to, at, room, bytes, offset, stream, line) : cudaErrorInvalidSymbol;
}
NVCC(cudaMemcpyToSymbol)(const void *named, const void *from, size_t bytes, size_t offset, Kind) {
  return to_variable(named, from, bytes, offset, nullptr, CALL_LINE);
}
NVCC(cudaMemcpyToSymbolAsync)(const void *named, const void *from, size_t bytes, size_t offset, Kind, Stream stream) {
  return to_variable(named, from, bytes, offset, &stream, CALL_LINE);
}
NVCC(cudaMemcpyFromSymbol)(void *to, const void *named, size_t bytes, size_t offset, Kind) {
  return from_variable(to, named, bytes, offset, nullptr, CALL_LINE);
}
NVCC(cudaMemcpyFromSymbolAsync)(void *to, const void *named, size_t bytes, size_t offset, Kind, Stream stream) {
  return from_variable(to, named, bytes, offset, &stream, CALL_LINE);
}
NVCC(cudaGetSymbolAddress)(void **to, const void *named) {
  *to = variable_of(named);
  return *to ? cudaSuccess : cudaErrorInvalidSymbol;
}
NVCC(cudaGetSymbolSize)(size_t *bytes, const void *named) { return variable_of(named, bytes) ? cudaSuccess : cudaErrorInvalidSymbol; }

// Where managed memory lies changes nothing here; the parameters after the first differ between toolkits.
NVCC(cudaMemPrefetchAsync)(const void *) { return cudaSuccess; }
NVCC(cudaMemAdvise)(const void *) { return cudaSuccess; }

NVCC(cudaFuncSetAttribute)(const void *named, cudaFuncAttribute attribute, int value) { return cuda_on_cpu_set_attribute(kernel_of(named), attribute, value); }
NVCC(cudaFuncGetAttributes)(cudaFuncAttributes *attributes, const void *named) { return cuda_on_cpu_get_attributes(attributes, kernel_of(named)); }
NVCC(cudaFuncSetCacheConfig)(const void *, cudaFuncCache) { return cudaSuccess; }
NVCC(cudaFuncSetSharedMemConfig)(const void *, cudaSharedMemConfig) { return cudaSuccess; }
NVCC(cudaOccupancyMaxActiveBlocksPerMultiprocessor)(int *blocks, const void *named, int block, size_t shared) {
  return cuda_on_cpu_blocks_per_multiprocessor(blocks, kernel_of(named), block, shared);
}
NVCC(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(int *blocks, const void *named, int block, size_t shared, unsigned int) {
  return cuda_on_cpu_blocks_per_multiprocessor(blocks, kernel_of(named), block, shared);
}

NVCC(cudaGraphInstantiate)(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) { return cuda_on_cpu_instantiate(exec, graph, flags); }
NVCC(cudaGraphLaunch)(cudaGraphExec_t exec, Stream stream) { return cudaGraphLaunch(exec, stream, CALL_LINE); }
