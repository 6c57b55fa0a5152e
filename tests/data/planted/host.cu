// Host functions that launch, allocate and copy: right ones, and wrong ones whose finding is marked on its line.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "a_file_that_is_not_there.h"
#include <cublas_v2.h>
#include <cuda_runtime.h>

#define CHECK(call)                                              \
  do {                                                           \
    cudaError_t error = (call);                                  \
    if (error != cudaSuccess) {                                  \
      fprintf(stderr, "%s\n", cudaGetErrorString(error));        \
      exit(EXIT_FAILURE);                                        \
    }                                                            \
  } while (0)
#define LAUNCH(kernel, n, ...) \
  kernel<<<((n) + 63) / 64, 64>>>(__VA_ARGS__)

__constant__ float factors[2];
__device__ int counter;

template <class T, int threads>
__global__ void scaled(T *out, const T *in, int n) {
  extern __shared__ char raw[];
  T *row = reinterpret_cast<T *>(raw);
  int i = blockIdx.x * threads + threadIdx.x;
  row[threadIdx.x] = i < n ? in[i] : T(0);
  __syncthreads();
  if (i < n) out[i] = row[threadIdx.x] * factors[1];
}

template <class T>
__global__ void copied(T *out, const T *in, long long n) {
  long long i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void added(float *out, int n, float what) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += what;
}

__global__ void counted(int *out) {
  if (threadIdx.x == 0) *out = atomicAdd(&counter, 1);
}

__global__ void beyond(float *out, int n) { out[n] = 1.0f; }  // beyond

void nobody_calls_this() {
  cublasHandle_t handle;
  undeclared(handle);
}

// ---- right: y = x

void copies(float *y, const float *x, int n) {
  copied<<<(n + 255) / 256, 256>>>(y, x, n);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
}

void copies_by_macro(float *y, const float *x, int n) { LAUNCH(copied<float>, n, y, x, n); }

void copies_by_pointer(float *y, const float *x, int n) {
  void (*chosen)(float *, const float *, long long) = n > 3 ? copied<float> : nullptr;
  if (!chosen) throw std::invalid_argument("too short for this");
  chosen<<<dim3((n + 31) / 32, 1, 1), dim3(32)>>>(y, x, n);
}

void copies_in_a_lambda(float *y, const float *x, int n) {
  auto run = [&](auto zero) {
    using scalar = decltype(zero);
    copied<scalar>
        <<<(n + 255) / 256,
           256, 0,
           cudaStreamDefault>>>(
            y, x, n);
  };
  run(0.0f);
}

