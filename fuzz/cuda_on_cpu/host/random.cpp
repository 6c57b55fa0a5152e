// cuRAND's host functions: a generator fills device memory on its stream, or, one of the host's, the host's own memory.
//
// The order of XORWOW is the legacy one: number n is number n / 4096 of subsequence n % 4096. That of Philox is the plain
// sequence. Of n numbers of a quasi-random generator of d dimensions the first n / d are of the first dimension, and so on.
// docs/limits.md says which of this is known to be a GPU's.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "../include/cuda_on_cpu/random.h"
#include "../include/cuda_on_cpu/sobol.h"
#include "../runtime/forbidden.h"
#include "../runtime/state.h"
#include "include/cuda_on_cpu_host/curand.h"
#include "library_work.h"

using namespace cuda_on_cpu;

constexpr uint64_t sequences = 4096;
constexpr const char *words_of_more_dimensions = "kfuzz: cuRAND's quasi-random generators have 10 dimensions on the cpu device";

struct CudaOnCpuGenerator {
  bool is_philox, is_of_host, is_started;
  int sobol_bits;  // 0: a pseudo-random generator
  unsigned int dimensions;
  cudaStream_t stream;
  uint64_t seed, next;  // the number of the next word
  Xorwow at[sequences];  // each before its word number next / sequences, or the one after
};

namespace {

constexpr int most_generators = 32;
struct Generators {
  CudaOnCpuGenerator *at[most_generators];
  ~Generators() {
    for (CudaOnCpuGenerator *one : at) free(one);
  }
};
PerRun<Generators> generators;

bool is_generator(curandGenerator_t generator) {
  for (CudaOnCpuGenerator *one : generators.at)
    if (one && one == generator) return true;
  return false;
}

curandStatus_t made(curandGenerator_t *to, curandRngType_t type, bool is_of_host, int line) {
  bool is_philox = type == CURAND_RNG_PSEUDO_PHILOX4_32_10;
  int sobol_bits = type == CURAND_RNG_QUASI_SOBOL64 ? 64 : type == CURAND_RNG_QUASI_SOBOL32 || type == CURAND_RNG_QUASI_DEFAULT ? 32 : 0;
  if (!is_philox && !sobol_bits && type != CURAND_RNG_PSEUDO_DEFAULT && type != CURAND_RNG_PSEUDO_XORWOW) {
    char words[96];
    snprintf(words, sizeof words, "kfuzz: cuRAND's generator %d does not run on the cpu device", static_cast<int>(type));
    host_refuses(words, line);
  }
  for (CudaOnCpuGenerator *&one : generators.at) {
    if (one) continue;
    one = static_cast<CudaOnCpuGenerator *>(calloc(1, sizeof *one));
    one->is_philox = is_philox;
    one->is_of_host = is_of_host;
    one->sobol_bits = sobol_bits;
    one->dimensions = 1;
    *to = one;
    return CURAND_STATUS_SUCCESS;
  }
  return CURAND_STATUS_ALLOCATION_FAILED;
}

void start(CudaOnCpuGenerator &g) {
  g.is_started = true;
  Xorwow first;
  first.start(g.seed);
  for (uint64_t i = 0; !g.is_philox && i < sequences; i++) {
    g.at[i] = first;
    g.at[i].skip(g.next / sequences + (i < g.next % sequences));
    first.skip(1, Xorwow::sequence_exponent);
  }
}

uint32_t word(CudaOnCpuGenerator &g) {
  uint64_t n = g.next++;
  if (!g.is_philox) return g.at[n % sequences].next();
  uint64_t counter = n / 4;
  uint4 four = philox({static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0},
                      {static_cast<uint32_t>(g.seed), static_cast<uint32_t>(g.seed >> 32)});
  uint32_t words[4] = {four.x, four.y, four.z, four.w};
  return words[n % 4];
}

template <class T>
struct Wanted {
  Asked by;
  CudaOnCpuGenerator *generator;
  T *to;
  size_t count;
  T mean, deviation;
  void (*make)(const Wanted &);
};
template <class Word>
void number_of(Word x, uint32_t &to) { to = static_cast<uint32_t>(x); }
template <class Word>
void number_of(Word x, unsigned long long &to) { to = x; }
template <class Word>
void number_of(Word x, float &to) { to = sobol_uniform(x); }
template <class Word>
void number_of(Word x, double &to) { to = sobol_uniform_double(x); }
template <class Word, class T>
void make_points(const Wanted<T> &w) {
  CudaOnCpuGenerator &g = *w.generator;
  size_t each = w.count / g.dimensions;
  for (unsigned int d = 0; d < g.dimensions; d++) {
    Word directions[sizeof(Word) * 8];
    make_directions(static_cast<int>(d), directions);
    for (size_t i = 0; i < each; i++) number_of(sobol(directions, g.next + i), w.to[d * each + i]);
  }
  g.next += each;
}

template <class T>
void fill(const Wanted<T> &w) {
  if (!w.generator->sobol_bits && !w.generator->is_started) start(*w.generator);
  if (w.generator->is_of_host) return w.make(w);
  LibraryWork work(w.by, false);
  work.writes({w.to, w.count * sizeof(T), 1, 0});
  if (work.is_whole()) w.make(w);
}
template <class T>
curandStatus_t generated(curandGenerator_t generator, T *to, size_t count, T mean, T deviation, void (*make)(const Wanted<T> &), const Asked &by) {
  if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  if (!count) return CURAND_STATUS_SUCCESS;
  if (int bits = generator->sobol_bits) {
    if (count % generator->dimensions) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    constexpr bool is_of_32 = std::is_same_v<T, uint32_t>, is_of_64 = std::is_same_v<T, unsigned long long>;
    if ((is_of_32 && bits == 64) || (is_of_64 && bits == 32)) return CURAND_STATUS_TYPE_ERROR;
    if (deviation != 0) host_refuses("kfuzz: cuRAND's normal numbers of quasi-random generators do not run on the cpu device", by.line);
    make = bits == 64 ? make_points<uint64_t, T> : make_points<uint32_t, T>;
  } else if (!make) {
    return CURAND_STATUS_TYPE_ERROR;
  }
  Wanted<T> wanted = {by, generator, to, count, mean, deviation, make};
  return do_or_capture<Wanted<T>>(wanted, by, fill) == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
}

void make_words(const Wanted<uint32_t> &w) {
  for (size_t i = 0; i < w.count; i++) w.to[i] = word(*w.generator);
}
void make_uniforms(const Wanted<float> &w) {
  for (size_t i = 0; i < w.count; i++) w.to[i] = uniform(word(*w.generator));
}
void make_uniforms_of_53_bits(const Wanted<double> &w) {
  for (size_t i = 0; i < w.count; i++) {
    uint32_t x = word(*w.generator), y = word(*w.generator);
    w.to[i] = uniform(x, y);
  }
}
float2 pair(CudaOnCpuGenerator &g, float) {
  uint32_t x = word(g), y = word(g);
  return normals(x, y);
}
double2 pair(CudaOnCpuGenerator &g, double) {
  uint32_t x = word(g), y = word(g), z = word(g), w = word(g);
  return normals(x, y, z, w);
}
template <class T, bool takes_exponential>
void make_normals(const Wanted<T> &w) {
  auto made = [&](T normal) {
    T value = w.mean + w.deviation * normal;
    return takes_exponential ? std::exp(value) : value;
  };
  for (size_t i = 0; i + 1 < w.count; i += 2) {
    auto both = pair(*w.generator, T{});
    w.to[i] = made(both.x);
    w.to[i + 1] = made(both.y);
  }
}

}  // namespace

