// The part of the driver API that programs of the runtime API use: tensor maps, and finding a function by its name.
#pragma once
#include "../../../include/cuda_on_cpu/tensor_map.h"

#include "api.h"

typedef enum cudaError_enum {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_SUPPORTED = 801,
  CUDA_ERROR_UNKNOWN = 999
} CUresult;
typedef uint64_t CUdeviceptr_v2;
typedef CUdeviceptr_v2 CUdeviceptr;
typedef cudaStream_t CUstream;
typedef cudaEvent_t CUevent;
// Named by headers that load the driver themselves: this device has none to load.
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel;
typedef struct CUlinkState_st *CUlinkState;
typedef struct CUlaunchConfig_st CUlaunchConfig;
enum CUjit_option : int;
enum CUjitInputType : int;
enum CUfunction_attribute : int;
enum CUpointer_attribute : int;

CUDA_ON_CPU_IMPORT CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *start, const cuuint64_t *sizes,
                                                   const cuuint64_t *strides, const cuuint32_t *box, const cuuint32_t *steps,
                                                   CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                                   CUtensorMapL2promotion l2_promotion, CUtensorMapFloatOOBfill fill);
CUDA_ON_CPU_IMPORT CUresult cuTensorMapReplaceAddress(CUtensorMap *map, void *start);
CUDA_ON_CPU_IMPORT CUresult cuGetErrorString(CUresult error, const char **words);
CUDA_ON_CPU_IMPORT CUresult cuGetErrorName(CUresult error, const char **name);
CUDA_ON_CPU_IMPORT CUresult cuInit(unsigned int flags);
// Sets `count` elements of 8, 16 or 32 bits.
CUDA_ON_CPU_IMPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_IMPORT CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_IMPORT CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream, CUDA_ON_CPU_LINE);

typedef decltype(&cuTensorMapEncodeTiled) PFN_cuTensorMapEncodeTiled_v12000;
typedef PFN_cuTensorMapEncodeTiled_v12000 PFN_cuTensorMapEncodeTiled;
// Named by headers; the driver of this device does not have it.
typedef CUresult (*PFN_cuTensorMapEncodeIm2col_v12000)(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *start, const cuuint64_t *sizes,
                                                       const cuuint64_t *strides, const int *lower, const int *upper, cuuint32_t channels,
                                                       cuuint32_t pixels, const cuuint32_t *steps, CUtensorMapInterleave interleave,
                                                       CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2_promotion, CUtensorMapFloatOOBfill fill);

enum cudaDriverEntryPointQueryResult {
  cudaDriverEntryPointSuccess = 0,
  cudaDriverEntryPointSymbolNotFound = 1,
  cudaDriverEntryPointVersionNotSufficent = 2
};
#define cudaEnableDefault 0x0
#define cudaEnableLegacyStream 0x1
#define cudaEnablePerThreadDefaultStream 0x2
#define CUDAAPI

CUDA_ON_CPU_IMPORT cudaError_t cuda_on_cpu_driver_entry(const char *symbol, void **function, cudaDriverEntryPointQueryResult *found);
inline cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long, cudaDriverEntryPointQueryResult *found = nullptr) {
  return cuda_on_cpu_driver_entry(symbol, function, found);
}
inline cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned int, unsigned long long,
                                                    cudaDriverEntryPointQueryResult *found = nullptr) {
  return cuda_on_cpu_driver_entry(symbol, function, found);
}
