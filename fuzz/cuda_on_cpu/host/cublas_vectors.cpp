// cuBLAS on vectors, and on a matrix and a vector.
#include <cmath>
#include <type_traits>

#include "cublas.h"

using namespace cuda_on_cpu;

namespace {

template <class T>
constexpr cudaDataType type_of = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;

// With a negative step a vector begins at its end. A step of 0 is one element, again and again.
template <class T>
struct Vector {
  T *at;
  int64_t n, step;
  T &operator[](int64_t i) const { return at[step < 0 ? (i - n + 1) * step : i * step]; }
  Lines lines() const {
    int64_t distance = step < 0 ? -step : step;
    return {at, sizeof(T), static_cast<size_t>(n > 0 ? (step ? n : 1) : 0), static_cast<size_t>(distance) * sizeof(T)};
  }
};

template <class T>
Lines columns_of(const T *a, int64_t rows, int64_t columns, int64_t ld) {
  return {a, static_cast<size_t>(rows) * sizeof(T), static_cast<size_t>(columns), static_cast<size_t>(ld) * sizeof(T)};
}

// A result goes where the pointer mode says; for the host it is waited for.
template <class T, class Result>
struct Reduction {
  Asked by;
  Vector<const T> x, y;  // y as x, where there is only one
  bool has_y, on_device;
  Result *result;
  Result (*reduce)(const Vector<const T> &x, const Vector<const T> &y);
};
template <class T, class Result>
void reduce(const Reduction<T, Result> &r) {
  Result value = 0;
  {
    LibraryWork work(r.by, !r.on_device);
    work.reads(r.x.lines());
    if (r.has_y) work.reads(r.y.lines());
    if (r.on_device) work.writes({r.result, sizeof(Result), 1, 0});
    if (!work.is_whole()) return;
    value = r.reduce(r.x, r.y);
    if (r.on_device) *r.result = value;
  }
  if (!r.on_device) *r.result = value;
}
template <class T, class Result>
cublasStatus_t reduced(cublasHandle_t handle, int n, const T *x, int x_step, const T *y, int y_step, Result *result,
                       Result (*how)(const Vector<const T> &, const Vector<const T> &), const Asked &by) {
  if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!result) return CUBLAS_STATUS_INVALID_VALUE;
  bool on_device = handle->mode == CUBLAS_POINTER_MODE_DEVICE;
  Reduction<T, Result> asked = {by, {x, n, x_step}, {y, n, y_step}, y != nullptr, on_device, result, how};
  if (!y) asked.y = asked.x;
  if (!on_device && is_captured(by.stream)) return status_of(returns(cudaErrorStreamCaptureUnsupported));
  return status_of(do_or_capture<Reduction<T, Result>>(asked, by, reduce));
}

template <class T>
T dot(const Vector<const T> &x, const Vector<const T> &y) {
  double sum = 0;
  for (int64_t i = 0; i < x.n; i++) sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
  return static_cast<T>(sum);
}
template <class T>
T norm(const Vector<const T> &x, const Vector<const T> &) {
  double most = 0, sum = 0;
  for (int64_t i = 0; i < x.n; i++) {
    double one = std::fabs(static_cast<double>(x[i]));
    if (!(one <= most)) most = one;
  }
  if (most == 0 || !(most - most == 0)) return static_cast<T>(most);
  for (int64_t i = 0; i < x.n; i++) sum += static_cast<double>(x[i]) / most * (static_cast<double>(x[i]) / most);
  return static_cast<T>(most * std::sqrt(sum));
}
template <class T>
T sum_of_sizes(const Vector<const T> &x, const Vector<const T> &) {
  double sum = 0;
  for (int64_t i = 0; i < x.n; i++) sum += std::fabs(static_cast<double>(x[i]));
  return static_cast<T>(sum);
}
// The first of the largest, or smallest, counted from 1; 0 if there is none.
template <class T, bool largest>
int place_of_extreme(const Vector<const T> &x, const Vector<const T> &) {
  int64_t best = 0;
  for (int64_t i = 1; i < x.n; i++) {
    T one = std::fabs(x[i]), other = std::fabs(x[best]);
    if (largest ? one > other : one < other) best = i;
  }
  return x.n > 0 ? static_cast<int>(best + 1) : 0;
}

