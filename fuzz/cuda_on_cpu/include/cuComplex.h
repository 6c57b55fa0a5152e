// Complex numbers as pairs (cuComplex.h), with the operations in CUDA's order.
#pragma once
#include "cuda_on_cpu.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

namespace cuda_on_cpu {

// Smith's scaling: both parts of the divisor are divided by the sum of their sizes.
template <class Complex, class Real>
__host__ __device__ inline Complex complex_quotient(Complex x, Complex y, Real size) {
  Real scale = Real(1) / size;
  Real xr = x.x * scale, xi = x.y * scale, yr = y.x * scale, yi = y.y * scale;
  Real over = Real(1) / (yr * yr + yi * yi);
  return {(xr * yr + xi * yi) * over, (xi * yr - xr * yi) * over};
}

}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_COMPLEX(Complex, Real, f, C)                                                                          \
  __host__ __device__ static inline Complex make_##C(Real re, Real im) { return {re, im}; }                                \
  __host__ __device__ static inline Real cuCreal##f(Complex x) { return x.x; }                                             \
  __host__ __device__ static inline Real cuCimag##f(Complex x) { return x.y; }                                             \
  __host__ __device__ static inline Complex cuConj##f(Complex x) { return {x.x, -x.y}; }                                   \
  __host__ __device__ static inline Complex cuCadd##f(Complex x, Complex y) { return {x.x + y.x, x.y + y.y}; }             \
  __host__ __device__ static inline Complex cuCsub##f(Complex x, Complex y) { return {x.x - y.x, x.y - y.y}; }             \
  __host__ __device__ static inline Complex cuCmul##f(Complex x, Complex y) {                                              \
    return {x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x};                                                                 \
  }                                                                                                                        \
  __host__ __device__ static inline Complex cuCdiv##f(Complex x, Complex y) {                                              \
    return cuda_on_cpu::complex_quotient(x, y, fabs##f(y.x) + fabs##f(y.y));                                               \
  }                                                                                                                        \
  __host__ __device__ static inline Real cuCabs##f(Complex x) { return hypot##f(x.x, x.y); }                               \
  __host__ __device__ static inline Complex cuCfma##f(Complex x, Complex y, Complex d) {                                   \
    return {x.x * y.x + d.x - x.y * y.y, x.x * y.y + d.y + x.y * y.x};                                                     \
  }
CUDA_ON_CPU_COMPLEX(cuFloatComplex, float, f, cuFloatComplex)
CUDA_ON_CPU_COMPLEX(cuDoubleComplex, double, , cuDoubleComplex)
#undef CUDA_ON_CPU_COMPLEX

__host__ __device__ static inline cuComplex make_cuComplex(float re, float im) { return {re, im}; }
__host__ __device__ static inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex c) { return {c.x, c.y}; }
__host__ __device__ static inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex c) {
  return {static_cast<float>(c.x), static_cast<float>(c.y)};
}