void by_way_of_the_host(float *y, const float *x, int n) {
  std::vector<float> host(n);
  CHECK(cudaMemcpy(host.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (float &value : host) value -= 1.0f;
  float *device = nullptr;
  CHECK(cudaMalloc(&device, n * sizeof(float)));
  CHECK(cudaMemcpy(device, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  added<<<(n + 31) / 32, 32>>>(device, n, 1);
  CHECK(cudaMemcpy(y, device, n * sizeof(float), cudaMemcpyDeviceToDevice));
  CHECK(cudaFree(device));
}

void by_managed_memory(float *y, const float *x, int n) {
  float *both, *pinned;
  cudaMallocManaged(&both, n * sizeof(float));
  cudaMallocHost(&pinned, n * sizeof(float));
  copied<<<(n + 31) / 32, 32>>>(both, x, n);
  cudaDeviceSynchronize();
  for (int i = 0; i < n; i++) pinned[i] = both[i];
  copied<<<(n + 31) / 32, 32>>>(y, pinned, n);
  cudaDeviceSynchronize();
  cudaFree(both);
  cudaFreeHost(pinned);
}

void by_constant_and_shared(float *y, const float *x, int n) {
  float both[2] = {3.0f, 1.0f};
  CHECK(cudaMemcpyToSymbol(factors, both, sizeof both));
  CHECK(cudaFuncSetAttribute(scaled<float, 128>, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
  scaled<float, 128><<<(n + 127) / 128, 128, 100 << 10>>>(y, x, n);
  CHECK(cudaGetLastError());
}

void by_streams(float *y, const float *x, int n) {
  cudaStream_t stream;
  cudaEvent_t start, end;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaEventRecord(start, stream));
  copied<float><<<(n + 63) / 64, 64, 0, stream>>>(y, x, n);
  CHECK(cudaEventRecord(end, stream));
  CHECK(cudaEventSynchronize(end));
  float milliseconds;
  CHECK(cudaEventElapsedTime(&milliseconds, start, end));
  CHECK(cudaStreamDestroy(stream));
  if (!(milliseconds > 0)) throw std::runtime_error("no time has passed");
}

void by_occupancy(float *y, const float *x, int n) {
  cudaDeviceProp properties;
  int blocks = 0, device = -1;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaGetDeviceProperties(&properties, device));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, copied<float>, 256, 0));
  if (blocks * properties.multiProcessorCount < 1) exit(1);
  copied<<<(n + 255) / 256, 256>>>(y, x, n);
}

static int calls;

void starts_afresh(float *y, const float *x, int n) {
  static std::map<std::string, int> seen;
  seen["calls"]++;
  int *device, now = -1;
  cudaMalloc(&device, sizeof(int));
  counted<<<1, 32>>>(device);
  cudaMemcpy(&now, device, sizeof(int), cudaMemcpyDeviceToHost);
  if (++calls != 1 || now != 0) throw std::runtime_error("something is left of the run before");
  std::cout << "this goes nowhere" << std::endl;
  printf("seen %d\n", seen["calls"]);
  copied<<<(n + 255) / 256, 256>>>(y, x, n);
  cudaFree(device);
}

void tries_and_falls_back(float *y, const float *x, int n) {
  scaled<float, 64><<<1, 64, 60 << 10>>>(y, x, n);  //~ warning: launch-refused if tries_and_falls_back
  if (cudaGetLastError() != cudaSuccess) copied<<<(n + 255) / 256, 256>>>(y, x, n);
}

// ---- refusals

void exits(float *, const float *, int) { exit(3); }
void throws(float *, const float *, int n) { throw std::runtime_error("takes n <= " + std::to_string(n - 1)); }
void asserts(float *, const float *, int n) { assert(n < 0); }
void checks(float *y, const float *x, int n) {
  copied<<<1, 4096>>>(y, x, n);
  CHECK(cudaGetLastError());
}

// ---- wrong

void reads_device_memory(float *y, const float *x, int n) {
  float first = x[0];  //~ error: illegal-address if reads_device_memory
  added<<<1, 32>>>(y, n, first);
}
void writes_device_memory(float *y, const float *, int n) {
  for (int i = 0; i < n; i++) y[i] = 0.0f;  //~ error: illegal-address if writes_device_memory
}
void copies_device_memory(float *y, const float *x, int n) {
  memcpy(y, x, n * sizeof(float));  //~ error: illegal-address if copies_device_memory
}
void launches_too_many(float *y, const float *x, int n) {
  copied<<<1, 2048>>>(y, x, n);  //~ error: launch-refused if launches_too_many
}
void launches_nothing(float *y, const float *x, int n) {
  copied<<<n / 100000, 256>>>(y, x, n);  //~ error: launch-refused if launches_nothing
}
void cooperates_too_widely(float *y, const float *x, int n) {
  long long count = n;
  void *args[] = {&y, &x, &count};
  cudaLaunchCooperativeKernel((void *)copied<float>, dim3(1 << 11), dim3(256), args);  //~ error: launch-refused if cooperates_too_widely
}
void asks_for_too_much(float *y, const float *x, int n) {
  scaled<float, 64><<<1, 64, 60 << 10>>>(y, x, n);  //~ error: launch-refused if asks_for_too_much
}
void allows_another(float *y, const float *x, int n) {
  cudaFuncSetAttribute(scaled<float, 128>, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10);
  scaled<float, 64><<<1, 64, 60 << 10>>>(y, x, n);  //~ error: launch-refused if allows_another
}
void uses_freed_memory(float *y, const float *x, int n) {
  float *gone;
  cudaMalloc(&gone, n * sizeof(float));
  cudaFree(gone);
  copied<<<1, 256>>>(gone, x, n);
  copied<<<1, 256>>>(y, x, n);
}
void copies_too_much(float *y, const float *x, int n) {
  cudaMemcpy(y, x, 2 * n * sizeof(float), cudaMemcpyDeviceToDevice);  //~ error: out-of-bounds if copies_too_much
}
void sets_too_much(float *y, const float *x, int n) {
  float *small;
  cudaMalloc(&small, 16);
  cudaMemset(small, 0, 20);  //~ error: out-of-bounds if sets_too_much
  copied<<<1, 256>>>(y, x, n);
}
void writes_beyond_what_it_has(float *y, const float *x, int n) {
  float *small;
  cudaMalloc(&small, 16);
  beyond<<<1, 1>>>(small, 4);
  cudaFree(small);
  copied<<<1, 256>>>(y, x, n);
}
void adds_to_nothing(float *y, const float *, int n) {
  float *fresh;
  cudaMalloc(&fresh, n * sizeof(float));
  added<<<1, 256>>>(fresh, n, 1);
  copied<<<1, 256>>>(y, fresh, n);  // adds_to_nothing
}
void gives_a_host_pointer(float *y, const float *, int n) {
  std::vector<float> host(n);
  copied<<<1, 256>>>(y, host.data(), n);
}
void faults(float *, const float *, int n) {
  *reinterpret_cast<volatile int *>(8) = n;  //~ error: trap if faults
}
void never_ends(float *, const float *, int) {
  for (volatile int i = 0;; i++) {
  }
}
