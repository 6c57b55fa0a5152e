// The CUDA runtime API, as declared in C: types, constants and functions, which are in ../../*.cpp.
//
// Names and values are CUDA's own (cuda_runtime_api.h, driver_types.h); anything missing here does not compile.
// Long, since CUDA also declares all of it in one header.
#pragma once
#include "../../../include/cuda_on_cpu/language.h"
#include "../../../include/cuda_on_cpu/texture_types.h"
#include "../../../include/cuda_on_cpu/vectors.h"

#include <stddef.h>

// The guards of CUDA's headers, for which other headers look (NVIDIA's helper_cuda.h).
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define __DEVICE_TYPES_H__
#define __VECTOR_TYPES_H__
#define __VECTOR_FUNCTIONS_H__

typedef enum cudaError {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInitializationError = 3,
  cudaErrorCudartUnloading = 4,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidPitchValue = 12,
  cudaErrorInvalidSymbol = 13,
  cudaErrorInvalidDevicePointer = 17,
  cudaErrorInvalidMemcpyDirection = 21,
  cudaErrorMissingConfiguration = 52,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorInvalidKernelImage = 200,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorIllegalState = 401,
  cudaErrorSymbolNotFound = 500,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchOutOfResources = 701,
  cudaErrorLaunchTimeout = 702,
  cudaErrorPeerAccessAlreadyEnabled = 704,
  cudaErrorPeerAccessNotEnabled = 705,
  cudaErrorAssert = 710,
  cudaErrorHostMemoryAlreadyRegistered = 712,
  cudaErrorMisalignedAddress = 716,
  cudaErrorLaunchFailure = 719,
  cudaErrorCooperativeLaunchTooLarge = 720,
  cudaErrorInvalidClusterSize = 912,
  cudaErrorNotSupported = 801,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorStreamCaptureUnmatched = 903,
  cudaErrorStreamCaptureUnjoined = 904,
  cudaErrorStreamCaptureIsolation = 905,
  cudaErrorGraphExecUpdateFailure = 910,
  cudaErrorUnknown = 999,
} cudaError_t;

enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
enum cudaSharedMemConfig { cudaSharedMemBankSizeDefault, cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte };
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeClusterDimMustBeSet = 10,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 14
};
enum cudaSharedCarveout { cudaSharedmemCarveoutDefault = -1, cudaSharedmemCarveoutMaxShared = 100, cudaSharedmemCarveoutMaxL1 = 0 };
enum cudaLimit {
  cudaLimitStackSize,
  cudaLimitPrintfFifoSize,
  cudaLimitMallocHeapSize,
  cudaLimitDevRuntimeSyncDepth,
  cudaLimitDevRuntimePendingLaunchCount,
  cudaLimitMaxL2FetchGranularity,
  cudaLimitPersistingL2CacheSize
};
enum cudaComputeMode { cudaComputeModeDefault, cudaComputeModeExclusive, cudaComputeModeProhibited, cudaComputeModeExclusiveProcess };
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };
enum cudaMemoryAdvise {
  cudaMemAdviseSetReadMostly = 1,
  cudaMemAdviseUnsetReadMostly,
  cudaMemAdviseSetPreferredLocation,
  cudaMemAdviseUnsetPreferredLocation,
  cudaMemAdviseSetAccessedBy,
  cudaMemAdviseUnsetAccessedBy
};
enum cudaMemLocationType {
  cudaMemLocationTypeInvalid,
  cudaMemLocationTypeDevice,
  cudaMemLocationTypeHost,
  cudaMemLocationTypeHostNuma,
  cudaMemLocationTypeHostNumaCurrent
};
struct cudaMemLocation {
  cudaMemLocationType type;
  int id;
};
enum cudaMemPoolAttr {
  cudaMemPoolReuseFollowEventDependencies = 1,
  cudaMemPoolReuseAllowOpportunistic,
  cudaMemPoolReuseAllowInternalDependencies,
  cudaMemPoolAttrReleaseThreshold,
  cudaMemPoolAttrReservedMemCurrent,
  cudaMemPoolAttrReservedMemHigh,
  cudaMemPoolAttrUsedMemCurrent,
  cudaMemPoolAttrUsedMemHigh
};
enum cudaMemAllocationType { cudaMemAllocationTypeInvalid, cudaMemAllocationTypePinned };
enum cudaMemAllocationHandleType { cudaMemHandleTypeNone };
struct cudaMemPoolProps {
  cudaMemAllocationType allocType;
  cudaMemAllocationHandleType handleTypes;
  cudaMemLocation location;
  void *win32SecurityAttributes;
  size_t maxSize;
};