CUDA_ON_CPU_API curandStatus_t curandCreateGenerator(curandGenerator_t *to, curandRngType_t type, int line) { Alone alone; return made(to, type, false, line); }
CUDA_ON_CPU_API curandStatus_t curandCreateGeneratorHost(curandGenerator_t *to, curandRngType_t type, int line) { Alone alone; return made(to, type, true, line); }
CUDA_ON_CPU_API curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  Alone alone;
  if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  for (CudaOnCpuGenerator *&one : generators.at)
    if (one == generator) free(one), one = nullptr;
  return CURAND_STATUS_SUCCESS;
}
CUDA_ON_CPU_API curandStatus_t curandGetVersion(int *version) {
  Alone alone;
  *version = CUDART_VERSION;
  return CURAND_STATUS_SUCCESS;
}
CUDA_ON_CPU_API curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  Alone alone;
  if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  generator->stream = stream;
  return CURAND_STATUS_SUCCESS;
}
CUDA_ON_CPU_API curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
  Alone alone;
  if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  if (generator->sobol_bits) return CURAND_STATUS_TYPE_ERROR;
  generator->seed = seed;
  generator->next = 0;
  generator->is_started = false;
  return CURAND_STATUS_SUCCESS;
}
CUDA_ON_CPU_API curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  Alone alone;
  if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  generator->next = offset;
  generator->is_started = false;
  return CURAND_STATUS_SUCCESS;
}
CUDA_ON_CPU_API curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order) {
  Alone alone;
  if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  if (generator->sobol_bits) return order == CURAND_ORDERING_QUASI_DEFAULT ? CURAND_STATUS_SUCCESS : CURAND_STATUS_OUT_OF_RANGE;
  return order >= CURAND_ORDERING_PSEUDO_BEST && order <= CURAND_ORDERING_PSEUDO_DYNAMIC ? CURAND_STATUS_SUCCESS : CURAND_STATUS_OUT_OF_RANGE;
}
CUDA_ON_CPU_API curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  Alone alone;
  return is_generator(generator) ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}

