// How a tensor core computes a b + c, as observed on an H200: products are exact, and where floats are added, all terms
// of a step along k (for tf32 four at a time), and the incoming sum, are truncated to two digits beyond the last place
// of the largest; the total is truncated to a float, or rounded to a half. So 1 + 1.5 2^-24 is 1. The largest is chosen
// by the exponents of its factors: a denormal factor has its format's smallest exponent, as has a denormal sum; zeros
// do not count, and nothing counts as less than 2^-133. Integers wrap round, or saturate where requested.
// benchmarks/tightness/gpu_tensor_cores.py shows all of it.
#pragma once
#include "../../runtime/warp_operations.h"
#include "narrow.h"
#include "warp.h"

CUDA_ON_CPU_IMPORT void cuda_on_cpu_must_be_aligned(const void *p, uint32_t alignment, int line);

namespace cuda_on_cpu {

// tf32 is a float whose last 13 bits the multiplier ignores.
CUDA_ON_CPU_UNCHECKED inline double as_multiplied(float x) { return static_cast<double>(from_bits<float>(to_bits(x) & ~uint64_t{0x1fff})); }
template <class T>
CUDA_ON_CPU_UNCHECKED inline double as_multiplied(T x) {
  return static_cast<double>(static_cast<float>(x));
}

// Toward 0: the first 24 digits of a normal float, the multiples of 2^-149 for a smaller one.
CUDA_ON_CPU_UNCHECKED inline float cut_to_float(double x) {
  if (x == 0 || !(x - x == 0)) return static_cast<float>(x);
  constexpr uint64_t beyond_a_float = (uint64_t{1} << 29) - 1;
  if (fabs(x) >= 0x1p-126) return static_cast<float>(from_bits<double>(to_bits(x) & ~beyond_a_float));
  return static_cast<float>(ldexp(trunc(ldexp(x, 149)), -149));
}

constexpr int least_counted = -133, of_zero = -(1 << 20);

// The stored exponent of a number other than 0; the number is a normal double.
template <class T>
CUDA_ON_CPU_UNCHECKED inline int exponent_of(double x) {
  constexpr int least = [] {
    if constexpr (std::is_same_v<T, float>) return -126;
    else return T::Kind::least;
  }();
  int own = static_cast<int>(to_bits(x) >> 52 & 0x7ff) - 1023;
  if (own == 1024) return 0;  // the result is not a number to be truncated
  return own < least ? least : own;
}

// For a normal double.
CUDA_ON_CPU_UNCHECKED inline double power_of_two(int exponent) {
  return from_bits<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

// The sum of finite terms below 4 times 2 to this exponent: 27 digits each, and 17 are exact in a double.
template <int count>
CUDA_ON_CPU_UNCHECKED inline double cut_sum(const double (&terms)[count], int exponent) {
  double plain = 0;
  for (double term : terms) plain += term;
  if (!(plain - plain == 0)) return plain;
  int last = exponent - 25;
  double up = power_of_two(-last);
  int64_t sum = 0;
  for (double term : terms) sum += static_cast<int64_t>(term * up);
  return static_cast<double>(sum) * power_of_two(last);
}

// The four fragments of a lane. `work` comes first: the runtime knows only that.
template <class D, class A, class B, class C>
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
    constexpr int together = std::is_same_v<typename A::element_type, float> ? 4 : A::cols;
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
          sum = cut_sum(terms, exponent);
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

template <class D, class A, class B, class C>
inline void multiply(D &d, const A &a, const B &b, const C &c, bool satf, int line) {
  Product<D, A, B, C> own = {{&Product<D, A, B, C>::all}, &d, &a, &b, &c, satf};
  cuda_on_cpu_warp(WarpOperation::together, ~0u, reinterpret_cast<uint64_t>(&own), 0, line);
}

}  // namespace cuda_on_cpu
