// cuBLAS: handles, copies, and products of matrices. Vectors are in cublas_vectors.cpp.
#include "cublas.h"

#include <cstdio>
#include <cstring>

#include "../runtime/state.h"
#include "products.h"

using namespace cuda_on_cpu;

namespace {

constexpr int most_handles = 256;
struct Handles {
  CudaOnCpuBlas at[most_handles];
};
PerRun<Handles> handles;

struct StatusWords {
  cublasStatus_t status;
  const char *name, *words;
};
const StatusWords status_words[] = {
    {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
    {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE", "an unsupported value or parameter was passed to the function"},
    {CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR", "access to GPU memory space failed"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED", "the GPU program failed to execute"},
    {CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED", "the functionality requested is not supported"},
};
const StatusWords &words_of(cublasStatus_t status) {
  static const StatusWords unknown = {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"};
  for (const StatusWords &one : status_words)
    if (one.status == status) return one;
  return unknown;
}

bool is_transposed(cublasOperation_t operation) { return operation != CUBLAS_OP_N; }
bool is_operation(cublasOperation_t operation) { return operation >= CUBLAS_OP_N && operation <= CUBLAS_OP_C; }

struct Operand {
  const void *at;
  cudaDataType type;
  int64_t ld, stride;
  bool is_list;
};
struct Sizes {
  int64_t m, n, k, batches;
};

cublasStatus_t product(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, const Sizes &size, const void *alpha,
                       const Operand &a, const Operand &b, const void *beta, const Operand &c, cublasComputeType_t compute,
                       const Asked &by) {
  if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  int64_t a_rows = is_transposed(of_a) ? size.k : size.m, a_columns = is_transposed(of_a) ? size.m : size.k;
  int64_t b_rows = is_transposed(of_b) ? size.n : size.k, b_columns = is_transposed(of_b) ? size.k : size.n;
  auto holds = [](int64_t ld, int64_t rows) { return ld >= (rows > 1 ? rows : 1); };
  if (!is_operation(of_a) || !is_operation(of_b) || size.m < 0 || size.n < 0 || size.k < 0 || size.batches < 0 || !alpha || !beta ||
      !holds(a.ld, a_rows) || !holds(b.ld, b_rows) || !holds(c.ld, size.m))
    return CUBLAS_STATUS_INVALID_VALUE;
  ComputeTypes types = types_of(compute, CUDA_R_32F);
  require_types({a.type, b.type, c.type}, by.line);
  Product p = {by, is_transposed(of_a), is_transposed(of_b), size.m, size.n, size.k, size.batches, types.arithmetic, types.scale,
               scalar_of(handle, alpha, types.scale), scalar_of(handle, beta, types.scale),
               {a.at, a.type, a_rows, a_columns, a.ld, a.stride, a.is_list},
               {b.at, b.type, b_rows, b_columns, b.ld, b.stride, b.is_list},
               {c.at, c.type, size.m, size.n, c.ld, c.stride, c.is_list},
               {c.at, c.type, size.m, size.n, c.ld, c.stride, c.is_list}};
  return status_of(do_or_capture<Product>(p, by, multiply, true));
}

cublasStatus_t moved(int n, int element, const void *x, int x_step, void *y, int y_step, cudaMemcpyKind kind, cudaStream_t stream, bool waits, int line) {
  if (n < 0 || element <= 0 || x_step <= 0 || y_step <= 0) return CUBLAS_STATUS_INVALID_VALUE;
  auto bytes = static_cast<size_t>(element);
  auto to = static_cast<size_t>(y_step) * bytes, from = static_cast<size_t>(x_step) * bytes, rows = static_cast<size_t>(n);
  return status_of(waits ? cudaMemcpy2D(y, to, x, from, bytes, rows, kind, line) : cudaMemcpy2DAsync(y, to, x, from, bytes, rows, kind, stream, line));
}
cublasStatus_t moved_matrix(int rows, int columns, int element, const void *a, int lda, void *b, int ldb, cudaMemcpyKind kind, cudaStream_t stream, bool waits, int line) {
  if (rows < 0 || columns < 0 || element <= 0 || lda < rows || ldb < rows) return CUBLAS_STATUS_INVALID_VALUE;
  auto bytes = static_cast<size_t>(element), width = static_cast<size_t>(rows) * bytes, count = static_cast<size_t>(columns);
  auto to = static_cast<size_t>(ldb) * bytes, from = static_cast<size_t>(lda) * bytes;
  return status_of(waits ? cudaMemcpy2D(b, to, a, from, width, count, kind, line) : cudaMemcpy2DAsync(b, to, a, from, width, count, kind, stream, line));
}

}  // namespace

namespace cuda_on_cpu {

bool is_handle(cublasHandle_t handle) { return handle >= handles.at && handle < handles.at + most_handles && handle->is_alive; }

cublasStatus_t status_of(cudaError_t error) {
  if (error == cudaSuccess) return CUBLAS_STATUS_SUCCESS;
  return error == cudaErrorInvalidValue ? CUBLAS_STATUS_MAPPING_ERROR : CUBLAS_STATUS_EXECUTION_FAILED;
}

Scalar scalar_of(cublasHandle_t handle, const void *given, cudaDataType type) {
  if (handle->mode == CUBLAS_POINTER_MODE_DEVICE) return {given, 0};
  return {nullptr, element_at(given, type)};
}

ComputeTypes types_of(cublasComputeType_t compute, cudaDataType scale) {
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: return {CUDA_R_32F, CUDA_R_16F};
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC: return {CUDA_R_64F, CUDA_R_64F};
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC: return {CUDA_R_32I, scale == CUDA_R_32F ? CUDA_R_32I : scale};
    default: return {CUDA_R_32F, CUDA_R_32F};
  }
}

void require_types(std::initializer_list<cudaDataType> types, int line) {
  for (cudaDataType type : types) {
    if (bytes_of(type)) continue;
    char words[96];
    snprintf(words, sizeof words, "kfuzz: cuBLAS with elements of cudaDataType %d does not run on the cpu device", static_cast<int>(type));
    host_refuses(words, line);
  }
}

}  // namespace cuda_on_cpu

CUDA_ON_CPU_API cublasStatus_t cublasCreate(cublasHandle_t *handle) {
  Alone alone;
  if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
  for (CudaOnCpuBlas &one : handles.at) {
    if (one.is_alive) continue;
    one = {};
    one.is_alive = true;
    *handle = &one;
    return CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_ALLOC_FAILED;
}
// It waits for the device, as cuBLAS's own does.
CUDA_ON_CPU_API cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  Alone alone;
  if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->is_alive = false;
  cudaDeviceSynchronize();
  return CUBLAS_STATUS_SUCCESS;
}
CUDA_ON_CPU_API cublasStatus_t cublasGetVersion(cublasHandle_t, int *version) {
  Alone alone;
  *version = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}
CUDA_ON_CPU_API cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value) {
  Alone alone;
  *value = type == MAJOR_VERSION ? CUBLAS_VER_MAJOR : 0;
  return CUBLAS_STATUS_SUCCESS;
}
CUDA_ON_CPU_API cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *, size_t) {
  Alone alone;
  return is_handle(handle) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}
CUDA_ON_CPU_API const char *cublasGetStatusString(cublasStatus_t status) { return words_of(status).words; }
CUDA_ON_CPU_API const char *cublasGetStatusName(cublasStatus_t status) { return words_of(status).name; }

#define SETTING(Set, Get, Type, member)                                      \
  CUDA_ON_CPU_API cublasStatus_t Set(cublasHandle_t handle, Type value) {    \
    if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;            \
    handle->member = value;                                                  \
    return CUBLAS_STATUS_SUCCESS;                                            \
  }                                                                          \
  CUDA_ON_CPU_API cublasStatus_t Get(cublasHandle_t handle, Type *value) {   \
    if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;            \
    *value = handle->member;                                                 \
    return CUBLAS_STATUS_SUCCESS;                                            \
  }
SETTING(cublasSetStream, cublasGetStream, cudaStream_t, stream)
SETTING(cublasSetPointerMode, cublasGetPointerMode, cublasPointerMode_t, mode)
SETTING(cublasSetMathMode, cublasGetMathMode, cublasMath_t, math)
SETTING(cublasSetAtomicsMode, cublasGetAtomicsMode, cublasAtomicsMode_t, atomics)

CUDA_ON_CPU_API cublasStatus_t cublasSetVector(int n, int element, const void *x, int x_step, void *y, int y_step, int line) {
  Alone alone;
  return moved(n, element, x, x_step, y, y_step, cudaMemcpyHostToDevice, nullptr, true, line);
}
CUDA_ON_CPU_API cublasStatus_t cublasSetVectorAsync(int n, int element, const void *x, int x_step, void *y, int y_step, cudaStream_t stream, int line) {
  Alone alone;
  return moved(n, element, x, x_step, y, y_step, cudaMemcpyHostToDevice, stream, false, line);
}
CUDA_ON_CPU_API cublasStatus_t cublasGetVector(int n, int element, const void *x, int x_step, void *y, int y_step, int line) {
  Alone alone;
  return moved(n, element, x, x_step, y, y_step, cudaMemcpyDeviceToHost, nullptr, true, line);
}
CUDA_ON_CPU_API cublasStatus_t cublasGetVectorAsync(int n, int element, const void *x, int x_step, void *y, int y_step, cudaStream_t stream, int line) {
  Alone alone;
  return moved(n, element, x, x_step, y, y_step, cudaMemcpyDeviceToHost, stream, false, line);
}
CUDA_ON_CPU_API cublasStatus_t cublasSetMatrix(int rows, int columns, int element, const void *a, int lda, void *b, int ldb, int line) {
  Alone alone;
  return moved_matrix(rows, columns, element, a, lda, b, ldb, cudaMemcpyHostToDevice, nullptr, true, line);
}
CUDA_ON_CPU_API cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int element, const void *a, int lda, void *b, int ldb, cudaStream_t stream, int line) {
  Alone alone;
  return moved_matrix(rows, columns, element, a, lda, b, ldb, cudaMemcpyHostToDevice, stream, false, line);
}
CUDA_ON_CPU_API cublasStatus_t cublasGetMatrix(int rows, int columns, int element, const void *a, int lda, void *b, int ldb, int line) {
  Alone alone;
  return moved_matrix(rows, columns, element, a, lda, b, ldb, cudaMemcpyDeviceToHost, nullptr, true, line);
}
CUDA_ON_CPU_API cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int element, const void *a, int lda, void *b, int ldb, cudaStream_t stream, int line) {
  Alone alone;
  return moved_matrix(rows, columns, element, a, lda, b, ldb, cudaMemcpyDeviceToHost, stream, false, line);
}

