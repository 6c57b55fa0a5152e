#include "products.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "../runtime/sampling.h"

namespace cuda_on_cpu {

namespace {

#if defined(__x86_64__) && !defined(__clang__)
#define CUDA_ON_CPU_WIDE __attribute__((target_clones("avx2", "default")))  // wide registers, where the processor has them
#else
#define CUDA_ON_CPU_WIDE
#endif

// c = a b for dense columns: strips of rows of `a` stay in the cache, and four columns of the result in registers' reach.
// Each element adds its products in the order of k, whatever the processor.
constexpr int64_t strip = 128, together = 4;
#define CUDA_ON_CPU_MULTIPLY(Real)                                                                       \
  CUDA_ON_CPU_WIDE void multiply_dense(const Real *a, const Real *b, Real *c, int64_t m, int64_t n, int64_t k) { \
    for (int64_t i = 0; i < m; i += strip) {                                                              \
      int64_t rows = m - i < strip ? m - i : strip;                                                       \
      for (int64_t j = 0; j < n; j += together) {                                                         \
        int64_t columns = n - j < together ? n - j : together;                                            \
        Real sum[together][strip] = {};                                                                   \
        for (int64_t l = 0; l < k; l++) {                                                                 \
          const Real *from = a + i + l * m;                                                               \
          for (int64_t q = 0; q < columns; q++) {                                                         \
            Real factor = b[l + (j + q) * k];                                                             \
            for (int64_t r = 0; r < rows; r++) sum[q][r] += from[r] * factor;                             \
          }                                                                                               \
        }                                                                                                 \
        for (int64_t q = 0; q < columns; q++)                                                             \
          memcpy(c + i + (j + q) * m, sum[q], static_cast<size_t>(rows) * sizeof(Real));                  \
      }                                                                                                   \
    }                                                                                                     \
  }
CUDA_ON_CPU_MULTIPLY(float)
CUDA_ON_CPU_MULTIPLY(double)
#undef CUDA_ON_CPU_MULTIPLY

const char *place_of(const Matrix &matrix, const void *at, int64_t row, int64_t column) {
  int64_t index = matrix.by_rows ? row * matrix.ld + column : column * matrix.ld + row;
  return static_cast<const char *>(at) + index * static_cast<int64_t>(bytes_of(matrix.type));
}

const void *start_of(const Matrix &matrix, int64_t batch) {
  if (matrix.is_list) return static_cast<const void *const *>(matrix.at)[batch];
  return static_cast<const char *>(matrix.at) + batch * matrix.stride * static_cast<int64_t>(bytes_of(matrix.type));
}

Lines lines_of(const Matrix &matrix, int64_t batch) {
  auto line = static_cast<size_t>(matrix.by_rows ? matrix.columns : matrix.rows), count = static_cast<size_t>(matrix.by_rows ? matrix.rows : matrix.columns);
  size_t element = bytes_of(matrix.type);
  return {start_of(matrix, batch), line * element, count, static_cast<size_t>(matrix.ld) * element};
}

void read_all(const Matrix &matrix, int64_t batches, LibraryWork &work) {
  if (matrix.is_list) work.reads({matrix.at, sizeof(void *), static_cast<size_t>(batches), sizeof(void *)});
  bool is_shared = !matrix.is_list && !matrix.stride;
  for (int64_t batch = 0; work.is_whole() && batch < (is_shared ? 1 : batches); batch++) work.reads(lines_of(matrix, batch));
}

void write_all(const Matrix &matrix, int64_t batches, LibraryWork &work) {
  if (matrix.is_list) work.reads({matrix.at, sizeof(void *), static_cast<size_t>(batches), sizeof(void *)});
  for (int64_t batch = 0; (work.is_whole() || !matrix.is_list) && batch < batches; batch++) work.writes(lines_of(matrix, batch));
}

// Dense columns of op(matrix).
template <class Real>
void load(const Matrix &matrix, const void *at, bool transposes, Real *to) {
  int64_t rows = transposes ? matrix.columns : matrix.rows, columns = transposes ? matrix.rows : matrix.columns;
  for (int64_t j = 0; j < columns; j++)
    for (int64_t i = 0; i < rows; i++)
      *to++ = static_cast<Real>(element_at(transposes ? place_of(matrix, at, j, i) : place_of(matrix, at, i, j), matrix.type));
}

// GELU by tanh, as cuBLASLt has it.
double activated(double x, Activation how) {
  if (how == Activation::relu) return x > 0 || x != x ? x : 0;
  if (how != Activation::gelu) return x;
  constexpr double root_of_2_by_pi = 0.7978845608028654;
  return 0.5 * x * (1 + std::tanh(root_of_2_by_pi * (x + 0.044715 * x * x * x)));
}

template <class Real>
void compute(const Product &p, Real alpha, Real beta) {
  bool multiplies = alpha != 0 && p.k > 0;
  auto count = [](int64_t rows, int64_t columns) { return static_cast<size_t>(rows * columns + 1); };
  auto *room = static_cast<Real *>(malloc((count(p.m, p.k) + count(p.k, p.n) + count(p.m, p.n)) * sizeof(Real)));
  Real *a = room, *b = a + count(p.m, p.k), *product = b + count(p.k, p.n);
  for (int64_t batch = 0; batch < p.batches; batch++) {
    if (multiplies) {
      load(p.a, start_of(p.a, batch), p.transposes_a, a);
      load(p.b, start_of(p.b, batch), p.transposes_b, b);
      multiply_dense(a, b, product, p.m, p.n, p.k);
    }
    const void *before = p.c.at ? start_of(p.c, batch) : nullptr;
    const void *after = start_of(p.d, batch);
    for (int64_t j = 0; j < p.n; j++)
      for (int64_t i = 0; i < p.m; i++) {
        Real sum = multiplies ? alpha * product[i + j * p.m] : 0;
        if (beta != 0) sum += beta * static_cast<Real>(element_at(place_of(p.c, before, i, j), p.c.type));
        double value = static_cast<double>(sum);
        if (p.bias) value += element_at(static_cast<const char *>(p.bias) + static_cast<size_t>(i) * bytes_of(p.bias_type), p.bias_type);
        auto put = [&](const void *to, double one) { set_element(const_cast<void *>(to), p.d.type, one); };
        if (p.before_activation) put(static_cast<const char *>(p.before_activation) + static_cast<size_t>(i + j * p.before_ld) * bytes_of(p.d.type), value);
        put(place_of(p.d, after, i, j), activated(value, p.activation));
      }
  }
  free(room);
}

}  // namespace

void multiply(const Product &p) {
  LibraryWork work(p.by, false);
  double alpha = number_of(p.alpha, p.scale, work), beta = number_of(p.beta, p.scale, work);
  if (!p.m || !p.n || !p.batches || !work.is_whole()) return;
  if (alpha != 0 && p.k > 0) {
    read_all(p.a, p.batches, work);
    read_all(p.b, p.batches, work);
  }
  if (beta != 0) read_all(p.c, p.batches, work);
  if (p.bias) work.reads({p.bias, static_cast<size_t>(p.m) * bytes_of(p.bias_type), 1, 0});
  size_t element = bytes_of(p.d.type);
  if (p.before_activation)
    work.writes({p.before_activation, static_cast<size_t>(p.m) * element, static_cast<size_t>(p.n), static_cast<size_t>(p.before_ld) * element});
  write_all(p.d, p.batches, work);
  if (!work.is_whole()) return;
  count_accesses_of_library(2 * static_cast<uint64_t>(p.m) * static_cast<uint64_t>(p.n) * static_cast<uint64_t>(p.k) * static_cast<uint64_t>(p.batches));
  if (p.arithmetic == CUDA_R_32F)
    compute(p, static_cast<float>(alpha), static_cast<float>(beta));
  else
    compute(p, alpha, beta);
}

}  // namespace cuda_on_cpu
