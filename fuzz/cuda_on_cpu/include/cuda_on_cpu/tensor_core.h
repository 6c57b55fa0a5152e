// Products of matrices by the tensor cores of a warp: fragments that are spread over its lanes. tensor_sums.h says how sums of
// floats are cut; integers wrap round, or saturate where requested.
#pragma once
#include "../../runtime/tensor_sums.h"
#include "../../runtime/warp_operations.h"
#include "narrow.h"
#include "warp.h"

CUDA_ON_CPU_IMPORT void cuda_on_cpu_must_be_aligned(const void *p, uint32_t alignment, int line);

namespace cuda_on_cpu {

// tf32 is a float whose last 13 bits the multiplier ignores.
CUDA_ON_CPU_UNCHECKED inline double as_multiplied(float x) { return static_cast<double>(from_bits<float>(to_bits(x) & ~uint64_t{0x1fff})); }
template <class T>
CUDA_ON_CPU_UNCHECKED inline double as_multiplied(T x) { return static_cast<double>(static_cast<float>(x)); }

// The stored exponent of a number other than 0; the number is a normal double.
template <class T>
CUDA_ON_CPU_UNCHECKED inline int exponent_of(double x) {
  constexpr int least = [] {
    if constexpr (std::is_same_v<T, float>) return least_of_float;
    else return T::Kind::least;
  }();
  return exponent_from(x, least);
}

// How many products wmma adds at once: its tf32 is two instructions of four.
template <class A>
constexpr int added_at_once = std::is_same_v<typename A::element_type, float> ? 4 : A::cols;

// The four fragments of a lane. `work` comes first: the runtime knows only that.
template <class D, class A, class B, class C, int together>
struct Product : TogetherWork {
  D *d;
  const A *a;
  const B *b;
  const C *c;
  bool satf;

  // Element (row, col) of a matrix that is spread over the lanes' fragments.
  template <class F>
  CUDA_ON_CPU_UNCHECKED static auto element(const uint64_t *lanes, const F *Product::*of, int row, int col) {
    return (reinterpret_cast<const Product *>(lanes[F::lane_of(row, col)])->*of)->x[F::index_of(row, col)];
  }

  // A matrix of factors, each with its exponent: every one is in as many products as there are rows or columns.
  template <class F>
  struct Factors {
    double value[F::rows][F::cols];
    int exponent[F::rows][F::cols];
    CUDA_ON_CPU_UNCHECKED Factors(const uint64_t *lanes, const F *Product::*of) {
      for (int row = 0; row < F::rows; row++)
        for (int col = 0; col < F::cols; col++) {
          double x = value[row][col] = as_multiplied(element(lanes, of, row, col));
          exponent[row][col] = x == 0 ? of_zero : exponent_of<typename F::element_type>(x);
        }
    }
  };

  CUDA_ON_CPU_UNCHECKED static void add_up_integers(const uint64_t *lanes, int *made) {
    bool clamps = reinterpret_cast<const Product *>(lanes[0])->satf;
    for (int row = 0; row < D::rows; row++)
      for (int col = 0; col < D::cols; col++) {
        long long sum = element(lanes, &Product::c, row, col);
        for (int i = 0; i < A::cols; i++) sum += element(lanes, &Product::a, row, i) * element(lanes, &Product::b, i, col);
        made[row * D::cols + col] = clamps ? saturate<int>(static_cast<double>(sum)) : static_cast<int>(sum);
      }
  }

  // Each step a fused multiply-add, in the order of k.
  CUDA_ON_CPU_UNCHECKED static void add_up_doubles(const uint64_t *lanes, double *made) {
    for (int row = 0; row < D::rows; row++)
      for (int col = 0; col < D::cols; col++) {
        double sum = element(lanes, &Product::c, row, col);
        for (int i = 0; i < A::cols; i++) sum = __builtin_fma(element(lanes, &Product::a, row, i), element(lanes, &Product::b, i, col), sum);
        made[row * D::cols + col] = sum;
      }
  }

  template <class T>
  CUDA_ON_CPU_UNCHECKED static void add_up(const uint64_t *lanes, T *made) {
    const Factors<A> a(lanes, &Product::a);
    const Factors<B> b(lanes, &Product::b);
    double terms[together + 1];
    for (int row = 0; row < D::rows; row++)
      for (int col = 0; col < D::cols; col++) {
        double sum = static_cast<double>(static_cast<float>(element(lanes, &Product::c, row, col)));
        for (int first = 0; first < A::cols; first += together) {
          int exponent = sum == 0 ? least_counted : exponent_of<float>(sum);
          for (int i = 0; i < together; i++) {
            terms[i] = a.value[row][first + i] * b.value[first + i][col];
            int own = a.exponent[row][first + i] + b.exponent[first + i][col];
            if (own > exponent) exponent = own;
          }
          terms[together] = sum;
          sum = cut_sum(terms, together + 1, exponent);
          if constexpr (std::is_same_v<T, float>) sum = static_cast<double>(cut_to_float(sum));
        }
        made[row * D::cols + col] = static_cast<T>(sum);
      }
  }

  CUDA_ON_CPU_UNCHECKED static void all(const uint64_t *lanes) {
    using T = typename D::element_type;
    T made[D::rows * D::cols];  // d may be c
    if constexpr (std::is_same_v<T, int>) add_up_integers(lanes, made);
    else if constexpr (std::is_same_v<T, double>) add_up_doubles(lanes, made);
    else add_up(lanes, made);
    for (int row = 0; row < D::rows; row++)
      for (int col = 0; col < D::cols; col++)
        reinterpret_cast<const Product *>(lanes[D::lane_of(row, col)])->d->x[D::index_of(row, col)] = made[row * D::cols + col];
  }
};

template <int together = 0, class D, class A, class B, class C>
inline void multiply(D &d, const A &a, const B &b, const C &c, bool satf, int line) {
  using Own = Product<D, A, B, C, together ? together : added_at_once<A>>;
  Own own = {{&Own::all}, &d, &a, &b, &c, satf};
  cuda_on_cpu_warp(WarpOperation::together, ~0u, reinterpret_cast<uint64_t>(&own), 0, line);
}

}  // namespace cuda_on_cpu
