// What a tensor core makes of a b + c, as was seen on an H200: products are exact, and where floats are added all terms
// of a step along k (of tf32 four at a time), and the sum that comes in, are cut to two digits beyond the last place of
// the largest; the total is cut to a float, or rounded to a half. So 1 + 1.5 2^-24 is 1. The largest is so by the
// exponents of its factors, of which a denormal one has its format's least, as has a denormal sum; what is 0 does not
// count, and nothing counts as less than 2^-133. Integers wrap round, or are kept in range where asked.
// benchmarks/gpu_tensor_cores.py shows all of it.
#pragma once
#include "../../runtime/warp_operations.h"
#include "narrow.h"
#include "warp.h"

CUDA_ON_CPU_IMPORT void cuda_on_cpu_must_be_aligned(const void *p, uint32_t alignment, int line);

namespace cuda_on_cpu {

// tf32 is a float of which the multiplier does not see the last 13 bits.
CUDA_ON_CPU_UNCHECKED inline double as_multiplied(float x) { return static_cast<double>(from_bits<float>(to_bits(x) & ~uint64_t{0x1fff})); }
template <class T>
CUDA_ON_CPU_UNCHECKED inline double as_multiplied(T x) {
  return static_cast<double>(static_cast<float>(x));
}

// Toward 0, a multiple of 2^last.
CUDA_ON_CPU_UNCHECKED inline double cut(double x, int last) { return ldexp(trunc(ldexp(x, -last)), last); }

CUDA_ON_CPU_UNCHECKED inline float cut_to_float(double x) {
  if (x == 0 || !(x - x == 0)) return static_cast<float>(x);
  int last = ilogb(x) - 23;
  return static_cast<float>(cut(x, last < -149 ? -149 : last));
}

constexpr int least_counted = -133;

// The exponent that a number other than 0 is stored with.
template <class T>
CUDA_ON_CPU_UNCHECKED inline int exponent_of(double x) {
  constexpr int least = [] {
    if constexpr (std::is_same_v<T, float>) return -126;
    else return T::Kind::least;
  }();
  if (!(x - x == 0)) return 0;  // what it makes is no number to be cut
  int own = ilogb(x);
  return own < least ? least : own;
}

// The sum of finite terms below 4 times 2 to this exponent: 27 digits each, and 17 are exact in a double.
template <int count>
CUDA_ON_CPU_UNCHECKED inline double cut_sum(const double (&terms)[count], int exponent) {
  double plain = 0;
  for (double term : terms) plain += term;
  if (!(plain - plain == 0)) return plain;
  int last = exponent - 25;
  double up = ldexp(1.0, -last), sum = 0;
  for (double term : terms) sum += trunc(term * up);
  return ldexp(sum, last);
}

// Where the four fragments of a lane lie. `work` comes first: the runtime knows it alone.
template <class D, class A, class B, class C>
struct Product : TogetherWork {
  D *d;
  const A *a;
  const B *b;
  const C *c;
  bool satf;

  // Element (row, col) of a matrix of which every lane has a fragment.
  template <class F>
  CUDA_ON_CPU_UNCHECKED static auto element(const uint64_t *lanes, const F *Product::*of, int row, int col) {
    return (reinterpret_cast<const Product *>(lanes[F::lane_of(row, col)])->*of)->x[F::index_of(row, col)];
  }

  CUDA_ON_CPU_UNCHECKED static void all(const uint64_t *lanes) {
    using T = typename D::element_type;
    T made[D::rows * D::cols];  // d may be c
    for (int row = 0; row < D::rows; row++)
      for (int col = 0; col < D::cols; col++) {
        auto c = element(lanes, &Product::c, row, col);
        if constexpr (std::is_same_v<T, int>) {
          long long sum = c;
          for (int i = 0; i < A::cols; i++) sum += element(lanes, &Product::a, row, i) * element(lanes, &Product::b, i, col);
          bool clamps = reinterpret_cast<const Product *>(lanes[0])->satf;
          made[row * D::cols + col] = clamps ? saturate<int>(static_cast<double>(sum)) : static_cast<int>(sum);
        } else {
          constexpr int together = std::is_same_v<typename A::element_type, float> ? 4 : A::cols;
          double terms[together + 1], sum = static_cast<double>(static_cast<float>(c));
          for (int first = 0; first < A::cols; first += together) {
            int exponent = sum == 0 ? least_counted : exponent_of<float>(sum);
            for (int i = first; i < first + together; i++) {
              double a = as_multiplied(element(lanes, &Product::a, row, i)), b = as_multiplied(element(lanes, &Product::b, i, col));
              terms[i - first] = a * b;
              if (a == 0 || b == 0) continue;
              int own = exponent_of<typename A::element_type>(a) + exponent_of<typename B::element_type>(b);
              if (own > exponent) exponent = own;
            }
            terms[together] = sum;
            sum = cut_sum(terms, exponent);
            if constexpr (std::is_same_v<T, float>) sum = static_cast<double>(cut_to_float(sum));
          }
          made[row * D::cols + col] = static_cast<T>(sum);
        }
      }
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