enum cudaMemAccessFlags { cudaMemAccessFlagsProtNone = 0, cudaMemAccessFlagsProtRead = 1, cudaMemAccessFlagsProtReadWrite = 3 };
struct cudaMemAccessDesc {
  cudaMemLocation location;
  cudaMemAccessFlags flags;
};

// Macros, as in CUDA: a literal 0 is a stream, too.
#define cudaHostAllocDefault 0
#define cudaHostAllocPortable 1
#define cudaHostAllocMapped 2
#define cudaHostAllocWriteCombined 4
#define cudaHostRegisterDefault 0
#define cudaHostRegisterPortable 1
#define cudaHostRegisterMapped 2
#define cudaHostRegisterIoMemory 4
#define cudaHostRegisterReadOnly 8
#define cudaMemAttachGlobal 1
#define cudaMemAttachHost 2
#define cudaMemAttachSingle 4
#define cudaStreamDefault 0
#define cudaStreamNonBlocking 1
#define cudaEventDefault 0
#define cudaEventBlockingSync 1
#define cudaEventDisableTiming 2
#define cudaEventInterprocess 4
#define cudaEventWaitDefault 0
#define cudaEventWaitExternal 1
#define cudaEventRecordDefault 0
#define cudaEventRecordExternal 1
#define cudaDeviceScheduleAuto 0
#define cudaDeviceScheduleSpin 1
#define cudaDeviceScheduleYield 2
#define cudaDeviceScheduleBlockingSync 4
#define cudaDeviceBlockingSync 4
#define cudaDeviceMapHost 8
#define cudaOccupancyDefault 0
#define cudaOccupancyDisableCachingOverride 1
#define CUDART_CB
#define cudaCpuDeviceId (-1)
#define cudaInvalidDeviceId (-2)

typedef struct CudaOnCpuStream *cudaStream_t;
typedef struct CudaOnCpuEvent *cudaEvent_t;
typedef struct CudaOnCpuGraph *cudaGraph_t;
typedef struct CudaOnCpuGraphExec *cudaGraphExec_t;
typedef struct CudaOnCpuGraphNode *cudaGraphNode_t;
typedef struct CudaOnCpuPool *cudaMemPool_t;
enum cudaGraphNodeType {
  cudaGraphNodeTypeKernel,
  cudaGraphNodeTypeMemcpy,
  cudaGraphNodeTypeMemset,
  cudaGraphNodeTypeHost,
  cudaGraphNodeTypeGraph,
  cudaGraphNodeTypeEmpty,
  cudaGraphNodeTypeWaitEvent,
  cudaGraphNodeTypeEventRecord,
  cudaGraphNodeTypeMemAlloc = 10,
  cudaGraphNodeTypeMemFree = 11,
  cudaGraphNodeTypeConditional = 13
};
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
#define cudaStreamTailLaunch ((cudaStream_t)0x3)  // in kernels alone
#define cudaStreamFireAndForget ((cudaStream_t)0x4)
typedef void (*cudaHostFn_t)(void *data);
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void *data);

enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrTotalConstantMemory = 9,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxPitch = 11,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrClockRate = 13,
  cudaDevAttrTextureAlignment = 14,
  cudaDevAttrGpuOverlap = 15,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrKernelExecTimeout = 17,
  cudaDevAttrIntegrated = 18,
  cudaDevAttrCanMapHostMemory = 19,
  cudaDevAttrComputeMode = 20,
  cudaDevAttrConcurrentKernels = 31,
  cudaDevAttrEccEnabled = 32,
  cudaDevAttrPciBusId = 33,
  cudaDevAttrPciDeviceId = 34,
  cudaDevAttrTccDriver = 35,
  cudaDevAttrMemoryClockRate = 36,
  cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrAsyncEngineCount = 40,
  cudaDevAttrUnifiedAddressing = 41,
  cudaDevAttrPciDomainId = 50,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrStreamPrioritiesSupported = 78,
  cudaDevAttrGlobalL1CacheSupported = 79,
  cudaDevAttrLocalL1CacheSupported = 80,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxRegistersPerMultiprocessor = 82,
  cudaDevAttrManagedMemory = 83,
  cudaDevAttrIsMultiGpuBoard = 84,
  cudaDevAttrHostNativeAtomicSupported = 86,
  cudaDevAttrSingleToDoublePrecisionPerfRatio = 87,
  cudaDevAttrPageableMemoryAccess = 88,
  cudaDevAttrConcurrentManagedAccess = 89,
  cudaDevAttrComputePreemptionSupported = 90,
  cudaDevAttrCanUseHostPointerForRegisteredMem = 91,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrHostRegisterSupported = 99,
  cudaDevAttrPageableMemoryAccessUsesHostPageTables = 100,
  cudaDevAttrDirectManagedMemAccessFromHost = 101,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106,
  cudaDevAttrMemoryPoolsSupported = 115,
  cudaDevAttrIpcEventSupport = 125
};
enum cudaDeviceP2PAttr {
  cudaDevP2PAttrPerformanceRank = 1,
  cudaDevP2PAttrAccessSupported,
  cudaDevP2PAttrNativeAtomicSupported,
  cudaDevP2PAttrCudaArrayAccessSupported
};

typedef struct CUuuid_st {
  char bytes[16];
} cudaUUID_t;

struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
  size_t totalConstMem;
  int major, minor;
  size_t textureAlignment, texturePitchAlignment;
  int multiProcessorCount, integrated, canMapHostMemory, computeMode;
  int maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear, maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3], maxTexture2DGather[2];
  int maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap, maxTexture1DLayered[2], maxTexture2DLayered[3], maxTextureCubemapLayered[2];
  int maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2], maxSurface2DLayered[3], maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
  size_t surfaceAlignment;
  int concurrentKernels;
  int memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, asyncEngineCount, unifiedAddressing;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, concurrentManagedAccess, cooperativeLaunch, cooperativeMultiDeviceLaunch;
  size_t sharedMemPerBlockOptin, reservedSharedMemPerBlock;
  int maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize, pciBusID, pciDeviceID, pciDomainID, kernelExecTimeoutEnabled, deviceOverlap, ECCEnabled;
  int globalL1CacheSupported, localL1CacheSupported, streamPrioritiesSupported, tccDriver, isMultiGpuBoard, multiGpuBoardGroupID;
  int hostNativeAtomicSupported, singleToDoublePrecisionPerfRatio, pageableMemoryAccess, computePreemptionSupported;
  int canUseHostPointerForRegisteredMem, pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost;
  int hostRegisterSupported, memoryPoolsSupported, clusterLaunch;
};

struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes, preferredShmemCarveout;
};

struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void *devicePointer, *hostPointer;
};

