// Memory that processes and GPUs share: the driver's virtual memory, multicast objects, handles for other processes. Headers
// name them; the cpu device is one GPU in one process, and a call ends the run in one line.
#pragma once
#include "driver.h"

CUDA_ON_CPU_IMPORT void cuda_on_cpu_host_refuses(const char *why, int line);

typedef int CUdevice;
typedef uint64_t CUmemGenericAllocationHandle;
enum CUmemAllocationHandleType { CU_MEM_HANDLE_TYPE_NONE = 0, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1, CU_MEM_HANDLE_TYPE_FABRIC = 8 };
enum CUmemLocationType { CU_MEM_LOCATION_TYPE_INVALID = 0, CU_MEM_LOCATION_TYPE_DEVICE = 1 };
enum CUmemAllocationType { CU_MEM_ALLOCATION_TYPE_INVALID = 0, CU_MEM_ALLOCATION_TYPE_PINNED = 1 };
enum CUmemAccess_flags { CU_MEM_ACCESS_FLAGS_PROT_NONE = 0, CU_MEM_ACCESS_FLAGS_PROT_READ = 1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3 };
enum CUmemAllocationGranularity_flags { CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1 };
enum CUmulticastGranularity_flags { CU_MULTICAST_GRANULARITY_MINIMUM = 0, CU_MULTICAST_GRANULARITY_RECOMMENDED = 1 };
struct CUmemLocation {
  CUmemLocationType type;
  int id;
};
struct CUmemAllocationProp {
  CUmemAllocationType type;
  CUmemAllocationHandleType requestedHandleTypes;
  CUmemLocation location;
  void *win32HandleMetaData;
  struct {
    unsigned char compressionType, gpuDirectRDMACapable;
    unsigned short usage;
    unsigned char reserved[4];
  } allocFlags;
};
struct CUmemAccessDesc {
  CUmemLocation location;
  CUmemAccess_flags flags;
};
struct CUmulticastObjectProp {
  unsigned int numDevices;
  size_t size;
  unsigned long long handleTypes, flags;
};
enum CUdevice_attribute {
  CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,
  CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED = 103,
  CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED = 132
};
struct cudaIpcMemHandle_t {
  char reserved[64];
};
#define cudaIpcMemLazyEnablePeerAccess 0x01

inline CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  if (ordinal) return CUDA_ERROR_INVALID_VALUE;
  *device = 0;
  return CUDA_SUCCESS;
}
// None of what these attributes are about.
inline CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute, CUdevice) {
  *value = 0;
  return CUDA_SUCCESS;
}

#define CUDA_ON_CPU_REFUSED_CALL(type, name, done, ...)                                            \
  inline type name(__VA_ARGS__) {                                                                  \
    cuda_on_cpu_host_refuses("kfuzz: " #name " does not run on the cpu device: it is one GPU in one process", 0); \
    return done;                                                                                   \
  }
#define CUDA_ON_CPU_REFUSED_DRIVER_CALL(name, ...) CUDA_ON_CPU_REFUSED_CALL(CUresult, name, CUDA_ERROR_NOT_SUPPORTED, __VA_ARGS__)
CUDA_ON_CPU_REFUSED_DRIVER_CALL(cuMemGetAllocationGranularity, size_t *, const CUmemAllocationProp *, CUmemAllocationGranularity_flags)
CUDA_ON_CPU_REFUSED_DRIVER_CALL(cuMemCreate, CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long)
CUDA_ON_CPU_REFUSED_DRIVER_CALL(cuMemAddressReserve, CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long)
CUDA_ON_CPU_REFUSED_DRIVER_CALL(cuMemAddressFree, CUdeviceptr, size_t)
CUDA_ON_CPU_REFUSED_DRIVER_CALL(cuMemMap, CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long)
CUDA_ON_CPU_REFUSED_DRIVER_CALL(cuMemUnmap, CUdeviceptr, size_t)
CUDA_ON_CPU_REFUSED_DRIVER_CALL(cuMemSetAccess, CUdeviceptr, size_t, const CUmemAccessDesc *, size_t)
CUDA_ON_CPU_REFUSED_DRIVER_CALL(cuMemRelease, CUmemGenericAllocationHandle)
CUDA_ON_CPU_REFUSED_DRIVER_CALL(cuMemRetainAllocationHandle, CUmemGenericAllocationHandle *, void *)
CUDA_ON_CPU_REFUSED_DRIVER_CALL(cuMemExportToShareableHandle, void *, CUmemGenericAllocationHandle, CUmemAllocationHandleType, unsigned long long)
CUDA_ON_CPU_REFUSED_DRIVER_CALL(cuMemImportFromShareableHandle, CUmemGenericAllocationHandle *, void *, CUmemAllocationHandleType)
CUDA_ON_CPU_REFUSED_DRIVER_CALL(cuMulticastCreate, CUmemGenericAllocationHandle *, const CUmulticastObjectProp *)
CUDA_ON_CPU_REFUSED_DRIVER_CALL(cuMulticastAddDevice, CUmemGenericAllocationHandle, CUdevice)
CUDA_ON_CPU_REFUSED_DRIVER_CALL(cuMulticastBindMem, CUmemGenericAllocationHandle, size_t, CUmemGenericAllocationHandle, size_t, size_t, unsigned long long)
CUDA_ON_CPU_REFUSED_DRIVER_CALL(cuMulticastUnbind, CUmemGenericAllocationHandle, CUdevice, size_t, size_t)
CUDA_ON_CPU_REFUSED_DRIVER_CALL(cuMulticastGetGranularity, size_t *, const CUmulticastObjectProp *, CUmulticastGranularity_flags)
CUDA_ON_CPU_REFUSED_CALL(cudaError_t, cudaIpcGetMemHandle, cudaErrorNotSupported, cudaIpcMemHandle_t *, void *)
CUDA_ON_CPU_REFUSED_CALL(cudaError_t, cudaIpcOpenMemHandle, cudaErrorNotSupported, void **, cudaIpcMemHandle_t, unsigned int)
CUDA_ON_CPU_REFUSED_CALL(cudaError_t, cudaIpcCloseMemHandle, cudaErrorNotSupported, void *)
#undef CUDA_ON_CPU_REFUSED_DRIVER_CALL
#undef CUDA_ON_CPU_REFUSED_CALL