// What changes vectors or a matrix: which of them it reads and writes, and how.
template <class T>
struct Change {
  Asked by;
  Scalar alpha, beta;
  Vector<T> x, y;
  T *a;
  int64_t m, n, ld;
  bool transposes;
};
template <class T>
T number(const Scalar &scalar, LibraryWork &work) { return static_cast<T>(number_of(scalar, type_of<T>, work)); }

template <class T>
void axpy(const Change<T> &c) {
  LibraryWork work(c.by, false);
  T alpha = number<T>(c.alpha, work);
  if (alpha == 0 || !work.is_whole()) return;
  work.reads(c.x.lines());
  work.reads(c.y.lines());
  work.writes(c.y.lines());
  if (!work.is_whole()) return;
  for (int64_t i = 0; i < c.x.n; i++) c.y[i] += alpha * c.x[i];
}
template <class T>
void scale(const Change<T> &c) {
  LibraryWork work(c.by, false);
  T alpha = number<T>(c.alpha, work);
  work.reads(c.x.lines());
  work.writes(c.x.lines());
  if (!work.is_whole()) return;
  for (int64_t i = 0; i < c.x.n; i++) c.x[i] *= alpha;
}
template <class T>
void copy(const Change<T> &c) {
  LibraryWork work(c.by, false);
  work.reads(c.x.lines());
  work.writes(c.y.lines());
  if (!work.is_whole()) return;
  for (int64_t i = 0; i < c.x.n; i++) c.y[i] = c.x[i];
}
template <class T>
void swap(const Change<T> &c) {
  LibraryWork work(c.by, false);
  for (const Vector<T> &one : {c.x, c.y}) {
    work.reads(one.lines());
    work.writes(one.lines());
  }
  if (!work.is_whole()) return;
  for (int64_t i = 0; i < c.x.n; i++) {
    T one = c.x[i];
    c.x[i] = c.y[i];
    c.y[i] = one;
  }
}
template <class T>
void multiply_vector(const Change<T> &c) {
  LibraryWork work(c.by, false);
  T alpha = number<T>(c.alpha, work), beta = number<T>(c.beta, work);
  if (!c.m || !c.n || !work.is_whole()) return;
  if (alpha != 0) {
    work.reads(columns_of(c.a, c.m, c.n, c.ld));
    work.reads(c.x.lines());
  }
  if (beta != 0) work.reads(c.y.lines());
  work.writes(c.y.lines());
  if (!work.is_whole()) return;
  for (int64_t i = 0; i < c.y.n; i++) {
    double sum = 0;
    for (int64_t l = 0; alpha != 0 && l < c.x.n; l++)
      sum += static_cast<double>(c.transposes ? c.a[l + i * c.ld] : c.a[i + l * c.ld]) * static_cast<double>(c.x[l]);
    c.y[i] = (alpha != 0 ? alpha * static_cast<T>(sum) : 0) + (beta != 0 ? beta * c.y[i] : 0);
  }
}
template <class T>
void add_outer(const Change<T> &c) {
  LibraryWork work(c.by, false);
  T alpha = number<T>(c.alpha, work);
  if (alpha == 0 || !c.m || !c.n || !work.is_whole()) return;
  work.reads(c.x.lines());
  work.reads(c.y.lines());
  work.reads(columns_of(c.a, c.m, c.n, c.ld));
  work.writes(columns_of(c.a, c.m, c.n, c.ld));
  if (!work.is_whole()) return;
  for (int64_t j = 0; j < c.n; j++)
    for (int64_t i = 0; i < c.m; i++) c.a[i + j * c.ld] += alpha * c.x[i] * c.y[j];
}

template <class T>
cublasStatus_t changed(cublasHandle_t handle, Change<T> change, const void *alpha, const void *beta, void (*does)(const Change<T> &)) {
  if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (alpha) change.alpha = scalar_of(handle, alpha, type_of<T>);
  if (beta) change.beta = scalar_of(handle, beta, type_of<T>);
  return status_of(do_or_capture<Change<T>>(change, change.by, does, true));
}

