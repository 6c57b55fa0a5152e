// The part of cuBLAS that the cpu device has (../../cublas.cpp); anything else is refused by name (fuzz/devices/cpu/translate.py).
//
// Matrices lie column by column. The last parameter is the line of the call.
#pragma once
#define CUBLAS_API_H_  // for which other headers look (NVIDIA's helper_cuda.h)
#define CUBLAS_V2_H_
#include "../library_types.h"
#include "api.h"

struct __half;

#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 0
#define CUBLAS_VER_PATCH 0
#define CUBLAS_VERSION 130000

typedef enum {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef enum { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C, CUBLAS_OP_HERMITAN = CUBLAS_OP_C, CUBLAS_OP_CONJG } cublasOperation_t;
typedef enum { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER, CUBLAS_FILL_MODE_FULL } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT } cublasSideMode_t;
typedef enum { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED, CUBLAS_ATOMICS_ALLOWED } cublasAtomicsMode_t;
typedef enum {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_16F_PEDANTIC = 65,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_64F_PEDANTIC = 71,
  CUBLAS_COMPUTE_32I = 72,
  CUBLAS_COMPUTE_32I_PEDANTIC = 73,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef cudaDataType cublasDataType_t;
// Which algorithm cuBLAS takes changes nothing here: every number is one.
typedef enum { CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DFALT_TENSOR_OP = 99, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
#define CUDA_ON_CPU_ALGORITHM(n) CUBLAS_GEMM_ALGO##n = n,
#define CUDA_ON_CPU_TENSOR_ALGORITHM(n) CUBLAS_GEMM_ALGO##n##_TENSOR_OP = 100 + n, CUDA_ON_CPU_ALGORITHM(n)
  CUDA_ON_CPU_TENSOR_ALGORITHM(0) CUDA_ON_CPU_TENSOR_ALGORITHM(1) CUDA_ON_CPU_TENSOR_ALGORITHM(2) CUDA_ON_CPU_TENSOR_ALGORITHM(3)
  CUDA_ON_CPU_TENSOR_ALGORITHM(4) CUDA_ON_CPU_TENSOR_ALGORITHM(5) CUDA_ON_CPU_TENSOR_ALGORITHM(6) CUDA_ON_CPU_TENSOR_ALGORITHM(7)
  CUDA_ON_CPU_TENSOR_ALGORITHM(8) CUDA_ON_CPU_TENSOR_ALGORITHM(9) CUDA_ON_CPU_TENSOR_ALGORITHM(10) CUDA_ON_CPU_TENSOR_ALGORITHM(11)
  CUDA_ON_CPU_TENSOR_ALGORITHM(12) CUDA_ON_CPU_TENSOR_ALGORITHM(13) CUDA_ON_CPU_TENSOR_ALGORITHM(14) CUDA_ON_CPU_TENSOR_ALGORITHM(15)
  CUDA_ON_CPU_ALGORITHM(16) CUDA_ON_CPU_ALGORITHM(17) CUDA_ON_CPU_ALGORITHM(18) CUDA_ON_CPU_ALGORITHM(19)
  CUDA_ON_CPU_ALGORITHM(20) CUDA_ON_CPU_ALGORITHM(21) CUDA_ON_CPU_ALGORITHM(22) CUDA_ON_CPU_ALGORITHM(23)
#undef CUDA_ON_CPU_TENSOR_ALGORITHM
#undef CUDA_ON_CPU_ALGORITHM
} cublasGemmAlgo_t;
typedef struct CudaOnCpuBlas *cublasHandle_t;

#define CUBLASWINAPI
#define CUDA_ON_CPU_BLAS CUDA_ON_CPU_IMPORT cublasStatus_t

// Handles.
CUDA_ON_CPU_BLAS cublasCreate(cublasHandle_t *handle);
CUDA_ON_CPU_BLAS cublasDestroy(cublasHandle_t handle);
CUDA_ON_CPU_BLAS cublasGetVersion(cublasHandle_t handle, int *version);
CUDA_ON_CPU_BLAS cublasGetProperty(libraryPropertyType type, int *value);
CUDA_ON_CPU_BLAS cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
CUDA_ON_CPU_BLAS cublasGetStream(cublasHandle_t handle, cudaStream_t *stream);
CUDA_ON_CPU_BLAS cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
CUDA_ON_CPU_BLAS cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t *mode);
CUDA_ON_CPU_BLAS cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
CUDA_ON_CPU_BLAS cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode);
CUDA_ON_CPU_BLAS cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
CUDA_ON_CPU_BLAS cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t *mode);
CUDA_ON_CPU_BLAS cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes);
CUDA_ON_CPU_IMPORT const char *cublasGetStatusString(cublasStatus_t status);
CUDA_ON_CPU_IMPORT const char *cublasGetStatusName(cublasStatus_t status);
#define cublasCreate_v2 cublasCreate
#define cublasDestroy_v2 cublasDestroy
#define cublasSetStream_v2 cublasSetStream
#define cublasGetStream_v2 cublasGetStream
#define cublasSetPointerMode_v2 cublasSetPointerMode
#define cublasGetPointerMode_v2 cublasGetPointerMode

