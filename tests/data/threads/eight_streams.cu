// Eight host threads, each with a stream and arrays of its own. With an argument, one of them does something wrong:
// "race" in its kernel, "trap" there, or "exit" of the program.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

constexpr int n = 300, threads = 8;
static float sums[threads];
static const char *wrong = "";
static std::once_flag once;
static int times;

__global__ void add(float *a, float x, bool races, bool traps) {
  __shared__ float tile[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = x;
  if (!races) __syncthreads();
  if (traps && i == 70) __trap();
  if (i < n) a[i] += tile[63 - threadIdx.x];
}

static void work(int me) {
  bool is_wrong = me == 5;
  std::call_once(once, [] { times++; });
  std::vector<float> all(n);
  for (int i = 0; i < n; i++) all[i] = static_cast<float>(i);
  if (is_wrong && !strcmp(wrong, "exit")) exit(7);
  float *a;
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaMalloc(&a, n * sizeof(float));
  cudaMemcpyAsync(a, all.data(), n * sizeof(float), cudaMemcpyHostToDevice, stream);
  for (int k = 0; k < 4; k++)
    add<<<(n + 63) / 64, 64, 0, stream>>>(a, static_cast<float>(me), is_wrong && !strcmp(wrong, "race"), is_wrong && !strcmp(wrong, "trap"));
  cudaMemcpyAsync(all.data(), a, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  for (int i = 0; i < n; i++) sums[me] += all[i] - static_cast<float>(i);
  cudaFree(a);
}

int main(int argc, char **argv) {
  if (argc > 1) wrong = argv[1];
  std::vector<std::thread> all;
  for (int me = 0; me < threads; me++) all.emplace_back(work, me);
  for (std::thread &one : all) one.join();
  for (int me = 0; me < threads; me++)
    if (sums[me] != 4.0f * n * static_cast<float>(me)) printf("thread %d has %g\n", me, sums[me]);
  return times == 1 ? cudaGetLastError() : 100 + times;
}
