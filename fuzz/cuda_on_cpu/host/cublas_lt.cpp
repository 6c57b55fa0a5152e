// cuBLASLt: products whose layouts and epilogues are described by attributes.
#include "include/cuda_on_cpu_host/cublas_lt.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cublas.h"
#include "products.h"

using namespace cuda_on_cpu;

struct CudaOnCpuMatmulPreference {
  size_t workspace;
};
struct CudaOnCpuMatmulDesc {
  cublasComputeType_t compute;
  cudaDataType scale;
  cublasLtPointerMode_t mode;
  cublasOperation_t of_a, of_b, of_c;
  cublasFillMode_t fill;
  cublasLtEpilogue_t epilogue;
  const void *bias;
  int bias_type;  // -1: that of the result
  void *aux;
  int64_t aux_ld;
};
struct CudaOnCpuMatrixLayout {
  cudaDataType type;
  uint64_t rows, columns;
  int64_t ld;
  cublasLtOrder_t order;
  int32_t batches;
  int64_t stride;
};

namespace {

// A handle has no settings; one of cuBLAS serves as well.
cublasLtHandle_t the_handle() { return reinterpret_cast<cublasLtHandle_t>(1); }
bool is_lt_handle(cublasLtHandle_t handle) { return handle == the_handle() || is_handle(reinterpret_cast<cublasHandle_t>(handle)); }

[[noreturn]] void refuse(const char *what, int value, int line) {
  char words[96];
  snprintf(words, sizeof words, "kfuzz: cuBLASLt with %s %d does not run on the cpu device", what, value);
  host_refuses(words, line);
}

template <class T>
cublasStatus_t made(T **to, const T &value) {
  *to = static_cast<T *>(malloc(sizeof value));
  **to = value;
  return CUBLAS_STATUS_SUCCESS;
}

template <class T>
cublasStatus_t set(T &member, const void *value, size_t bytes) {
  if (!value || bytes != sizeof member) return CUBLAS_STATUS_INVALID_VALUE;
  memcpy(&member, value, sizeof member);
  return CUBLAS_STATUS_SUCCESS;
}

struct Epilogue {
  Activation activation;
  bool has_bias, has_aux;
};
// Their numbers are sums of these.
Epilogue epilogue_of(const CudaOnCpuMatmulDesc &desc, int line) {
  constexpr int none = 1, relu = 2, bias = 4, gelu = 32, aux = 128;
  int value = desc.epilogue, which = value & (relu | gelu);
  bool is_known = value == none || (value && !(value & ~(relu | bias | gelu | aux)) && which != (relu | gelu) && (which || !(value & aux)));
  if (!is_known || value == (relu | aux) || value == (relu | aux | bias)) refuse("the epilogue", value, line);
  Activation activation = value & relu ? Activation::relu : value & gelu ? Activation::gelu : Activation::none;
  return {activation, (value & bias) != 0, (value & aux) != 0};
}

Matrix matrix_of(const void *at, const CudaOnCpuMatrixLayout &layout, int line) {
  if (layout.order != CUBLASLT_ORDER_COL && layout.order != CUBLASLT_ORDER_ROW) refuse("the order", layout.order, line);
  return {at, layout.type, static_cast<int64_t>(layout.rows), static_cast<int64_t>(layout.columns), layout.ld, layout.stride, false, layout.order == CUBLASLT_ORDER_ROW};
}

bool fits(const Matrix &one, int64_t rows, int64_t columns) {
  int64_t line = one.by_rows ? one.columns : one.rows;
  return one.rows == rows && one.columns == columns && one.ld >= line;
}

}  // namespace

CUDA_ON_CPU_API cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  Alone alone;
  *handle = the_handle();
  return CUBLAS_STATUS_SUCCESS;
}
CUDA_ON_CPU_API cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { Alone alone; return CUBLAS_STATUS_SUCCESS; }
CUDA_ON_CPU_API size_t cublasLtGetVersion() { return CUBLAS_VERSION; }
CUDA_ON_CPU_API const char *cublasLtGetStatusString(cublasStatus_t status) { return cublasGetStatusString(status); }
CUDA_ON_CPU_API const char *cublasLtGetStatusName(cublasStatus_t status) { return cublasGetStatusName(status); }

