// Sobol' sequences in Gray code order, as sequences of words of 32 or 64 bits.
//
// Bratley and Fox, "Algorithm 659", 1988; the polynomials and the first direction numbers are the first ten of Joe and Kuo,
// "Constructing Sobol sequences with better two-dimensional projections", 2008 (new-joe-kuo-6).
#pragma once
#include <stdint.h>

#include "language.h"

namespace cuda_on_cpu {

constexpr int sobol_dimensions = 10;
struct Directions {
  int degree, coefficients, first[5];
};
constexpr Directions first_directions[sobol_dimensions] = {
    {0, 0, {}},
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}}};

// The words of one dimension: bit k of a number's Gray code stands for word k.
template <class Word>
CUDA_ON_CPU_INLINE void make_directions(int dimension, Word *to) {
  constexpr int bits = sizeof(Word) * 8;
  const Directions &d = first_directions[dimension];
  for (int k = 0; k < bits; k++) {
    if (!d.degree) {
      to[k] = Word{1} << (bits - 1 - k);
    } else if (k < d.degree) {
      to[k] = static_cast<Word>(d.first[k]) << (bits - 1 - k);
    } else {
      to[k] = to[k - d.degree] ^ to[k - d.degree] >> d.degree;
      for (int i = 1; i < d.degree; i++)
        if (d.coefficients >> (d.degree - 1 - i) & 1) to[k] ^= to[k - i];
    }
  }
}

// Point number n of a dimension.
template <class Word>
CUDA_ON_CPU_INLINE Word sobol(const Word *directions, uint64_t n) {
  Word x = 0;
  uint64_t gray = n ^ n >> 1;
  for (int k = 0; k < static_cast<int>(sizeof(Word) * 8); k++)
    if (gray >> k & 1) x ^= directions[k];
  return x;
}

// In (0, 1], as of other words of cuRAND.
CUDA_ON_CPU_INLINE float sobol_uniform(uint32_t x) { return static_cast<float>(x) * 0x1p-32f + 0x1p-33f; }
CUDA_ON_CPU_INLINE float sobol_uniform(uint64_t x) { return sobol_uniform(static_cast<uint32_t>(x >> 32)); }
CUDA_ON_CPU_INLINE double sobol_uniform_double(uint32_t x) { return static_cast<double>(x) * 0x1p-32 + 0x1p-32; }
CUDA_ON_CPU_INLINE double sobol_uniform_double(uint64_t x) { return static_cast<double>(x >> 11) * 0x1p-53 + 0x1p-53; }

}  // namespace cuda_on_cpu