#define BY ASKED(is_handle(handle) ? handle->stream : nullptr, false)
#define PRODUCTS(T, type, compute, gemm, strided, batched)                                                                              \
  CUDA_ON_CPU_API cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,       \
                                      const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc,           \
                                      int line) {                                                                                       \
    return product(handle, of_a, of_b, {m, n, k, 1}, alpha, {a, type, lda, 0, false}, {b, type, ldb, 0, false}, beta,                   \
                   {c, type, ldc, 0, false}, compute, BY);                                                                              \
  }                                                                                                                                     \
  CUDA_ON_CPU_API cublasStatus_t strided(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,    \
                                         const T *alpha, const T *a, int lda, long long a_stride, const T *b, int ldb,                  \
                                         long long b_stride, const T *beta, T *c, int ldc, long long c_stride, int batches, int line) { \
    return product(handle, of_a, of_b, {m, n, k, batches}, alpha, {a, type, lda, a_stride, false}, {b, type, ldb, b_stride, false},     \
                   beta, {c, type, ldc, c_stride, false}, compute, BY);                                                                 \
  }                                                                                                                                     \
  CUDA_ON_CPU_API cublasStatus_t batched(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,    \
                                         const T *alpha, const T *const a[], int lda, const T *const b[], int ldb, const T *beta,       \
                                         T *const c[], int ldc, int batches, int line) {                                                \
    return product(handle, of_a, of_b, {m, n, k, batches}, alpha, {a, type, lda, 0, true}, {b, type, ldb, 0, true}, beta,               \
                   {c, type, ldc, 0, true}, compute, BY);                                                                               \
  }
