// The part of NCCL that the cpu device has (../../nccl.cpp): the collectives, for one rank.
#pragma once
#define NCCL_H_  // for which other headers look
#include "api.h"

#define NCCL_MAJOR 2
#define NCCL_MINOR 27
#define NCCL_PATCH 0
#define NCCL_VERSION_CODE 22700
#define NCCL_UNIQUE_ID_BYTES 128

typedef struct CudaOnCpuRanks *ncclComm_t;
typedef struct {
  char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;
typedef enum {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
  ncclInProgress = 7,
  ncclNumResults = 8
} ncclResult_t;
typedef enum { ncclSum = 0, ncclProd = 1, ncclMax = 2, ncclMin = 3, ncclAvg = 4, ncclNumOps = 5 } ncclRedOp_t;
typedef enum {
  ncclInt8 = 0,
  ncclChar = 0,
  ncclUint8 = 1,
  ncclInt32 = 2,
  ncclInt = 2,
  ncclUint32 = 3,
  ncclInt64 = 4,
  ncclUint64 = 5,
  ncclFloat16 = 6,
  ncclHalf = 6,
  ncclFloat32 = 7,
  ncclFloat = 7,
  ncclFloat64 = 8,
  ncclDouble = 8,
  ncclBfloat16 = 9,
  ncclFloat8e4m3 = 10,
  ncclFloat8e5m2 = 11,
  ncclNumTypes = 12
} ncclDataType_t;

#define CUDA_ON_CPU_NCCL CUDA_ON_CPU_IMPORT ncclResult_t
CUDA_ON_CPU_NCCL ncclGetVersion(int *version);
CUDA_ON_CPU_NCCL ncclGetUniqueId(ncclUniqueId *id);
CUDA_ON_CPU_NCCL ncclCommInitRank(ncclComm_t *ranks, int count, ncclUniqueId id, int rank, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_NCCL ncclCommInitAll(ncclComm_t *ranks, int count, const int *devices, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_NCCL ncclCommFinalize(ncclComm_t ranks);
CUDA_ON_CPU_NCCL ncclCommDestroy(ncclComm_t ranks);
CUDA_ON_CPU_NCCL ncclCommAbort(ncclComm_t ranks);
CUDA_ON_CPU_NCCL ncclCommCount(ncclComm_t ranks, int *count);
CUDA_ON_CPU_NCCL ncclCommUserRank(ncclComm_t ranks, int *rank);
CUDA_ON_CPU_NCCL ncclCommCuDevice(ncclComm_t ranks, int *device);
CUDA_ON_CPU_NCCL ncclCommGetAsyncError(ncclComm_t ranks, ncclResult_t *error);
CUDA_ON_CPU_NCCL ncclGroupStart();
CUDA_ON_CPU_NCCL ncclGroupEnd();
CUDA_ON_CPU_NCCL ncclAllReduce(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t by, ncclComm_t ranks, cudaStream_t stream, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_NCCL ncclReduce(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t by, int root, ncclComm_t ranks, cudaStream_t stream, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_NCCL ncclReduceScatter(const void *from, void *to, size_t count_of_each, ncclDataType_t type, ncclRedOp_t by, ncclComm_t ranks, cudaStream_t stream, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_NCCL ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root, ncclComm_t ranks, cudaStream_t stream, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_NCCL ncclBcast(void *at, size_t count, ncclDataType_t type, int root, ncclComm_t ranks, cudaStream_t stream, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_NCCL ncclAllGather(const void *from, void *to, size_t count_of_each, ncclDataType_t type, ncclComm_t ranks, cudaStream_t stream, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_IMPORT const char *ncclGetErrorString(ncclResult_t result);
CUDA_ON_CPU_IMPORT const char *ncclGetLastError(ncclComm_t ranks);
