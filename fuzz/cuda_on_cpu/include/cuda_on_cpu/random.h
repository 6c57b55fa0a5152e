// The generators of cuRAND that the cpu device has, XORWOW and Philox4x32-10, as sequences of words; and the numbers that
// are made of words. Device code (curand_kernel.h) and the host's generators (host/random.cpp) share them.
//
// XORWOW: Marsaglia, "Xorshift RNGs", 2003. Philox: Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", SC11.
// tests/fuzz/devices/cpu/programs/test_libraries.py holds both against published answers.
#pragma once
#include <math.h>
#include <stdint.h>

#include "language.h"
#include "vectors.h"

CUDA_ON_CPU_IMPORT void cuda_on_cpu_skip_xorwow(uint32_t *state, uint64_t count, int exponent);

namespace cuda_on_cpu {

// Five words of xorshift, and a counter that is added to the last one.
struct Xorwow {
  static constexpr uint32_t step = 362437;
  static constexpr int sequence_exponent = 67;  // subsequences begin 2^67 steps apart, a multiple of the counter's period
  uint32_t counter, word[5];

  __forceinline__ void start(uint64_t seed) {
    uint32_t low = (static_cast<uint32_t>(seed) ^ 0xaad26b49u) * 1099087573u;
    uint32_t high = (static_cast<uint32_t>(seed >> 32) ^ 0xf7dcefddu) * 2591861531u;
    counter = 6615241u + high + low;
    word[0] = 123456789u + low;
    word[1] = 362436069u ^ low;
    word[2] = 521288629u + high;
    word[3] = 88675123u ^ high;
    word[4] = 5783321u + low;
  }
  __forceinline__ void skip(uint64_t count, int exponent = 0) {
    if (!exponent) counter += step * static_cast<uint32_t>(count);
    if (!count) return;
    uint32_t state[5] = {word[0], word[1], word[2], word[3], word[4]};
    cuda_on_cpu_skip_xorwow(state, count, exponent);
    for (int i = 0; i < 5; i++) word[i] = state[i];
  }
  __forceinline__ uint32_t next() {
    uint32_t t = word[0] ^ word[0] >> 2;
    word[0] = word[1];
    word[1] = word[2];
    word[2] = word[3];
    word[3] = word[4];
    word[4] = (word[4] ^ word[4] << 4) ^ (t ^ t << 1);
    counter += step;
    return word[4] + counter;
  }
};

// Ten rounds on a counter of 128 bits, with a key of 64.
CUDA_ON_CPU_INLINE uint4 philox(uint4 c, uint2 key) {
  for (int round = 0; round < 10; round++) {
    uint64_t first = uint64_t{0xD2511F53u} * c.x, second = uint64_t{0xCD9E8D57u} * c.z;
    c = {static_cast<uint32_t>(second >> 32) ^ c.y ^ key.x, static_cast<uint32_t>(second),
         static_cast<uint32_t>(first >> 32) ^ c.w ^ key.y, static_cast<uint32_t>(first)};
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  return c;
}

// In (0, 1], from 32 bits and from 53; Philox makes a double of 32 bits.
CUDA_ON_CPU_INLINE float uniform(uint32_t x) { return static_cast<float>(x) * 0x1p-32f + 0x1p-33f; }
CUDA_ON_CPU_INLINE double uniform(uint32_t x, uint32_t y) {
  uint64_t z = uint64_t{x} ^ uint64_t{y} << 21;
  return static_cast<double>(z) * 0x1p-53 + 0x1p-54;
}
CUDA_ON_CPU_INLINE double uniform_of_word(uint32_t x) { return static_cast<double>(x) * 0x1p-32 + 0x1p-32; }

// By Box and Muller: the sine first, then the cosine. (In single precision a GPU takes its fast sine: the last digits differ.)
CUDA_ON_CPU_INLINE float2 normals(uint32_t x, uint32_t y) {
  constexpr float turn = 0x1p-32f * 6.2831855f;
  float angle = static_cast<float>(y) * turn + turn / 2, size = sqrtf(-2.0f * logf(uniform(x)));
  return {size * sinf(angle), size * cosf(angle)};
}
CUDA_ON_CPU_INLINE double2 normals(uint32_t x0, uint32_t x1, uint32_t y0, uint32_t y1) {
  constexpr double pi = 3.14159265358979323846;
  double angle = pi * (2 * uniform(y0, y1)), size = sqrt(-2.0 * log(uniform(x0, x1)));
  return {size * sin(angle), size * cos(angle)};
}

}  // namespace cuda_on_cpu
