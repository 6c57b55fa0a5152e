// The device that host functions see: an H200, with the limits that launches have to meet. Two numbers are smaller. The L2
// cache has 4 MB of 60, since programs write as much between any two measurements; memory is what there is here.
#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "../runtime/arena.h"
#include "../runtime/block.h"
#include "host.h"

using namespace cuda_on_cpu;

namespace {

struct Attribute {
  cudaDeviceAttr attribute;
  int value;
};

constexpr int kilobyte = 1024;
const Attribute attributes[] = {
    {cudaDevAttrMaxThreadsPerBlock, 1024},
    {cudaDevAttrMaxBlockDimX, 1024},
    {cudaDevAttrMaxBlockDimY, 1024},
    {cudaDevAttrMaxBlockDimZ, 64},
    {cudaDevAttrMaxGridDimX, 0x7fffffff},
    {cudaDevAttrMaxGridDimY, 65535},
    {cudaDevAttrMaxGridDimZ, 65535},
    {cudaDevAttrMaxSharedMemoryPerBlock, 48 * kilobyte},
    {cudaDevAttrTotalConstantMemory, 64 * kilobyte},
    {cudaDevAttrWarpSize, 32},
    {cudaDevAttrMaxRegistersPerBlock, 65536},
    {cudaDevAttrClockRate, 1980000},
    {cudaDevAttrIntegrated, 0},
    {cudaDevAttrCanMapHostMemory, 1},
    {cudaDevAttrComputeMode, cudaComputeModeDefault},
    {cudaDevAttrConcurrentKernels, 1},
    {cudaDevAttrMemoryClockRate, 3201000},
    {cudaDevAttrGlobalMemoryBusWidth, 6144},
    {cudaDevAttrL2CacheSize, 4096 * kilobyte},
    {cudaDevAttrMaxThreadsPerMultiProcessor, 2048},
    {cudaDevAttrUnifiedAddressing, 1},
    {cudaDevAttrComputeCapabilityMajor, 9},
    {cudaDevAttrComputeCapabilityMinor, 0},
    {cudaDevAttrMaxSharedMemoryPerMultiprocessor, 228 * kilobyte},
    {cudaDevAttrMaxRegistersPerMultiprocessor, 65536},
    {cudaDevAttrManagedMemory, 1},
    {cudaDevAttrConcurrentManagedAccess, 1},
    {cudaDevAttrCooperativeLaunch, 1},
    {cudaDevAttrMaxSharedMemoryPerBlockOptin, 227 * kilobyte},
    {cudaDevAttrMaxBlocksPerMultiprocessor, 32},
    {cudaDevAttrMemoryPoolsSupported, 1},
    {cudaDevAttrIpcEventSupport, 0},
    {cudaDevAttrMaxPitch, 0x7fffffff},
    {cudaDevAttrTextureAlignment, 512},
    {cudaDevAttrGpuOverlap, 1},
    {cudaDevAttrKernelExecTimeout, 0},
    {cudaDevAttrEccEnabled, 0},
    {cudaDevAttrPciBusId, 0},
    {cudaDevAttrPciDeviceId, 0},
    {cudaDevAttrPciDomainId, 0},
    {cudaDevAttrTccDriver, 0},
    {cudaDevAttrAsyncEngineCount, 3},
    {cudaDevAttrStreamPrioritiesSupported, 1},
    {cudaDevAttrGlobalL1CacheSupported, 1},
    {cudaDevAttrLocalL1CacheSupported, 1},
    {cudaDevAttrIsMultiGpuBoard, 0},
    {cudaDevAttrHostNativeAtomicSupported, 0},
    {cudaDevAttrSingleToDoublePrecisionPerfRatio, 2},
    {cudaDevAttrPageableMemoryAccess, 0},
    {cudaDevAttrComputePreemptionSupported, 1},
    {cudaDevAttrCanUseHostPointerForRegisteredMem, 1},
    {cudaDevAttrHostRegisterSupported, 1},
    {cudaDevAttrPageableMemoryAccessUsesHostPageTables, 0},
    {cudaDevAttrDirectManagedMemAccessFromHost, 0},
};

int multiprocessors() {
  run->asks_multiprocessors = 1;
  return static_cast<int>(run->multiprocessors ? run->multiprocessors : usual_multiprocessors);
}

int value_of(cudaDeviceAttr attribute) {
  if (attribute == cudaDevAttrMultiProcessorCount) return multiprocessors();
  for (const Attribute &one : attributes)
    if (one.attribute == attribute) return one.value;
  return -1;
}

// As documented for compute capability 9.0.
void set_sizes_of_textures(cudaDeviceProp &p) {
  constexpr int side1 = 131072, side2 = 65536, side3 = 16384, side_of_layers = 32768, layers = 2048, layers_of_cubes = 2046;
  constexpr int linear1 = 1 << 28;
  p.textureAlignment = p.surfaceAlignment = 512;
  p.texturePitchAlignment = 32;
  p.maxTexture1D = p.maxTexture2D[0] = side1;
  p.maxTexture2D[1] = side2;
  p.maxTexture1DMipmap = p.maxTexture2DMipmap[0] = p.maxTexture2DMipmap[1] = side_of_layers;
  p.maxTexture1DLinear = linear1;
  p.maxTexture2DLinear[0] = p.maxTexture2DLinear[1] = side1;
  p.maxTexture2DLinear[2] = 2 * (1 << 20);
  p.maxTexture2DGather[0] = p.maxTexture2DGather[1] = side_of_layers;
  for (int axis = 0; axis < 3; axis++) p.maxTexture3D[axis] = p.maxSurface3D[axis] = side3;
  p.maxTexture3DAlt[0] = p.maxTexture3DAlt[1] = side3 / 2;
  p.maxTexture3DAlt[2] = 2 * side3;
  p.maxTextureCubemap = p.maxTextureCubemapLayered[0] = p.maxSurfaceCubemap = p.maxSurfaceCubemapLayered[0] = side_of_layers;
  p.maxTextureCubemapLayered[1] = p.maxSurfaceCubemapLayered[1] = layers_of_cubes;
  for (int *size : {p.maxTexture1DLayered, p.maxTexture2DLayered, p.maxTexture2DLayered + 1, p.maxSurface1DLayered, p.maxSurface2DLayered, p.maxSurface2DLayered + 1})
    *size = side_of_layers;
  p.maxTexture1DLayered[1] = p.maxTexture2DLayered[2] = p.maxSurface1DLayered[1] = p.maxSurface2DLayered[2] = layers;
  p.maxSurface1D = side_of_layers;
  p.maxSurface2D[0] = side1;
  p.maxSurface2D[1] = side2;
}

cudaError_t first_device(int device) { return device ? returns(cudaErrorInvalidDevice) : cudaSuccess; }

}  // namespace

