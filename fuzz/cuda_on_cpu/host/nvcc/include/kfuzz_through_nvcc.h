// The front header of a program that nvcc compiles: the structures whose layout depends on the toolkit's version are
// filled in by the program itself.
#pragma once
#include <cuda_runtime.h>

static inline cudaError_t kfuzz_device_properties(cudaDeviceProp *to, int device) {
  auto value = [device](cudaDeviceAttr attribute) {
    int found = 0;
    cudaDeviceGetAttribute(&found, attribute, device);
    return found;
  };
  int count = 0;
  if (device < 0 || cudaGetDeviceCount(&count) != cudaSuccess || device >= count) return cudaSetDevice(device);
  unsigned char *bytes = reinterpret_cast<unsigned char *>(to);
  for (size_t i = 0; i < sizeof *to; i++) bytes[i] = 0;
  const char name[] = "kfuzz cpu device";
  for (size_t i = 0; i < sizeof name; i++) to->name[i] = name[i];
  size_t unused = 0;
  cudaMemGetInfo(&unused, &to->totalGlobalMem);
  to->sharedMemPerBlock = static_cast<size_t>(value(cudaDevAttrMaxSharedMemoryPerBlock));
  to->sharedMemPerBlockOptin = static_cast<size_t>(value(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  to->sharedMemPerMultiprocessor = static_cast<size_t>(value(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
  to->regsPerBlock = value(cudaDevAttrMaxRegistersPerBlock);
  to->regsPerMultiprocessor = value(cudaDevAttrMaxRegistersPerMultiprocessor);
  to->warpSize = value(cudaDevAttrWarpSize);
  to->memPitch = static_cast<size_t>(value(cudaDevAttrMaxPitch));
  to->maxThreadsPerBlock = value(cudaDevAttrMaxThreadsPerBlock);
  to->maxThreadsDim[0] = value(cudaDevAttrMaxBlockDimX);
  to->maxThreadsDim[1] = value(cudaDevAttrMaxBlockDimY);
  to->maxThreadsDim[2] = value(cudaDevAttrMaxBlockDimZ);
  to->maxGridSize[0] = value(cudaDevAttrMaxGridDimX);
  to->maxGridSize[1] = value(cudaDevAttrMaxGridDimY);
  to->maxGridSize[2] = value(cudaDevAttrMaxGridDimZ);
  to->totalConstMem = static_cast<size_t>(value(cudaDevAttrTotalConstantMemory));
  to->major = value(cudaDevAttrComputeCapabilityMajor);
  to->minor = value(cudaDevAttrComputeCapabilityMinor);
  to->textureAlignment = static_cast<size_t>(value(cudaDevAttrTextureAlignment));
  to->multiProcessorCount = value(cudaDevAttrMultiProcessorCount);
  to->canMapHostMemory = to->concurrentKernels = to->unifiedAddressing = to->managedMemory = 1;
  to->concurrentManagedAccess = to->cooperativeLaunch = to->computePreemptionSupported = 1;
  to->streamPrioritiesSupported = to->globalL1CacheSupported = to->localL1CacheSupported = 1;
  to->canUseHostPointerForRegisteredMem = 1;
  to->memoryBusWidth = value(cudaDevAttrGlobalMemoryBusWidth);
  to->l2CacheSize = value(cudaDevAttrL2CacheSize);
  to->maxThreadsPerMultiProcessor = value(cudaDevAttrMaxThreadsPerMultiProcessor);
  to->maxBlocksPerMultiProcessor = value(cudaDevAttrMaxBlocksPerMultiprocessor);
  to->asyncEngineCount = value(cudaDevAttrAsyncEngineCount);
#if CUDART_VERSION < 13000
  to->clockRate = value(cudaDevAttrClockRate);
  to->memoryClockRate = value(cudaDevAttrMemoryClockRate);
  to->deviceOverlap = 1;
  to->singleToDoublePrecisionPerfRatio = value(cudaDevAttrSingleToDoublePrecisionPerfRatio);
#endif
  return cudaSuccess;
}
#undef cudaGetDeviceProperties
#define cudaGetDeviceProperties kfuzz_device_properties