PRODUCTS(float, CUDA_R_32F, CUBLAS_COMPUTE_32F, cublasSgemm, cublasSgemmStridedBatched, cublasSgemmBatched)
PRODUCTS(double, CUDA_R_64F, CUBLAS_COMPUTE_64F, cublasDgemm, cublasDgemmStridedBatched, cublasDgemmBatched)
PRODUCTS(__half, CUDA_R_16F, CUBLAS_COMPUTE_16F, cublasHgemm, cublasHgemmStridedBatched, cublasHgemmBatched)

CUDA_ON_CPU_API cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
                                             const float *alpha, const void *a, cudaDataType a_type, int lda, const void *b,
                                             cudaDataType b_type, int ldb, const float *beta, void *c, cudaDataType c_type, int ldc,
                                             int line) {
  Alone alone;
  return product(handle, of_a, of_b, {m, n, k, 1}, alpha, {a, a_type, lda, 0, false}, {b, b_type, ldb, 0, false}, beta,
                 {c, c_type, ldc, 0, false}, CUBLAS_COMPUTE_32F, BY);
}
CUDA_ON_CPU_API cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
                                            const void *alpha, const void *a, cudaDataType a_type, int lda, const void *b,
                                            cudaDataType b_type, int ldb, const void *beta, void *c, cudaDataType c_type, int ldc,
                                            cublasComputeType_t compute, cublasGemmAlgo_t, int line) {
  Alone alone;
  return product(handle, of_a, of_b, {m, n, k, 1}, alpha, {a, a_type, lda, 0, false}, {b, b_type, ldb, 0, false}, beta,
                 {c, c_type, ldc, 0, false}, compute, BY);
}
CUDA_ON_CPU_API cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m,
                                                          int n, int k, const void *alpha, const void *a, cudaDataType a_type, int lda,
                                                          long long a_stride, const void *b, cudaDataType b_type, int ldb,
                                                          long long b_stride, const void *beta, void *c, cudaDataType c_type, int ldc,
                                                          long long c_stride, int batches, cublasComputeType_t compute,
                                                          cublasGemmAlgo_t, int line) {
  Alone alone;
  return product(handle, of_a, of_b, {m, n, k, batches}, alpha, {a, a_type, lda, a_stride, false}, {b, b_type, ldb, b_stride, false},
                 beta, {c, c_type, ldc, c_stride, false}, compute, BY);
}
CUDA_ON_CPU_API cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n,
                                                   int k, const void *alpha, const void *const a[], cudaDataType a_type, int lda,
                                                   const void *const b[], cudaDataType b_type, int ldb, const void *beta,
                                                   void *const c[], cudaDataType c_type, int ldc, int batches,
                                                   cublasComputeType_t compute, cublasGemmAlgo_t, int line) {
  Alone alone;
  return product(handle, of_a, of_b, {m, n, k, batches}, alpha, {a, a_type, lda, 0, true}, {b, b_type, ldb, 0, true}, beta,
                 {c, c_type, ldc, 0, true}, compute, BY);
}
