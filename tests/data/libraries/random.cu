// Numbers of cuRAND: words of the device's generators for several seeds, subsequences and offsets, and uniforms of the host's.
// The first argument names a bug; without one nothing is wrong.
#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>
#include <curand.h>
#include <curand_kernel.h>

struct Place {
  unsigned long long seed, subsequence, offset;
};
static const Place places[] = {
    {1234, 0, 0}, {1234, 1, 0}, {1234, 0, 5}, {0, 0, 0}, {0xdeadbeefcafef00dull, 77777, 123456789012ull}, {42, 1ull << 40, 3}, {42, 3, 1ull << 34},
};
const int count = sizeof places / sizeof *places, each = 8;

template <class State>
__global__ void words(const Place *at, unsigned int *out) {
  int i = threadIdx.x;
  State state;
  curand_init(at[i].seed, at[i].subsequence, at[i].offset, &state);
  for (int j = 0; j < each; j++) out[i * each + j] = curand(&state);
}

template <class State>
__global__ void uniforms(const Place *at, float *out, double *wide) {
  int i = threadIdx.x;
  State state;
  curand_init(at[i].seed, at[i].subsequence, at[i].offset, &state);
  for (int j = 0; j < each; j++) out[i * each + j] = curand_uniform(&state);
  for (int j = 0; j < each; j++) wide[i * each + j] = curand_uniform_double(&state);
}

__global__ void fours(const Place *at, uint4 *out) {
  int i = threadIdx.x;
  curandStatePhilox4_32_10_t state;
  curand_init(at[i].seed, at[i].subsequence, at[i].offset, &state);
  out[i] = curand4(&state);
  curand(&state);
  out[count + i] = curand4(&state);
}

// A mean of many normals and of their squares, by every thread for itself; states stay in memory.
__global__ void start(curandState *states, unsigned long long seed, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) curand_init(seed, i, 0, &states[i]);
}
__global__ void moments(curandState *states, float *mean, float *square, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  curandState state = states[i];
  float sum = 0, squares = 0;
  for (int j = 0; j < 64; j++) {
    float x = curand_normal(&state);
    sum += x;
    squares += x * x;
  }
  states[i] = state;
  mean[i] = sum / 64;
  square[i] = squares / 64;
}

template <class T>
static void print(const char *name, const T *there, int n, const char *format) {
  static T here[256];
  cudaMemcpy(here, there, n * sizeof(T), cudaMemcpyDeviceToHost);
  printf("%s", name);
  for (int i = 0; i < n; i++) printf(format, here[i]);
  printf("\n");
}

int main(int argc, char **argv) {
  const char *bug = argc > 1 ? argv[1] : "";
  Place *at;
  unsigned int *out;
  float *single;
  double *wide;
  cudaMalloc(&at, sizeof places);
  cudaMalloc(&out, count * each * sizeof(unsigned int));
  cudaMalloc(&single, 64 * sizeof(float));
  cudaMalloc(&wide, count * each * sizeof(double));
  cudaMemcpy(at, places, sizeof places, cudaMemcpyHostToDevice);
  words<curandState><<<1, count>>>(at, out);
  print("xorwow", out, count * each, " %08x");
  words<curandStatePhilox4_32_10_t><<<1, count>>>(at, out);
  print("philox", out, count * each, " %08x");
  fours<<<1, count>>>(at, reinterpret_cast<uint4 *>(out));
  print("fours", out, count * each, " %08x");
  uniforms<curandState><<<1, count>>>(at, single, wide);
  print("xorwow single", single, count * each, " %a");
  print("xorwow double", wide, count * each, " %a");
  uniforms<curandStatePhilox4_32_10_t><<<1, count>>>(at, single, wide);
  print("philox single", single, count * each, " %a");
  print("philox double", wide, count * each, " %a");

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  curandGenerator_t generator;
  curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_XORWOW);
  curandSetPseudoRandomGeneratorSeed(generator, 1234);
  if (!strcmp(bug, "not waited for")) curandSetStream(generator, stream);
  curandGenerateUniform(generator, single, strcmp(bug, "too many") ? 10 : 66);  // the host's generator
  print("host", single, 10, " %.4f");
  curandDestroyGenerator(generator);

  const int n = 64;
  curandState *states;
  float *mean, *square;
  cudaMalloc(&states, n * sizeof(curandState));
  cudaMalloc(&mean, n * sizeof(float));
  cudaMalloc(&square, n * sizeof(float));
  start<<<1, n>>>(states, 7, strcmp(bug, "not started") ? n : n - 1);
  moments<<<1, n>>>(states, mean, square, n);  // the moments
  float means[n], squares[n], all = 0, all_squares = 0;
  cudaMemcpy(means, mean, sizeof means, cudaMemcpyDeviceToHost);
  cudaMemcpy(squares, square, sizeof squares, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) all += means[i] / n, all_squares += squares[i] / n;
  if (*bug) printf("%a ", means[n - 1]);
  printf("normal %s\n", all > -0.06f && all < 0.06f && all_squares > 0.9f && all_squares < 1.1f ? "yes" : "no");
}