struct cudaExtent {
  size_t width, height, depth;
};
struct cudaPitchedPtr {
  void *ptr;
  size_t pitch, xsize, ysize;
};
struct cudaPos {
  size_t x, y, z;
};
struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind;
};
CUDA_ON_CPU_INLINE cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) { return {width, height, depth}; }
CUDA_ON_CPU_INLINE cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
CUDA_ON_CPU_INLINE cudaPitchedPtr make_cudaPitchedPtr(void *memory, size_t pitch, size_t width, size_t height) {
  return {memory, pitch, width, height};
}

#define CUDA_ON_CPU_RUNTIME CUDA_ON_CPU_IMPORT cudaError_t

CUDA_ON_CPU_RUNTIME cudaGetLastError();
CUDA_ON_CPU_RUNTIME cudaPeekAtLastError();
CUDA_ON_CPU_IMPORT const char *cudaGetErrorString(cudaError_t error);
CUDA_ON_CPU_IMPORT const char *cudaGetErrorName(cudaError_t error);

// Memory. The line is the caller's: it names the allocation. cuda_on_cpu_* are called by templates (below).
enum CudaOnCpuMemory { cuda_on_cpu_device_memory, cuda_on_cpu_managed_memory, cuda_on_cpu_pinned_memory };
CUDA_ON_CPU_RUNTIME cuda_on_cpu_allocate(void **to, size_t bytes, CudaOnCpuMemory kind, int line);
CUDA_ON_CPU_RUNTIME cuda_on_cpu_allocate_on(void **to, size_t bytes, cudaStream_t stream, int line);
CUDA_ON_CPU_RUNTIME cudaFree(void *memory, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cudaFreeHost(void *memory, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cudaFreeAsync(void *memory, cudaStream_t stream, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream = 0,
                                    CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                                 cudaMemcpyKind kind, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                      size_t height, cudaMemcpyKind kind, cudaStream_t stream = 0, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cudaMemset(void *to, int value, size_t bytes, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream = 0, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream = 0,
                                      CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream = 0, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cudaMemcpy3D(const cudaMemcpy3DParms *asked, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cudaMemcpy3DAsync(const cudaMemcpy3DParms *asked, cudaStream_t stream = 0, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cuda_on_cpu_to_symbol(void *symbol, size_t room, const void *from, size_t bytes, size_t offset,
                                          const cudaStream_t *stream, int line);
CUDA_ON_CPU_RUNTIME cuda_on_cpu_from_symbol(void *to, const void *symbol, size_t room, size_t bytes, size_t offset,
                                            const cudaStream_t *stream, int line);
CUDA_ON_CPU_RUNTIME cudaMemGetInfo(size_t *free_bytes, size_t *all);
CUDA_ON_CPU_RUNTIME cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *memory);
CUDA_ON_CPU_RUNTIME cudaHostRegister(void *memory, size_t bytes, unsigned int flags);
CUDA_ON_CPU_RUNTIME cudaHostUnregister(void *memory);
CUDA_ON_CPU_RUNTIME cudaMemPrefetchAsync(const void *memory, size_t bytes, int device, cudaStream_t stream = 0);
CUDA_ON_CPU_RUNTIME cudaMemAdvise(const void *memory, size_t bytes, cudaMemoryAdvise advice, int device);
CUDA_ON_CPU_RUNTIME cudaStreamAttachMemAsync(cudaStream_t stream, void *memory, size_t bytes = 0, unsigned int flags = cudaMemAttachSingle);
CUDA_ON_CPU_RUNTIME cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                        cudaStream_t stream = 0, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cuda_on_cpu_device_pointer(void **to, void *memory);
CUDA_ON_CPU_RUNTIME cudaHostGetFlags(unsigned int *flags, void *memory);

// Pools of memory: all memory comes from one place, and pool attributes do not change that.
CUDA_ON_CPU_RUNTIME cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device);
CUDA_ON_CPU_RUNTIME cudaDeviceGetMemPool(cudaMemPool_t *pool, int device);
CUDA_ON_CPU_RUNTIME cudaDeviceSetMemPool(int device, cudaMemPool_t pool);
CUDA_ON_CPU_RUNTIME cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *asked);
CUDA_ON_CPU_RUNTIME cudaMemPoolDestroy(cudaMemPool_t pool);
CUDA_ON_CPU_RUNTIME cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value);
CUDA_ON_CPU_RUNTIME cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value);
CUDA_ON_CPU_RUNTIME cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *asked, size_t count);
CUDA_ON_CPU_RUNTIME cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes);