CUDA_ON_CPU_API cudaError_t cudaGetDeviceCount(int *count) {
  Alone alone;
  *count = 1;
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaGetDevice(int *device) {
  Alone alone;
  *device = 0;
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaSetDevice(int device) { Alone alone; return first_device(device); }
CUDA_ON_CPU_API cudaError_t cudaSetDeviceFlags(unsigned int) { Alone alone; return cudaSuccess; }

CUDA_ON_CPU_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device) {
  Alone alone;
  if (device) return returns(cudaErrorInvalidDevice);
  *p = {};
  strcpy(p->name, "kfuzz cpu device");
  p->totalGlobalMem = memory_of_device();
  p->sharedMemPerBlock = static_cast<size_t>(value_of(cudaDevAttrMaxSharedMemoryPerBlock));
  p->sharedMemPerBlockOptin = static_cast<size_t>(value_of(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  p->sharedMemPerMultiprocessor = static_cast<size_t>(value_of(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
  p->regsPerBlock = p->regsPerMultiprocessor = value_of(cudaDevAttrMaxRegistersPerBlock);
  p->warpSize = value_of(cudaDevAttrWarpSize);
  p->memPitch = 0x7fffffff;
  p->maxThreadsPerBlock = value_of(cudaDevAttrMaxThreadsPerBlock);
  p->maxThreadsDim[0] = value_of(cudaDevAttrMaxBlockDimX);
  p->maxThreadsDim[1] = value_of(cudaDevAttrMaxBlockDimY);
  p->maxThreadsDim[2] = value_of(cudaDevAttrMaxBlockDimZ);
  p->maxGridSize[0] = value_of(cudaDevAttrMaxGridDimX);
  p->maxGridSize[1] = value_of(cudaDevAttrMaxGridDimY);
  p->maxGridSize[2] = value_of(cudaDevAttrMaxGridDimZ);
  p->clockRate = value_of(cudaDevAttrClockRate);
  p->totalConstMem = static_cast<size_t>(value_of(cudaDevAttrTotalConstantMemory));
  p->major = value_of(cudaDevAttrComputeCapabilityMajor);
  p->minor = value_of(cudaDevAttrComputeCapabilityMinor);
  p->multiProcessorCount = value_of(cudaDevAttrMultiProcessorCount);
  p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = p->managedMemory = p->concurrentManagedAccess = p->cooperativeLaunch = 1;
  p->memoryClockRate = value_of(cudaDevAttrMemoryClockRate);
  p->memoryBusWidth = value_of(cudaDevAttrGlobalMemoryBusWidth);
  p->l2CacheSize = value_of(cudaDevAttrL2CacheSize);
  p->maxThreadsPerMultiProcessor = value_of(cudaDevAttrMaxThreadsPerMultiProcessor);
  p->maxBlocksPerMultiProcessor = value_of(cudaDevAttrMaxBlocksPerMultiprocessor);
  p->asyncEngineCount = value_of(cudaDevAttrAsyncEngineCount);
  p->globalL1CacheSupported = p->localL1CacheSupported = p->streamPrioritiesSupported = p->deviceOverlap = 1;
  p->computePreemptionSupported = p->canUseHostPointerForRegisteredMem = p->hostRegisterSupported = p->memoryPoolsSupported = p->clusterLaunch = 1;
  p->singleToDoublePrecisionPerfRatio = value_of(cudaDevAttrSingleToDoublePrecisionPerfRatio);
  p->reservedSharedMemPerBlock = kilobyte;
  p->persistingL2CacheMaxSize = p->accessPolicyMaxWindowSize = 2048 * kilobyte;
  set_sizes_of_textures(*p);
  return cudaSuccess;
}

CUDA_ON_CPU_API cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
  Alone alone;
  *value = value_of(attribute);
  return *value < 0 ? returns(cudaErrorInvalidValue) : first_device(device);
}

CUDA_ON_CPU_API cudaError_t cudaDeviceReset() { Alone alone; return cudaDeviceSynchronize(); }
CUDA_ON_CPU_API cudaError_t cudaThreadExit() { Alone alone; return cudaDeviceSynchronize(); }
CUDA_ON_CPU_API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { Alone alone; return cudaSuccess; }
CUDA_ON_CPU_API cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { Alone alone; return cudaSuccess; }
CUDA_ON_CPU_API cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *config) {
  Alone alone;
  *config = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *config) {
  Alone alone;
  *config = cudaFuncCachePreferNone;
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaGetDeviceFlags(unsigned int *flags) {
  Alone alone;
  *flags = 0;
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *) { return cudaGetDevice(device); }
CUDA_ON_CPU_API cudaError_t cudaDeviceGetPCIBusId(char *id, int bytes, int device) {
  Alone alone;
  snprintf(id, static_cast<size_t>(bytes), "0000:00:00.0");
  return first_device(device);
}
CUDA_ON_CPU_API cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { Alone alone; return cudaSuccess; }
CUDA_ON_CPU_API cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit) {
  Alone alone;
  *value = 8 << 20;
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaDeviceCanAccessPeer(int *can, int, int) {
  Alone alone;
  *can = 0;
  return cudaSuccess;
}
// There is one device, so no device has a peer.
CUDA_ON_CPU_API cudaError_t cudaDeviceEnablePeerAccess(int, unsigned int) { Alone alone; return returns(cudaErrorInvalidDevice); }
CUDA_ON_CPU_API cudaError_t cudaDeviceDisablePeerAccess(int) { Alone alone; return returns(cudaErrorInvalidDevice); }
CUDA_ON_CPU_API cudaError_t cudaDeviceGetP2PAttribute(int *value, cudaDeviceP2PAttr, int, int) {
  Alone alone;
  *value = 0;
  return returns(cudaErrorInvalidDevice);
}
CUDA_ON_CPU_API cudaError_t cudaDriverGetVersion(int *version) {
  Alone alone;
  *version = 13000;
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaRuntimeGetVersion(int *version) { Alone alone; return cudaDriverGetVersion(version); }
CUDA_ON_CPU_API cudaError_t cudaProfilerStart() { Alone alone; return cudaSuccess; }
CUDA_ON_CPU_API cudaError_t cudaProfilerStop() { Alone alone; return cudaSuccess; }
