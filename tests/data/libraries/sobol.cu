// Sobol' sequences of cuRAND, by generators of the host and by states in kernels. The argument names a bug, or what is not there.
#include <cstdio>
#include <cstring>
#include <set>
#include <vector>

#include <curand.h>
#include <curand_kernel.h>

const int points = 256, dimensions = 10;

template <class State, class Directions, class Word>
__global__ void by_states(Directions *directions, Word *words, double *uniforms) {
  int dimension = blockIdx.x, offset = threadIdx.x * 4;
  State state;
  curand_init(directions[dimension], offset, &state);
  Word *own = words + dimension * points + offset;
  for (int i = 0; i < 4; i++) {
    State before = state;
    uniforms[own - words + i] = curand_uniform_double(&before);
    own[i] = curand(&state);
  }
}

template <class T>
static std::vector<T> host(const T *there) {
  std::vector<T> here(points * dimensions);
  cudaMemcpy(here.data(), there, here.size() * sizeof(T), cudaMemcpyDeviceToHost);
  return here;
}

int main(int argc, char **argv) {
  auto is = [&](const char *name) { return argc > 1 && !strcmp(argv[1], name); };
  unsigned int *words, *of_states, (*directions)[32], (*directions_there)[32];
  unsigned long long *long_words, *long_of_states, (*long_directions)[64], (*long_there)[64];
  double *uniforms;
  float *floats;
  cudaMalloc(&words, points * dimensions * sizeof *words);
  cudaMalloc(&of_states, points * dimensions * sizeof *words);
  cudaMalloc(&long_words, points * dimensions * sizeof *long_words);
  cudaMalloc(&long_of_states, points * dimensions * sizeof *long_words);
  cudaMalloc(&uniforms, points * dimensions * sizeof *uniforms);
  cudaMalloc(&floats, points * dimensions * sizeof *floats);
  curandGenerator_t of_32, of_64;
  curandCreateGenerator(&of_32, CURAND_RNG_QUASI_SOBOL32);
  curandCreateGenerator(&of_64, CURAND_RNG_QUASI_SOBOL64);
  int bad = curandSetGeneratorOrdering(of_32, CURAND_ORDERING_QUASI_DEFAULT) + curandSetQuasiRandomGeneratorDimensions(of_64, dimensions) +
            curandSetQuasiRandomGeneratorDimensions(of_32, is("11 dimensions") ? 11 : dimensions);
  bad += curandGenerate(of_32, words, points * dimensions + (is("too many") ? dimensions : 0));  // the words
  bad += curandGenerateLongLong(of_64, long_words, points * dimensions);
  bad += curandGenerate(of_32, words, points * dimensions + 1) != CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  bad += curandGenerate(of_64, words, points * dimensions) != CURAND_STATUS_TYPE_ERROR;
  bad += curandSetPseudoRandomGeneratorSeed(of_32, 1) != CURAND_STATUS_TYPE_ERROR;

  cudaMalloc(&directions_there, dimensions * sizeof *directions);
  cudaMalloc(&long_there, dimensions * sizeof *long_directions);
  bad += curandGetDirectionVectors32(&directions, CURAND_DIRECTION_VECTORS_32_JOEKUO6);
  bad += curandGetDirectionVectors64(&long_directions, CURAND_DIRECTION_VECTORS_64_JOEKUO6);
  int taken = is("eleventh") ? dimensions : 0;
  cudaMemcpy(directions_there, directions + taken, dimensions * sizeof *directions, cudaMemcpyHostToDevice);
  cudaMemcpy(long_there, long_directions, dimensions * sizeof *long_directions, cudaMemcpyHostToDevice);
  by_states<curandStateSobol32_t><<<dimensions, points / 4>>>((curandDirectionVectors32_t *)directions_there, of_states, uniforms);
  by_states<curandStateSobol64_t><<<dimensions, points / 4>>>((curandDirectionVectors64_t *)long_there, long_of_states, uniforms);

  auto a = host(words), b = host(of_states);
  auto c = host(long_words), d = host(long_of_states);
  auto u = host(uniforms);
  bad += a != b || c != d;
  for (int dimension = 0; dimension < dimensions; dimension++) {
    std::set<unsigned int> cells;  // of 256 points in a row one is in each of 256 parts
    for (int i = 0; i < points; i++) {
      unsigned int word = a[dimension * points + i];
      cells.insert(word >> 24);
      bad += word != c[dimension * points + i] >> 32;
      bad += !(u[dimension * points + i] > 0 && u[dimension * points + i] <= 1);
    }
    bad += cells.size() != points;
  }
  const double known[3][8] = {  // as in scipy.stats.qmc.Sobol(3, scramble=False)
      {0, .5, .75, .25, .375, .875, .625, .125}, {0, .5, .25, .75, .375, .875, .125, .625}, {0, .5, .25, .75, .625, .125, .875, .375}};
  for (int i = 0; i < 24; i++) bad += a[i / 8 * points + i % 8] != known[i / 8][i % 8] * 0x1p32;
  printf("wrong: %d\n", bad);
}