// Copies between host and device.
CUDA_ON_CPU_BLAS cublasSetVector(int n, int element, const void *x, int x_step, void *y, int y_step, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_BLAS cublasGetVector(int n, int element, const void *x, int x_step, void *y, int y_step, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_BLAS cublasSetMatrix(int rows, int columns, int element, const void *a, int lda, void *b, int ldb, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_BLAS cublasGetMatrix(int rows, int columns, int element, const void *a, int lda, void *b, int ldb, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_BLAS cublasSetVectorAsync(int n, int element, const void *x, int x_step, void *y, int y_step, cudaStream_t stream, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_BLAS cublasGetVectorAsync(int n, int element, const void *x, int x_step, void *y, int y_step, cudaStream_t stream, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_BLAS cublasSetMatrixAsync(int rows, int columns, int element, const void *a, int lda, void *b, int ldb, cudaStream_t stream, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_BLAS cublasGetMatrixAsync(int rows, int columns, int element, const void *a, int lda, void *b, int ldb, cudaStream_t stream, CUDA_ON_CPU_LINE);

// Vectors and matrices of one type: their names, in columns for float and double.
#define CUDA_ON_CPU_BLAS_VECTORS(T, axpy, dot, nrm2, scal, asum, amax, amin, copy, swap, gemv, ger, geam)                               \
  CUDA_ON_CPU_BLAS axpy(cublasHandle_t handle, int n, const T *alpha, const T *x, int x_step, T *y, int y_step, CUDA_ON_CPU_LINE);      \
  CUDA_ON_CPU_BLAS dot(cublasHandle_t handle, int n, const T *x, int x_step, const T *y, int y_step, T *result, CUDA_ON_CPU_LINE);      \
  CUDA_ON_CPU_BLAS nrm2(cublasHandle_t handle, int n, const T *x, int x_step, T *result, CUDA_ON_CPU_LINE);                             \
  CUDA_ON_CPU_BLAS scal(cublasHandle_t handle, int n, const T *alpha, T *x, int x_step, CUDA_ON_CPU_LINE);                              \
  CUDA_ON_CPU_BLAS asum(cublasHandle_t handle, int n, const T *x, int x_step, T *result, CUDA_ON_CPU_LINE);                             \
  CUDA_ON_CPU_BLAS amax(cublasHandle_t handle, int n, const T *x, int x_step, int *result, CUDA_ON_CPU_LINE);                           \
  CUDA_ON_CPU_BLAS amin(cublasHandle_t handle, int n, const T *x, int x_step, int *result, CUDA_ON_CPU_LINE);                           \
  CUDA_ON_CPU_BLAS copy(cublasHandle_t handle, int n, const T *x, int x_step, T *y, int y_step, CUDA_ON_CPU_LINE);                      \
  CUDA_ON_CPU_BLAS swap(cublasHandle_t handle, int n, T *x, int x_step, T *y, int y_step, CUDA_ON_CPU_LINE);                            \
  CUDA_ON_CPU_BLAS gemv(cublasHandle_t handle, cublasOperation_t of_a, int m, int n, const T *alpha, const T *a, int lda, const T *x,   \
                        int x_step, const T *beta, T *y, int y_step, CUDA_ON_CPU_LINE);                                                 \
  CUDA_ON_CPU_BLAS ger(cublasHandle_t handle, int m, int n, const T *alpha, const T *x, int x_step, const T *y, int y_step, T *a,       \
                       int lda, CUDA_ON_CPU_LINE);                                                                                      \
  CUDA_ON_CPU_BLAS geam(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, const T *alpha,            \
                        const T *a, int lda, const T *beta, const T *b, int ldb, T *c, int ldc, CUDA_ON_CPU_LINE);
#define CUDA_ON_CPU_BLAS_PRODUCTS(T, gemm, strided, batched)                                                                            \
  CUDA_ON_CPU_BLAS gemm(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k, const T *alpha,     \
                        const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc, CUDA_ON_CPU_LINE);                      \
  CUDA_ON_CPU_BLAS strided(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k, const T *alpha,  \
                           const T *a, int lda, long long a_stride, const T *b, int ldb, long long b_stride, const T *beta, T *c,       \
                           int ldc, long long c_stride, int batches, CUDA_ON_CPU_LINE);                                                 \
  CUDA_ON_CPU_BLAS batched(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k, const T *alpha,  \
                           const T *const a[], int lda, const T *const b[], int ldb, const T *beta, T *const c[], int ldc,              \
                           int batches, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_BLAS_VECTORS(float, cublasSaxpy, cublasSdot, cublasSnrm2, cublasSscal, cublasSasum, cublasIsamax, cublasIsamin, cublasScopy,
                         cublasSswap, cublasSgemv, cublasSger, cublasSgeam)
CUDA_ON_CPU_BLAS_VECTORS(double, cublasDaxpy, cublasDdot, cublasDnrm2, cublasDscal, cublasDasum, cublasIdamax, cublasIdamin, cublasDcopy,
                         cublasDswap, cublasDgemv, cublasDger, cublasDgeam)
CUDA_ON_CPU_BLAS_PRODUCTS(float, cublasSgemm, cublasSgemmStridedBatched, cublasSgemmBatched)
CUDA_ON_CPU_BLAS_PRODUCTS(double, cublasDgemm, cublasDgemmStridedBatched, cublasDgemmBatched)
CUDA_ON_CPU_BLAS_PRODUCTS(__half, cublasHgemm, cublasHgemmStridedBatched, cublasHgemmBatched)
#undef CUDA_ON_CPU_BLAS_VECTORS
#undef CUDA_ON_CPU_BLAS_PRODUCTS
#define cublasSgemm_v2 cublasSgemm
#define cublasDgemm_v2 cublasDgemm
#define cublasSgemv_v2 cublasSgemv
#define cublasDgemv_v2 cublasDgemv
#define cublasSaxpy_v2 cublasSaxpy
#define cublasSdot_v2 cublasSdot

// LU factors of many matrices.
CUDA_ON_CPU_BLAS cublasSgetrfBatched(cublasHandle_t handle, int n, float *const list[], int ld, int *pivots, int *info, int batches, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_BLAS cublasDgetrfBatched(cublasHandle_t handle, int n, double *const list[], int ld, int *pivots, int *info, int batches, CUDA_ON_CPU_LINE);

// Products of mixed types.
CUDA_ON_CPU_BLAS cublasSgemmEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
                               const float *alpha, const void *a, cudaDataType a_type, int lda, const void *b, cudaDataType b_type,
                               int ldb, const float *beta, void *c, cudaDataType c_type, int ldc, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_BLAS cublasGemmEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
                              const void *alpha, const void *a, cudaDataType a_type, int lda, const void *b, cudaDataType b_type,
                              int ldb, const void *beta, void *c, cudaDataType c_type, int ldc, cublasComputeType_t compute,
                              cublasGemmAlgo_t algorithm, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_BLAS cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
                                            const void *alpha, const void *a, cudaDataType a_type, int lda, long long a_stride,
                                            const void *b, cudaDataType b_type, int ldb, long long b_stride, const void *beta, void *c,
                                            cudaDataType c_type, int ldc, long long c_stride, int batches, cublasComputeType_t compute,
                                            cublasGemmAlgo_t algorithm, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_BLAS cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
                                     const void *alpha, const void *const a[], cudaDataType a_type, int lda, const void *const b[],
                                     cudaDataType b_type, int ldb, const void *beta, void *const c[], cudaDataType c_type, int ldc,
                                     int batches, cublasComputeType_t compute, cublasGemmAlgo_t algorithm, CUDA_ON_CPU_LINE);

// As before CUDA 11, the type of the arithmetic is a type of elements.
namespace cuda_on_cpu {
inline cublasComputeType_t compute_of(cudaDataType type) {
  if (type == CUDA_R_16F) return CUBLAS_COMPUTE_16F;
  if (type == CUDA_R_64F) return CUBLAS_COMPUTE_64F;
  return type == CUDA_R_32I ? CUBLAS_COMPUTE_32I : CUBLAS_COMPUTE_32F;
}
}  // namespace cuda_on_cpu
CUDA_ON_CPU_INLINE cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
                                               const void *alpha, const void *a, cudaDataType a_type, int lda, const void *b,
                                               cudaDataType b_type, int ldb, const void *beta, void *c, cudaDataType c_type, int ldc,
                                               cudaDataType compute, cublasGemmAlgo_t algorithm, CUDA_ON_CPU_LINE) {
  return cublasGemmEx(handle, of_a, of_b, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc,
                      cuda_on_cpu::compute_of(compute), algorithm, line);
}
CUDA_ON_CPU_INLINE cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m,
                                                             int n, int k, const void *alpha, const void *a, cudaDataType a_type, int lda,
                                                             long long a_stride, const void *b, cudaDataType b_type, int ldb,
                                                             long long b_stride, const void *beta, void *c, cudaDataType c_type, int ldc,
                                                             long long c_stride, int batches, cudaDataType compute,
                                                             cublasGemmAlgo_t algorithm, CUDA_ON_CPU_LINE) {
  return cublasGemmStridedBatchedEx(handle, of_a, of_b, m, n, k, alpha, a, a_type, lda, a_stride, b, b_type, ldb, b_stride, beta, c,
                                    c_type, ldc, c_stride, batches, cuda_on_cpu::compute_of(compute), algorithm, line);
}