// Order.
CUDA_ON_CPU_RUNTIME cudaDeviceSynchronize();
CUDA_ON_CPU_RUNTIME cudaThreadSynchronize();
CUDA_ON_CPU_RUNTIME cudaStreamCreate(cudaStream_t *stream);
CUDA_ON_CPU_RUNTIME cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags);
CUDA_ON_CPU_RUNTIME cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority);
CUDA_ON_CPU_RUNTIME cudaStreamDestroy(cudaStream_t stream);
CUDA_ON_CPU_RUNTIME cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags);
CUDA_ON_CPU_RUNTIME cudaStreamGetPriority(cudaStream_t stream, int *priority);
CUDA_ON_CPU_RUNTIME cudaStreamSynchronize(cudaStream_t stream);
CUDA_ON_CPU_RUNTIME cudaStreamQuery(cudaStream_t stream);
CUDA_ON_CPU_RUNTIME cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0);
CUDA_ON_CPU_RUNTIME cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t called, void *data, unsigned int flags);
CUDA_ON_CPU_RUNTIME cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t called, void *data);
CUDA_ON_CPU_RUNTIME cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
CUDA_ON_CPU_RUNTIME cudaEventCreate(cudaEvent_t *event);
CUDA_ON_CPU_RUNTIME cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
CUDA_ON_CPU_RUNTIME cudaEventDestroy(cudaEvent_t event);
CUDA_ON_CPU_RUNTIME cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
CUDA_ON_CPU_RUNTIME cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = 0, unsigned int flags = 0);
CUDA_ON_CPU_RUNTIME cudaEventQuery(cudaEvent_t event);
CUDA_ON_CPU_RUNTIME cudaEventSynchronize(cudaEvent_t event);
CUDA_ON_CPU_RUNTIME cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end);

// The device.
CUDA_ON_CPU_RUNTIME cudaGetDeviceCount(int *count);
CUDA_ON_CPU_RUNTIME cudaGetDevice(int *device);
CUDA_ON_CPU_RUNTIME cudaSetDevice(int device);
CUDA_ON_CPU_RUNTIME cudaSetDeviceFlags(unsigned int flags);
CUDA_ON_CPU_RUNTIME cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
CUDA_ON_CPU_RUNTIME cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
CUDA_ON_CPU_RUNTIME cudaDeviceReset();
CUDA_ON_CPU_RUNTIME cudaThreadExit();
CUDA_ON_CPU_RUNTIME cudaDeviceSetCacheConfig(cudaFuncCache config);
CUDA_ON_CPU_RUNTIME cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config);
CUDA_ON_CPU_RUNTIME cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *config);
CUDA_ON_CPU_RUNTIME cudaDeviceGetCacheConfig(cudaFuncCache *config);
CUDA_ON_CPU_RUNTIME cudaGetDeviceFlags(unsigned int *flags);
CUDA_ON_CPU_RUNTIME cudaChooseDevice(int *device, const cudaDeviceProp *wanted);
CUDA_ON_CPU_RUNTIME cudaDeviceGetPCIBusId(char *id, int bytes, int device);
CUDA_ON_CPU_RUNTIME cudaDeviceSetLimit(cudaLimit limit, size_t value);
CUDA_ON_CPU_RUNTIME cudaDeviceGetLimit(size_t *value, cudaLimit limit);
CUDA_ON_CPU_RUNTIME cudaDeviceCanAccessPeer(int *can, int device, int peer);
CUDA_ON_CPU_RUNTIME cudaDeviceEnablePeerAccess(int peer, unsigned int flags);
CUDA_ON_CPU_RUNTIME cudaDeviceDisablePeerAccess(int peer);
CUDA_ON_CPU_RUNTIME cudaDeviceGetP2PAttribute(int *value, cudaDeviceP2PAttr attribute, int device, int peer);
CUDA_ON_CPU_RUNTIME cudaDriverGetVersion(int *version);
CUDA_ON_CPU_RUNTIME cudaRuntimeGetVersion(int *version);
CUDA_ON_CPU_RUNTIME cudaProfilerStart();
CUDA_ON_CPU_RUNTIME cudaProfilerStop();