CUDA_ON_CPU_API cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *to, cublasComputeType_t compute, cudaDataType scale) {
  Alone alone;
  return made(to, {compute, scale, CUBLASLT_POINTER_MODE_HOST, CUBLAS_OP_N, CUBLAS_OP_N, CUBLAS_OP_N, CUBLAS_FILL_MODE_FULL,
                   CUBLASLT_EPILOGUE_DEFAULT, nullptr, -1, nullptr, 0});
}
CUDA_ON_CPU_API cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  Alone alone;
  free(desc);
  return CUBLAS_STATUS_SUCCESS;
}
CUDA_ON_CPU_API cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute,
                                                              const void *value, size_t bytes, int line) {
  Alone alone;
  int32_t ignored;
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE: return set(desc->compute, value, bytes);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE: return set(desc->scale, value, bytes);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE: return set(desc->mode, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSA: return set(desc->of_a, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB: return set(desc->of_b, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSC: return set(desc->of_c, value, bytes);
    case CUBLASLT_MATMUL_DESC_FILL_MODE: return set(desc->fill, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return set(desc->epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return set(desc->bias, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: return set(desc->bias_type, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER: return set(desc->aux, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD: return set(desc->aux_ld, value, bytes);
    case CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET: return set(ignored, value, bytes);  // a hint
    default: refuse("the attribute of a product", attribute, line);
  }
}

CUDA_ON_CPU_API cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *to, cudaDataType type, uint64_t rows, uint64_t columns,
                                                          int64_t ld) {
  Alone alone;
  return made(to, {type, rows, columns, ld, CUBLASLT_ORDER_COL, 1, 0});
}
CUDA_ON_CPU_API cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  Alone alone;
  free(layout);
  return CUBLAS_STATUS_SUCCESS;
}
CUDA_ON_CPU_API cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute,
                                                                const void *value, size_t bytes, int line) {
  Alone alone;
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE: return set(layout->type, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_ORDER: return set(layout->order, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_ROWS: return set(layout->rows, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_COLS: return set(layout->columns, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_LD: return set(layout->ld, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return set(layout->batches, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: return set(layout->stride, value, bytes);
    default: refuse("the attribute of a layout", attribute, line);
  }
}

// Preferences choose among algorithms, which all compute the same here.
CUDA_ON_CPU_API cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *to) { Alone alone; return made(to, {0}); }
CUDA_ON_CPU_API cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  Alone alone;
  free(preference);
  return CUBLAS_STATUS_SUCCESS;
}
CUDA_ON_CPU_API cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t,
                                                                    const void *, size_t) {
  Alone alone;
  return CUBLAS_STATUS_SUCCESS;
}
CUDA_ON_CPU_API cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                                              cublasLtMatmulPreference_t, int wanted,
                                                              cublasLtMatmulHeuristicResult_t results[], int *found) {
  Alone alone;
  if (wanted < 1) return CUBLAS_STATUS_INVALID_VALUE;
  results[0] = {};
  results[0].wavesCount = 1;
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

CUDA_ON_CPU_API cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha, const void *a,
                                              cublasLtMatrixLayout_t a_layout, const void *b, cublasLtMatrixLayout_t b_layout,
                                              const void *beta, const void *c, cublasLtMatrixLayout_t c_layout, void *d,
                                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t *, void *, size_t,
                                              cudaStream_t stream, int line) {
  Alone alone;
  if (!is_lt_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!desc || !alpha || !beta || !a_layout || !b_layout || !c_layout || !d_layout) return CUBLAS_STATUS_INVALID_VALUE;
  if (desc->mode != CUBLASLT_POINTER_MODE_HOST && desc->mode != CUBLASLT_POINTER_MODE_DEVICE) refuse("the pointer mode", desc->mode, line);
  if (desc->of_c != CUBLAS_OP_N || desc->fill != CUBLAS_FILL_MODE_FULL) return CUBLAS_STATUS_NOT_SUPPORTED;
  Asked by = ASKED(stream, false);
  require_types({a_layout->type, b_layout->type, c_layout->type, d_layout->type}, line);
  ComputeTypes types = types_of(desc->compute, desc->scale);
  if (types.arithmetic == CUDA_R_32F) types.scale = desc->scale;
  Epilogue epilogue = epilogue_of(*desc, line);
  bool transposes_a = desc->of_a != CUBLAS_OP_N, transposes_b = desc->of_b != CUBLAS_OP_N;
  Matrix of_a = matrix_of(a, *a_layout, line), of_b = matrix_of(b, *b_layout, line), of_c = matrix_of(c, *c_layout, line);
  Matrix of_d = matrix_of(d, *d_layout, line);
  int64_t m = of_d.rows, n = of_d.columns, k = transposes_a ? of_a.rows : of_a.columns;
  if (!fits(of_a, transposes_a ? k : m, transposes_a ? m : k) || !fits(of_b, transposes_b ? n : k, transposes_b ? k : n) ||
      !fits(of_c, m, n) || !fits(of_d, m, n) || a_layout->batches != d_layout->batches || b_layout->batches != d_layout->batches)
    return CUBLAS_STATUS_INVALID_VALUE;
  auto scalar = [&](const void *given) {
    return desc->mode == CUBLASLT_POINTER_MODE_DEVICE ? Scalar{given, 0} : Scalar{nullptr, element_at(given, types.scale)};
  };
  Product p = {by, transposes_a, transposes_b, m, n, k, d_layout->batches, types.arithmetic, types.scale, scalar(alpha), scalar(beta),
               of_a, of_b, of_c, of_d};
  p.activation = epilogue.activation;
  if (epilogue.has_bias) {
    if (!desc->bias) return CUBLAS_STATUS_INVALID_VALUE;
    p.bias = desc->bias;
    p.bias_type = desc->bias_type < 0 ? d_layout->type : static_cast<cudaDataType>(desc->bias_type);
    require_types({p.bias_type}, line);
  }
  if (epilogue.has_aux) {
    if (!desc->aux || desc->aux_ld < m) return CUBLAS_STATUS_INVALID_VALUE;
    if (p.batches != 1) refuse("an auxiliary output and batches:", d_layout->batches, line);
    p.before_activation = desc->aux;
    p.before_ld = desc->aux_ld;
  }
  return status_of(do_or_capture<Product>(p, by, multiply, true));
}
