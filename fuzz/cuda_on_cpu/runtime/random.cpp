// Skipping in a sequence of XORWOW: its five words of xorshift are multiplied with a power of one matrix over GF(2).
//
// Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (14), 2003, gives the recurrence (xorwow); the matrix of one
// step, and from it those of 2, 4, 8 ... steps, follow.
#include "abi.h"
#include "state.h"

using namespace cuda_on_cpu;

namespace {

constexpr int words = 5, bits = 32 * words, most_powers = 64 + 67;

struct Vector {
  uint32_t word[words];
};
// What each bit of the state becomes after so many steps.
struct Matrix {
  Vector of[bits];
};
struct Powers {
  Matrix of_two[most_powers];  // of 2^i steps
  int known;
};
PerProcess<Powers> powers;

Vector stepped(const Vector &v) {
  uint32_t t = v.word[0] ^ v.word[0] >> 2;
  return {{v.word[1], v.word[2], v.word[3], v.word[4], (v.word[4] ^ v.word[4] << 4) ^ (t ^ t << 1)}};
}

Vector product(const Matrix &m, const Vector &v) {
  Vector sum = {};
  for (int i = 0; i < bits; i++)
    if (v.word[i / 32] >> (i % 32) & 1)
      for (int w = 0; w < words; w++) sum.word[w] ^= m.of[i].word[w];
  return sum;
}

const Matrix &power(int exponent) {
  for (; powers.known <= exponent; powers.known++) {
    Matrix &next = powers.of_two[powers.known];
    for (int i = 0; i < bits; i++) {
      Vector unit = {};
      unit.word[i / 32] = 1u << (i % 32);
      next.of[i] = powers.known ? product(powers.of_two[powers.known - 1], powers.of_two[powers.known - 1].of[i]) : stepped(unit);
    }
  }
  return powers.of_two[exponent];
}

}  // namespace

// `count` times 2^`exponent` steps. Device code calls it with a state of its own (include/curand_kernel.h).
CUDA_ON_CPU_API void cuda_on_cpu_skip_xorwow(uint32_t *state, uint64_t count, int exponent) {
  Vector v;
  __builtin_memcpy(&v, state, sizeof v);
  for (int i = 0; i < 64; i++)
    if (count >> i & 1) v = product(power(exponent + i), v);
  __builtin_memcpy(state, &v, sizeof v);
}
