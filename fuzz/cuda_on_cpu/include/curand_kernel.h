// cuRAND in device code: XORWOW, Philox4x32-10, and the words and uniform numbers of Sobol'. Other generators and distributions are refused (fuzz/devices/cpu/translate.py).
#pragma once
#include "cuda_on_cpu.h"
#include "cuda_on_cpu/random.h"
#include "cuda_on_cpu/sobol.h"

// Of two normals, the second waits for the next call.
struct curandStateXORWOW {
  unsigned int d, v[5];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  unsigned int unused;
  double boxmuller_extra_double;
};
struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned int STATE;
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef curandStateXORWOW curandStateXORWOW_t, curandState, curandState_t;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

namespace cuda_on_cpu {

CUDA_ON_CPU_INLINE Xorwow words_of(const curandStateXORWOW &s) { return {s.d, {s.v[0], s.v[1], s.v[2], s.v[3], s.v[4]}}; }
CUDA_ON_CPU_INLINE void keep(const Xorwow &x, curandStateXORWOW &s) {
  s.d = x.counter;
  for (int i = 0; i < 5; i++) s.v[i] = x.word[i];
}

// The counter of Philox: four words, of which the upper two number subsequences.
CUDA_ON_CPU_INLINE void add_to_counter(curandStatePhilox4_32_10 &s, uint64_t low, uint64_t high) {
  uint64_t before = uint64_t{s.ctr.y} << 32 | s.ctr.x, after = before + low;
  uint64_t upper = (uint64_t{s.ctr.w} << 32 | s.ctr.z) + high + (after < before);
  s.ctr = {static_cast<uint32_t>(after), static_cast<uint32_t>(after >> 32), static_cast<uint32_t>(upper), static_cast<uint32_t>(upper >> 32)};
  s.output = philox(s.ctr, s.key);
}

}  // namespace cuda_on_cpu

CUDA_ON_CPU_INLINE void skipahead(unsigned long long n, curandStateXORWOW *s) {
  cuda_on_cpu::Xorwow x = cuda_on_cpu::words_of(*s);
  x.skip(n);
  cuda_on_cpu::keep(x, *s);
}
CUDA_ON_CPU_INLINE void skipahead_sequence(unsigned long long n, curandStateXORWOW *s) {
  cuda_on_cpu::Xorwow x = cuda_on_cpu::words_of(*s);
  x.skip(n, cuda_on_cpu::Xorwow::sequence_exponent);
  cuda_on_cpu::keep(x, *s);
}
CUDA_ON_CPU_INLINE void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset, curandStateXORWOW *s) {
  cuda_on_cpu::Xorwow x;
  x.start(seed);
  x.skip(subsequence, cuda_on_cpu::Xorwow::sequence_exponent);
  x.skip(offset);
  *s = {};
  cuda_on_cpu::keep(x, *s);
}
CUDA_ON_CPU_INLINE unsigned int curand(curandStateXORWOW *s) {
  cuda_on_cpu::Xorwow x = cuda_on_cpu::words_of(*s);
  unsigned int word = x.next();
  cuda_on_cpu::keep(x, *s);
  return word;
}

CUDA_ON_CPU_INLINE void skipahead(unsigned long long n, curandStatePhilox4_32_10 *s) {
  unsigned long long place = s->STATE + n % 4;
  s->STATE = place % 4;
  cuda_on_cpu::add_to_counter(*s, n / 4 + place / 4, 0);
}
CUDA_ON_CPU_INLINE void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10 *s) { cuda_on_cpu::add_to_counter(*s, 0, n); }
CUDA_ON_CPU_INLINE void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset, curandStatePhilox4_32_10 *s) {
  *s = {};
  s->key = {static_cast<unsigned int>(seed), static_cast<unsigned int>(seed >> 32)};
  skipahead_sequence(subsequence, s);
  skipahead(offset, s);
}
CUDA_ON_CPU_INLINE unsigned int curand(curandStatePhilox4_32_10 *s) {
  uint4 o = s->output;
  unsigned int place = s->STATE, word = place == 0 ? o.x : place == 1 ? o.y : place == 2 ? o.z : o.w;
  skipahead(1, s);
  return word;
}
// The next four words, wherever in its four the state is.
CUDA_ON_CPU_INLINE uint4 curand4(curandStatePhilox4_32_10 *s) {
  uint4 a = s->output;
  cuda_on_cpu::add_to_counter(*s, 1, 0);
  uint4 b = s->output;
  switch (s->STATE) {
    case 0: return a;
    case 1: return {a.y, a.z, a.w, b.x};
    case 2: return {a.z, a.w, b.x, b.y};
    default: return {a.w, b.x, b.y, b.z};
  }
}

