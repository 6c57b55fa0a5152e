// cuBLAS: many small matrices, each as a product of a lower and an upper triangle.
#include <cmath>
#include <type_traits>
#include <utility>

#include "cublas.h"

using namespace cuda_on_cpu;

namespace {

template <class T>
struct Factoring {
  Asked by;
  T *const *list;  // on the device, as the matrices are
  int n, ld;
  int *pivots;  // n of each matrix; null: rows keep their places
  int *info;
  int batches;
};

// In place, rows in the order of the largest first element. The number of the first pivot that is 0, counted from 1; or 0.
template <class T>
int factor(T *a, int64_t n, int64_t ld, int *pivots) {
  int first_zero = 0;
  auto of = [&](int64_t row, int64_t column) -> T & { return a[column * ld + row]; };
  for (int64_t k = 0; k < n; k++) {
    int64_t best = k;
    for (int64_t row = k + 1; pivots && row < n; row++)
      if (std::fabs(of(row, k)) > std::fabs(of(best, k))) best = row;
    if (pivots) pivots[k] = static_cast<int>(best + 1);
    if (of(best, k) == 0) {
      if (!first_zero) first_zero = static_cast<int>(k + 1);
      continue;
    }
    for (int64_t column = 0; best != k && column < n; column++) std::swap(of(k, column), of(best, column));
    for (int64_t row = k + 1; row < n; row++) of(row, k) /= of(k, k);
    for (int64_t column = k + 1; column < n; column++)
      for (int64_t row = k + 1; row < n; row++) of(row, column) -= of(row, k) * of(k, column);
  }
  return first_zero;
}

template <class T>
void factor_all(const Factoring<T> &f) {
  LibraryWork work(f.by, false);
  auto batches = static_cast<size_t>(f.batches), n = static_cast<size_t>(f.n);
  work.reads({f.list, batches * sizeof(T *), 1, 0});
  if (!work.is_whole()) return;
  for (size_t i = 0; i < batches; i++) {
    Lines columns = {f.list[i], n * sizeof(T), n, static_cast<size_t>(f.ld) * sizeof(T)};
    work.reads(columns);
    work.writes(columns);
  }
  if (f.pivots) work.writes({f.pivots, batches * n * sizeof(int), 1, 0});
  work.writes({f.info, batches * sizeof(int), 1, 0});
  if (!work.is_whole()) return;
  for (size_t i = 0; i < batches; i++) f.info[i] = factor(f.list[i], f.n, f.ld, f.pivots ? f.pivots + i * n : nullptr);
}

template <class T>
cublasStatus_t factored(cublasHandle_t handle, int n, T *const list[], int ld, int *pivots, int *info, int batches, const Asked &by) {
  if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (n < 0 || batches < 0 || ld < (n > 1 ? n : 1)) return CUBLAS_STATUS_INVALID_VALUE;
  if (!n || !batches) return CUBLAS_STATUS_SUCCESS;
  return status_of(do_or_capture<Factoring<T>>({by, list, n, ld, pivots, info, batches}, by, factor_all));
}

}  // namespace

#define FACTORING(name, T)                                                                                                             \
  CUDA_ON_CPU_API cublasStatus_t name(cublasHandle_t handle, int n, T *const list[], int ld, int *pivots, int *info, int batches, int line) { \
    Alone alone;                                                                                                                       \
    return factored<T>(handle, n, list, ld, pivots, info, batches, ASKED(is_handle(handle) ? handle->stream : nullptr, false));        \
  }
FACTORING(cublasSgetrfBatched, float)
FACTORING(cublasDgetrfBatched, double)