// c = alpha op(a) + beta op(b), which may lie where a or b lies.
template <class T>
struct MatrixSum {
  Asked by;
  bool transposes_a, transposes_b;
  int64_t m, n;
  Scalar alpha, beta;
  const T *a, *b;
  T *c;
  int64_t lda, ldb, ldc;
};
template <class T>
void add_matrices(const MatrixSum<T> &s) {
  LibraryWork work(s.by, false);
  T alpha = number<T>(s.alpha, work), beta = number<T>(s.beta, work);
  if (!s.m || !s.n || !work.is_whole()) return;
  auto lines = [&](const T *at, bool transposes, int64_t ld) { return columns_of(at, transposes ? s.n : s.m, transposes ? s.m : s.n, ld); };
  if (alpha != 0) work.reads(lines(s.a, s.transposes_a, s.lda));
  if (beta != 0) work.reads(lines(s.b, s.transposes_b, s.ldb));
  work.writes(columns_of(s.c, s.m, s.n, s.ldc));
  if (!work.is_whole()) return;
  auto at = [](const T *from, bool transposes, int64_t ld, int64_t i, int64_t j) { return transposes ? from[j + i * ld] : from[i + j * ld]; };
  for (int64_t j = 0; j < s.n; j++)
    for (int64_t i = 0; i < s.m; i++)
      s.c[i + j * s.ldc] = (alpha != 0 ? alpha * at(s.a, s.transposes_a, s.lda, i, j) : 0) +
                           (beta != 0 ? beta * at(s.b, s.transposes_b, s.ldb, i, j) : 0);
}

}  // namespace