// One kernel: by its address, which is that of one instance of a template.
CUDA_ON_CPU_RUNTIME cuda_on_cpu_set_attribute(const void *kernel, cudaFuncAttribute attribute, int value);
CUDA_ON_CPU_RUNTIME cuda_on_cpu_get_attributes(cudaFuncAttributes *attributes, const void *kernel);
CUDA_ON_CPU_RUNTIME cuda_on_cpu_blocks_per_multiprocessor(int *blocks, const void *kernel, int block, size_t shared);

namespace cuda_on_cpu {
// Keeping a launch's arguments for later, and releasing them; their size; and whether they refer to no variable of the host.
struct Keeping {
  void *(*kept)(const void *context);
  void (*forget)(void *context);
  size_t bytes;
  bool stands_alone;
};
// How to call a kernel of which only the address is known, and the place of the arguments that were bound to it.
struct KernelType {
  void (*invoke)(void **);
  const Keeping *keeping;
  size_t count;
  void *(*bound)(const void *kernel, void **arguments);
  void (*arguments)(void *bound, void **to);
};
}  // namespace cuda_on_cpu
CUDA_ON_CPU_IMPORT void cuda_on_cpu_note_kernel(const void *kernel, const cuda_on_cpu::KernelType *type);

// A launch: every thread calls `invoke` with `context`. `kernel` is null if the text does not say which it is. In a
// cooperative launch all blocks have to be resident at once.
namespace cuda_on_cpu {

// What is said of a launch: all blocks are resident at once; it may begin before the kernel before it has ended.
enum LaunchHow : unsigned int { launch_cooperative = 1, launch_early = 2 };

// The blocks of a cluster along each axis; 0: there are no clusters.
struct ClusterSides {
  unsigned int of[3];
};

}  // namespace cuda_on_cpu

CUDA_ON_CPU_IMPORT void cuda_on_cpu_map_is_thread_copy(void *map);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_not_launched(cuda_on_cpu::ClusterSides own);
CUDA_ON_CPU_IMPORT cuda_on_cpu::ClusterSides cuda_on_cpu_own_clusters(void (*invoke)(void **), void *bound);
namespace cuda_on_cpu {

// A kernel that is called as a function: by the host, or by a launch that asks for its __cluster_dims__.
template <class Map>
static inline void own_map(const Map &map) { cuda_on_cpu_map_is_thread_copy(const_cast<Map *>(&map)); }
static inline void not_launched(unsigned int x = 0, unsigned int y = 1, unsigned int z = 1) { cuda_on_cpu_not_launched({{x, y, z}}); }

}  // namespace cuda_on_cpu

CUDA_ON_CPU_RUNTIME cuda_on_cpu_host_launch(dim3 grid, dim3 block, size_t shared, cudaStream_t stream, const void *kernel,
                                            void (*invoke)(void **), void *context, const cuda_on_cpu::Keeping *keeping, int line, unsigned int how = 0, cuda_on_cpu::ClusterSides cluster = {});
CUDA_ON_CPU_RUNTIME cuda_on_cpu_launch_by_address(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                                  cudaStream_t stream, int line, unsigned int how, cuda_on_cpu::ClusterSides cluster = {});
