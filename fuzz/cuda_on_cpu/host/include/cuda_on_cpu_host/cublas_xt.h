// The part of cuBLASXt that the cpu device has (../../cublas_xt.cpp): products of matrices in the host's own memory.
#pragma once
#include "cublas.h"

typedef struct CudaOnCpuBlasXt *cublasXtHandle_t;

CUDA_ON_CPU_BLAS cublasXtCreate(cublasXtHandle_t *handle);
CUDA_ON_CPU_BLAS cublasXtDestroy(cublasXtHandle_t handle);
CUDA_ON_CPU_BLAS cublasXtDeviceSelect(cublasXtHandle_t handle, int count, int devices[]);
// The size of the tiles that go to a device. It changes nothing here.
CUDA_ON_CPU_BLAS cublasXtSetBlockDim(cublasXtHandle_t handle, int size);
CUDA_ON_CPU_BLAS cublasXtGetBlockDim(cublasXtHandle_t handle, int *size);
CUDA_ON_CPU_BLAS cublasXtSgemm(cublasXtHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, size_t m, size_t n, size_t k,
                               const float *alpha, const float *a, size_t lda, const float *b, size_t ldb, const float *beta, float *c,
                               size_t ldc, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_BLAS cublasXtDgemm(cublasXtHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, size_t m, size_t n, size_t k,
                               const double *alpha, const double *a, size_t lda, const double *b, size_t ldb, const double *beta, double *c,
                               size_t ldc, CUDA_ON_CPU_LINE);
