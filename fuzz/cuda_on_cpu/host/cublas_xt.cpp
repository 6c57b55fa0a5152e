// cuBLASXt: products of matrices in the host's own memory, which the host waits for.
#include <initializer_list>

#include "../runtime/state.h"
#include "asked.h"
#include "include/cuda_on_cpu_host/cublas_xt.h"

using namespace cuda_on_cpu;

struct CudaOnCpuBlasXt {
  bool is_alive;
  int block;
};

namespace {

constexpr int most_handles = 64, usual_block = 2048;
struct Handles {
  CudaOnCpuBlasXt at[most_handles] = {};
};
PerRun<Handles> handles;

bool is_handle(cublasXtHandle_t handle) { return handle >= handles.at && handle < handles.at + most_handles && handle->is_alive; }

template <class T>
struct Matrix {
  T *at;
  size_t ld;
  bool is_transposed;
  T &of(size_t row, size_t column) const { return is_transposed ? at[row * ld + column] : at[column * ld + row]; }
};

// Added up in double precision.
template <class T>
cublasStatus_t multiplied(cublasXtHandle_t handle, size_t m, size_t n, size_t k, const T *alpha, const Matrix<const T> &a,
                          const Matrix<const T> &b, const T *beta, const Matrix<T> &c, int line) {
  if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!alpha || !beta || a.ld < (a.is_transposed ? k : m) || b.ld < (b.is_transposed ? n : k) || c.ld < m) return CUBLAS_STATUS_INVALID_VALUE;
  for (const void *one : {static_cast<const void *>(a.at), static_cast<const void *>(b.at), static_cast<const void *>(c.at)})
    if (is_device_memory(one)) host_refuses("kfuzz: cuBLASXt does not take arrays on the device here", line);
  for (size_t column = 0; column < n; column++)
    for (size_t row = 0; row < m; row++) {
      double sum = 0;
      for (size_t i = 0; *alpha != 0 && i < k; i++) sum += static_cast<double>(a.of(row, i)) * static_cast<double>(b.of(i, column));
      T &to = c.of(row, column);
      double before = *beta != 0 ? static_cast<double>(*beta) * static_cast<double>(to) : 0;
      to = static_cast<T>((*alpha != 0 ? static_cast<double>(*alpha) * sum : 0) + before);
    }
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

CUDA_ON_CPU_API cublasStatus_t cublasXtCreate(cublasXtHandle_t *handle) {
  Alone alone;
  if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
  for (CudaOnCpuBlasXt &one : handles.at) {
    if (one.is_alive) continue;
    one = {true, usual_block};
    *handle = &one;
    return CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_ALLOC_FAILED;
}
CUDA_ON_CPU_API cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle) {
  Alone alone;
  if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->is_alive = false;
  return CUBLAS_STATUS_SUCCESS;
}
CUDA_ON_CPU_API cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int count, int devices[]) {
  Alone alone;
  if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  return count == 1 && devices && !devices[0] ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
CUDA_ON_CPU_API cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t handle, int size) {
  Alone alone;
  if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (size <= 0) return CUBLAS_STATUS_INVALID_VALUE;
  handle->block = size;
  return CUBLAS_STATUS_SUCCESS;
}
CUDA_ON_CPU_API cublasStatus_t cublasXtGetBlockDim(cublasXtHandle_t handle, int *size) {
  Alone alone;
  if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  *size = handle->block;
  return CUBLAS_STATUS_SUCCESS;
}

#define PRODUCT(name, T)                                                                                                                  \
  CUDA_ON_CPU_API cublasStatus_t name(cublasXtHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, size_t m, size_t n,        \
                                      size_t k, const T *alpha, const T *a, size_t lda, const T *b, size_t ldb, const T *beta, T *c,      \
                                      size_t ldc, int line) {                                                                             \
    Alone alone;                                                                                                                          \
    return multiplied<T>(handle, m, n, k, alpha, {a, lda, of_a != CUBLAS_OP_N}, {b, ldb, of_b != CUBLAS_OP_N}, beta, {c, ldc, false},     \
                         line);                                                                                                           \
  }
PRODUCT(cublasXtSgemm, float)
PRODUCT(cublasXtDgemm, double)