#define BY ASKED(is_handle(handle) ? handle->stream : nullptr, false)
#define VECTORS(T, name_of_axpy, name_of_dot, nrm2, scal, asum, amax, amin, name_of_copy, name_of_swap, gemv, ger, geam)                \
  CUDA_ON_CPU_API cublasStatus_t name_of_axpy(cublasHandle_t handle, int n, const T *alpha, const T *x, int x_step, T *y, int y_step,   \
                                              int line) {                                                                               \
    if (!alpha) return CUBLAS_STATUS_INVALID_VALUE;                                                                                     \
    return changed<T>(handle, {BY, {}, {}, {const_cast<T *>(x), n, x_step}, {y, n, y_step}, nullptr, 0, 0, 0, false}, alpha, nullptr, axpy); \
  }                                                                                                                                     \
  CUDA_ON_CPU_API cublasStatus_t name_of_dot(cublasHandle_t handle, int n, const T *x, int x_step, const T *y, int y_step, T *result,   \
                                             int line) {                                                                                \
    return reduced<T, T>(handle, n, x, x_step, y, y_step, result, dot<T>, BY);                                                          \
  }                                                                                                                                     \
  CUDA_ON_CPU_API cublasStatus_t nrm2(cublasHandle_t handle, int n, const T *x, int x_step, T *result, int line) {                      \
    return reduced<T, T>(handle, n, x, x_step, nullptr, 0, result, norm<T>, BY);                                                        \
  }                                                                                                                                     \
  CUDA_ON_CPU_API cublasStatus_t scal(cublasHandle_t handle, int n, const T *alpha, T *x, int x_step, int line) {                       \
    if (!alpha) return CUBLAS_STATUS_INVALID_VALUE;                                                                                     \
    return changed<T>(handle, {BY, {}, {}, {x, n, x_step}, {}, nullptr, 0, 0, 0, false}, alpha, nullptr, scale);                        \
  }                                                                                                                                     \
  CUDA_ON_CPU_API cublasStatus_t asum(cublasHandle_t handle, int n, const T *x, int x_step, T *result, int line) {                      \
    return reduced<T, T>(handle, n, x, x_step, nullptr, 0, result, sum_of_sizes<T>, BY);                                                \
  }                                                                                                                                     \
  CUDA_ON_CPU_API cublasStatus_t amax(cublasHandle_t handle, int n, const T *x, int x_step, int *result, int line) {                    \
    return reduced<T, int>(handle, n, x, x_step, nullptr, 0, result, place_of_extreme<T, true>, BY);                                    \
  }                                                                                                                                     \
  CUDA_ON_CPU_API cublasStatus_t amin(cublasHandle_t handle, int n, const T *x, int x_step, int *result, int line) {                    \
    return reduced<T, int>(handle, n, x, x_step, nullptr, 0, result, place_of_extreme<T, false>, BY);                                   \
  }                                                                                                                                     \
  CUDA_ON_CPU_API cublasStatus_t name_of_copy(cublasHandle_t handle, int n, const T *x, int x_step, T *y, int y_step, int line) {       \
    return changed<T>(handle, {BY, {}, {}, {const_cast<T *>(x), n, x_step}, {y, n, y_step}, nullptr, 0, 0, 0, false}, nullptr, nullptr, copy); \
  }                                                                                                                                     \
  CUDA_ON_CPU_API cublasStatus_t name_of_swap(cublasHandle_t handle, int n, T *x, int x_step, T *y, int y_step, int line) {             \
    return changed<T>(handle, {BY, {}, {}, {x, n, x_step}, {y, n, y_step}, nullptr, 0, 0, 0, false}, nullptr, nullptr, swap);           \
  }                                                                                                                                     \
  CUDA_ON_CPU_API cublasStatus_t gemv(cublasHandle_t handle, cublasOperation_t of_a, int m, int n, const T *alpha, const T *a, int lda, \
                                      const T *x, int x_step, const T *beta, T *y, int y_step, int line) {                              \
    if (m < 0 || n < 0 || lda < (m > 1 ? m : 1) || !x_step || !y_step || !alpha || !beta) return CUBLAS_STATUS_INVALID_VALUE;           \
    bool transposes = of_a != CUBLAS_OP_N;                                                                                              \
    return changed<T>(handle,                                                                                                           \
                      {BY, {}, {}, {const_cast<T *>(x), transposes ? m : n, x_step}, {y, transposes ? n : m, y_step},                   \
                       const_cast<T *>(a), m, n, lda, transposes},                                                                      \
                      alpha, beta, multiply_vector);                                                                                    \
  }                                                                                                                                     \
  CUDA_ON_CPU_API cublasStatus_t ger(cublasHandle_t handle, int m, int n, const T *alpha, const T *x, int x_step, const T *y,           \
                                     int y_step, T *a, int lda, int line) {                                                             \
    if (m < 0 || n < 0 || lda < (m > 1 ? m : 1) || !x_step || !y_step || !alpha) return CUBLAS_STATUS_INVALID_VALUE;                    \
    return changed<T>(handle, {BY, {}, {}, {const_cast<T *>(x), m, x_step}, {const_cast<T *>(y), n, y_step}, a, m, n, lda, false}, alpha, \
                      nullptr, add_outer);                                                                                              \
  }                                                                                                                                     \
  CUDA_ON_CPU_API cublasStatus_t geam(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n,              \
                                      const T *alpha, const T *a, int lda, const T *beta, const T *b, int ldb, T *c, int ldc,           \
                                      int line) {                                                                                       \
    if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;                                                                       \
    if (m < 0 || n < 0 || ldc < (m > 1 ? m : 1) || !alpha || !beta) return CUBLAS_STATUS_INVALID_VALUE;                                 \
    MatrixSum<T> sum = {BY, of_a != CUBLAS_OP_N, of_b != CUBLAS_OP_N, m, n, scalar_of(handle, alpha, type_of<T>),                       \
                        scalar_of(handle, beta, type_of<T>), a, b, c, lda, ldb, ldc};                                                   \
    return status_of(do_or_capture<MatrixSum<T>>(sum, sum.by, add_matrices));                                                           \
  }
VECTORS(float, cublasSaxpy, cublasSdot, cublasSnrm2, cublasSscal, cublasSasum, cublasIsamax, cublasIsamin, cublasScopy, cublasSswap,
        cublasSgemv, cublasSger, cublasSgeam)
VECTORS(double, cublasDaxpy, cublasDdot, cublasDnrm2, cublasDscal, cublasDasum, cublasIdamax, cublasIdamin, cublasDcopy, cublasDswap,
        cublasDgemv, cublasDger, cublasDgeam)