#define BY asked(line, __builtin_return_address(0), is_generator(generator) ? generator->stream : nullptr, false)
CUDA_ON_CPU_API curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int *to, size_t count, int line) {
  Alone alone;
  return generated<uint32_t>(generator, to, count, 0, 0, make_words, BY);
}
CUDA_ON_CPU_API curandStatus_t curandGenerateLongLong(curandGenerator_t generator, unsigned long long *to, size_t count, int line) {
  Alone alone;
  return generated<unsigned long long>(generator, to, count, 0, 0, nullptr, BY);
}
CUDA_ON_CPU_API curandStatus_t curandGenerateUniform(curandGenerator_t generator, float *to, size_t count, int line) {
  Alone alone;
  return generated<float>(generator, to, count, 0, 0, make_uniforms, BY);
}
CUDA_ON_CPU_API curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double *to, size_t count, int line) {
  Alone alone;
  return generated<double>(generator, to, count, 0, 0, make_uniforms_of_53_bits, BY);
}
// Normals come in pairs, as in cuRAND.
#define NORMALS(name, T, takes_exponential)                                                                                  \
  CUDA_ON_CPU_API curandStatus_t name(curandGenerator_t generator, T *to, size_t count, T mean, T deviation, int line) {     \
    if (count % 2) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;                                                                 \
    return generated<T>(generator, to, count, mean, deviation, make_normals<T, takes_exponential>, BY);                      \
  }
NORMALS(curandGenerateNormal, float, false)
NORMALS(curandGenerateNormalDouble, double, false)
NORMALS(curandGenerateLogNormal, float, true)
NORMALS(curandGenerateLogNormalDouble, double, true)

CUDA_ON_CPU_API curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator, unsigned int dimensions, int line) {
  Alone alone;
  constexpr unsigned int most_of_curand = 20000;
  if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  if (!generator->sobol_bits) return CURAND_STATUS_TYPE_ERROR;
  if (!dimensions || dimensions > most_of_curand) return CURAND_STATUS_OUT_OF_RANGE;
  if (dimensions > sobol_dimensions) host_refuses(words_of_more_dimensions, line);
  generator->dimensions = dimensions;
  generator->next = 0;
  return CURAND_STATUS_SUCCESS;
}

// The table ends where pages begin that nothing reads: a program may read as many dimensions as cuRAND has.
template <class Word>
static curandStatus_t table_of(Word (**to)[sizeof(Word) * 8], bool is_plain, int line) {
  constexpr size_t each = sizeof(Word) * sizeof(Word) * 8, bytes = each * sobol_dimensions;
  if (!to) return CURAND_STATUS_OUT_OF_RANGE;
  if (!is_plain) host_refuses("kfuzz: cuRAND's scrambled direction vectors do not run on the cpu device", line);
  char *end = begin_forbidden(bytes, each * 20000, words_of_more_dimensions);
  if (!end) return CURAND_STATUS_ALLOCATION_FAILED;
  auto *table = reinterpret_cast<Word(*)[sizeof(Word) * 8]>(end - bytes);
  for (int d = 0; d < sobol_dimensions; d++) make_directions(d, table[d]);
  *to = table;
  return CURAND_STATUS_SUCCESS;
}
CUDA_ON_CPU_API curandStatus_t curandGetDirectionVectors32(unsigned int (**to)[32], curandDirectionVectorSet_t set, int line) {
  Alone alone;
  return table_of(to, set == CURAND_DIRECTION_VECTORS_32_JOEKUO6, line);
}
CUDA_ON_CPU_API curandStatus_t curandGetDirectionVectors64(unsigned long long (**to)[64], curandDirectionVectorSet_t set, int line) {
  Alone alone;
  return table_of(to, set == CURAND_DIRECTION_VECTORS_64_JOEKUO6, line);
}