#define CUDA_ON_CPU_DISTRIBUTIONS(State)                                                                       \
  CUDA_ON_CPU_INLINE float curand_uniform(State *s) { return cuda_on_cpu::uniform(curand(s)); }                \
  CUDA_ON_CPU_INLINE float2 curand_normal2(State *s) {                                                         \
    unsigned int x = curand(s), y = curand(s);                                                                 \
    return cuda_on_cpu::normals(x, y);                                                                         \
  }                                                                                                            \
  CUDA_ON_CPU_INLINE float curand_normal(State *s) {                                                           \
    if (s->boxmuller_flag) {                                                                                   \
      s->boxmuller_flag = 0;                                                                                   \
      return s->boxmuller_extra;                                                                               \
    }                                                                                                          \
    float2 both = curand_normal2(s);                                                                           \
    s->boxmuller_extra = both.y;                                                                               \
    s->boxmuller_flag = 1;                                                                                     \
    return both.x;                                                                                             \
  }                                                                                                            \
  CUDA_ON_CPU_INLINE double2 curand_normal2_double(State *s) {                                                 \
    unsigned int x = curand(s), y = curand(s), z = curand(s), w = curand(s);                                   \
    return cuda_on_cpu::normals(x, y, z, w);                                                                   \
  }                                                                                                            \
  CUDA_ON_CPU_INLINE double curand_normal_double(State *s) {                                                   \
    if (s->boxmuller_flag_double) {                                                                            \
      s->boxmuller_flag_double = 0;                                                                            \
      return s->boxmuller_extra_double;                                                                        \
    }                                                                                                          \
    double2 both = curand_normal2_double(s);                                                                   \
    s->boxmuller_extra_double = both.y;                                                                        \
    s->boxmuller_flag_double = 1;                                                                              \
    return both.x;                                                                                             \
  }                                                                                                            \
  CUDA_ON_CPU_INLINE float curand_log_normal(State *s, float mean, float stddev) {                             \
    return expf(mean + stddev * curand_normal(s));                                                             \
  }                                                                                                            \
  CUDA_ON_CPU_INLINE double curand_log_normal_double(State *s, double mean, double stddev) {                   \
    return exp(mean + stddev * curand_normal_double(s));                                                       \
  }                                                                                                            \
  CUDA_ON_CPU_INLINE float2 curand_log_normal2(State *s, float mean, float stddev) {                           \
    float2 both = curand_normal2(s);                                                                           \
    return {expf(mean + stddev * both.x), expf(mean + stddev * both.y)};                                       \
  }
CUDA_ON_CPU_DISTRIBUTIONS(curandStateXORWOW)
CUDA_ON_CPU_DISTRIBUTIONS(curandStatePhilox4_32_10)
#undef CUDA_ON_CPU_DISTRIBUTIONS

CUDA_ON_CPU_INLINE double curand_uniform_double(curandStateXORWOW *s) {
  unsigned int x = curand(s), y = curand(s);
  return cuda_on_cpu::uniform(x, y);
}
CUDA_ON_CPU_INLINE double curand_uniform_double(curandStatePhilox4_32_10 *s) { return cuda_on_cpu::uniform_of_word(curand(s)); }

CUDA_ON_CPU_INLINE float4 curand_uniform4(curandStatePhilox4_32_10 *s) {
  uint4 x = curand4(s);
  return {cuda_on_cpu::uniform(x.x), cuda_on_cpu::uniform(x.y), cuda_on_cpu::uniform(x.z), cuda_on_cpu::uniform(x.w)};
}
CUDA_ON_CPU_INLINE float4 curand_normal4(curandStatePhilox4_32_10 *s) {
  uint4 x = curand4(s);
  float2 a = cuda_on_cpu::normals(x.x, x.y), b = cuda_on_cpu::normals(x.z, x.w);
  return {a.x, a.y, b.x, b.y};
}
CUDA_ON_CPU_INLINE double2 curand_uniform2_double(curandStatePhilox4_32_10 *s) {
  uint4 x = curand4(s);
  return {cuda_on_cpu::uniform(x.x, x.y), cuda_on_cpu::uniform(x.z, x.w)};
}

#define CUDA_ON_CPU_SOBOL(bits, Word, Given)                                                                                             \
  typedef Given curandDirectionVectors##bits##_t[bits];                                                                                 \
  struct curandStateSobol##bits {                                                                                                       \
    Given i, x, c;                                                                                                                      \
    curandDirectionVectors##bits##_t direction_vectors;                                                                                 \
  };                                                                                                                                    \
  typedef curandStateSobol##bits curandStateSobol##bits##_t;                                                                            \
  CUDA_ON_CPU_INLINE void skipahead(Given n, curandStateSobol##bits *s) {                                                               \
    Word directions[bits];                                                                                                              \
    for (int k = 0; k < bits; k++) directions[k] = s->direction_vectors[k];                                                             \
    s->i += n;                                                                                                                          \
    s->x = cuda_on_cpu::sobol<Word>(directions, s->i);                                                                                  \
  }                                                                                                                                     \
  CUDA_ON_CPU_INLINE void curand_init(curandDirectionVectors##bits##_t directions, Given offset, curandStateSobol##bits *s) {           \
    s->i = s->x = s->c = 0;                                                                                                             \
    for (int k = 0; k < bits; k++) s->direction_vectors[k] = directions[k];                                                             \
    skipahead(offset, s);                                                                                                               \
  }                                                                                                                                     \
  CUDA_ON_CPU_INLINE Given curand(curandStateSobol##bits *s) {                                                                          \
    Given word = s->x, zeros = ~s->i;                                                                                                   \
    if (zeros) s->x ^= s->direction_vectors[__builtin_ctzll(zeros)];                                                                    \
    s->i++;                                                                                                                             \
    return word;                                                                                                                        \
  }                                                                                                                                     \
  CUDA_ON_CPU_INLINE float curand_uniform(curandStateSobol##bits *s) { return cuda_on_cpu::sobol_uniform(Word{curand(s)}); }            \
  CUDA_ON_CPU_INLINE double curand_uniform_double(curandStateSobol##bits *s) { return cuda_on_cpu::sobol_uniform_double(Word{curand(s)}); }
CUDA_ON_CPU_SOBOL(32, uint32_t, unsigned int)
CUDA_ON_CPU_SOBOL(64, uint64_t, unsigned long long)
#undef CUDA_ON_CPU_SOBOL
