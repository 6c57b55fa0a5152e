/*
Layernorm forward, in the manner of a development file: several kernels, chosen by number, checked against the host, timed.

./layernorm_dev_file 1    one thread a row
./layernorm_dev_file 2    one block a row, tree reductions in shared memory
./layernorm_dev_file 3    one warp a row, cooperative groups
*/
// arguments: 3
// bug: out-of-bounds
#include <assert.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))

void cuda_check(cudaError_t error, const char *file, int line) {
  if (error != cudaSuccess) {
    printf("[CUDA ERROR] at file %s:%d:\n%s\n", file, line, cudaGetErrorString(error));
    exit(EXIT_FAILURE);
  }
}
#define cudaCheck(err) (cuda_check(err, __FILE__, __LINE__))

// ----------------------------------------------------------------------------
// CPU code reference

void layernorm_forward_cpu(float *out, float *mean, float *rstd, const float *inp, const float *weight, const float *bias,
                           int B, int T, int C) {
  float eps = 1e-5f;
  for (int b = 0; b < B; b++) {
    for (int t = 0; t < T; t++) {
      const float *x = inp + b * T * C + t * C;
      float m = 0.0f;
      for (int i = 0; i < C; i++) m += x[i];
      m = m / C;
      float v = 0.0f;
      for (int i = 0; i < C; i++) v += (x[i] - m) * (x[i] - m);
      v = v / C;
      float s = 1.0f / sqrtf(v + eps);
      float *out_bt = out + b * T * C + t * C;
      for (int i = 0; i < C; i++) out_bt[i] = (s * (x[i] - m)) * weight[i] + bias[i];
      mean[b * T + t] = m;
      rstd[b * T + t] = s;
    }
  }
}

// ----------------------------------------------------------------------------
// GPU kernels

__global__ void layernorm_forward_kernel1(float *out, float *mean, float *rstd, const float *inp, const float *weight,
                                          const float *bias, int N, int C) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  float eps = 1e-5f;
  if (idx < N) {
    const float *x = inp + idx * C;
    float m = 0.0f;
    for (int i = 0; i < C; i++) m += x[i];
    m = m / C;
    float v = 0.0f;
    for (int i = 0; i < C; i++) v += (x[i] - m) * (x[i] - m);
    v = v / C;
    float s = 1.0f / sqrtf(v + eps);
    for (int i = 0; i < C; i++) out[idx * C + i] = s * (x[i] - m) * weight[i] + bias[i];
    mean[idx] = m;
    rstd[idx] = s;
  }
}

__device__ float block_sum(float value, float *shared) {
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int stride = blockDim.x / 2; stride >= 1; stride /= 2) {
    if (threadIdx.x < stride) shared[threadIdx.x] += shared[threadIdx.x + stride];
    __syncthreads();
  }
  float sum = shared[0];
  __syncthreads();
  return sum;
}

__global__ void layernorm_forward_kernel2(float *out, float *mean, float *rstd, const float *inp, const float *weight,
                                          const float *bias, int N, int C) {
  extern __shared__ float shared[];
  int idx = blockIdx.x;
  const float *x = inp + idx * C;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < C; i += blockDim.x) sum += x[i];
  float m = block_sum(sum, shared) / C;
  sum = 0.0f;
  for (int i = threadIdx.x; i < C; i += blockDim.x) sum += (x[i] - m) * (x[i] - m);
  float s = rsqrtf(block_sum(sum, shared) / C + 1e-5f);
  if (threadIdx.x == 0) mean[idx] = m, rstd[idx] = s;
  for (int i = threadIdx.x; i < C; i += blockDim.x) out[idx * C + i] = s * (x[i] - m) * weight[i] + bias[i];
}

__global__ void layernorm_forward_kernel3(float *__restrict__ out, float *__restrict__ mean, float *__restrict__ rstd,
                                          const float *__restrict__ inp, const float *__restrict__ weight,
                                          const float *__restrict__ bias, int N, int C) {
  namespace cg = cooperative_groups;
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  int idx = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
#ifndef BUG
  if (idx >= N) return;
#endif
  const float *x = inp + idx * C;
  float sum = 0.0f;
  for (int i = warp.thread_rank(); i < C; i += warp.size()) sum += x[i];
  sum = cg::reduce(warp, sum, cg::plus<float>{});
  float m = sum / C;
  if (warp.thread_rank() == 0 && mean != nullptr) __stcs(mean + idx, m);
  sum = 0.0f;
  for (int i = warp.thread_rank(); i < C; i += warp.size()) {
    float diff = x[i] - m;
    sum += diff * diff;
  }
  sum = cg::reduce(warp, sum, cg::plus<float>{});
  float s = rsqrtf(sum / C + 1e-5f);
  if (warp.thread_rank() == 0 && rstd != nullptr) __stcs(rstd + idx, s);
  float *o = out + idx * C;
  for (int c = warp.thread_rank(); c < C; c += warp.size()) {
    float n = s * (__ldcs(x + c) - m);
    __stcs(o + c, n * weight[c] + bias[c]);
  }
}

// ----------------------------------------------------------------------------
// kernel launchers

void layernorm_forward1(float *out, float *mean, float *rstd, const float *inp, const float *weight, const float *bias,
                        int B, int T, int C, const int block_size) {
  const int N = B * T;
  layernorm_forward_kernel1<<<CEIL_DIV(N, block_size), block_size>>>(out, mean, rstd, inp, weight, bias, N, C);
  cudaCheck(cudaGetLastError());
}
void layernorm_forward2(float *out, float *mean, float *rstd, const float *inp, const float *weight, const float *bias,
                        int B, int T, int C, const int block_size) {
  const int N = B * T;
  layernorm_forward_kernel2<<<N, block_size, block_size * sizeof(float)>>>(out, mean, rstd, inp, weight, bias, N, C);
  cudaCheck(cudaGetLastError());
}
void layernorm_forward3(float *out, float *mean, float *rstd, const float *inp, const float *weight, const float *bias,
                        int B, int T, int C, const int block_size) {
  assert(block_size % 32 == 0);
  const int N = B * T;
  const int grid_size = CEIL_DIV(N * 32, block_size);
  layernorm_forward_kernel3<<<grid_size, block_size>>>(out, mean, rstd, inp, weight, bias, N, C);
  cudaCheck(cudaGetLastError());
}

void layernorm_forward(int kernel_num, float *out, float *mean, float *rstd, const float *inp, const float *weight,
                       const float *bias, int B, int T, int C, const int block_size) {
  switch (kernel_num) {
    case 1: layernorm_forward1(out, mean, rstd, inp, weight, bias, B, T, C, block_size); break;
    case 2: layernorm_forward2(out, mean, rstd, inp, weight, bias, B, T, C, block_size); break;
    case 3: layernorm_forward3(out, mean, rstd, inp, weight, bias, B, T, C, block_size); break;
    default: printf("Invalid kernel number\n"); exit(1);
  }
}

// ----------------------------------------------------------------------------

float *make_random_float(size_t N) {
  float *arr = (float *)malloc(N * sizeof(float));
  for (size_t i = 0; i < N; i++) arr[i] = ((float)rand() / RAND_MAX) * 2.0 - 1.0;
  return arr;
}

template <class T>
void validate_result(T *device_result, const T *cpu_reference, const char *name, size_t num_elements, T tolerance) {
  T *out_gpu = (T *)malloc(num_elements * sizeof(T));
  cudaCheck(cudaMemcpy(out_gpu, device_result, num_elements * sizeof(T), cudaMemcpyDeviceToHost));
  int nfaults = 0;
  for (size_t i = 0; i < num_elements; i++) {
    if (fabs(cpu_reference[i] - out_gpu[i]) > tolerance || isnan(out_gpu[i])) {
      printf("Mismatch of %s at %d: CPU_ref: %f vs GPU: %f\n", name, (int)i, cpu_reference[i], out_gpu[i]);
      if (++nfaults >= 10) exit(EXIT_FAILURE);
    }
  }
  if (nfaults > 0) exit(EXIT_FAILURE);
  free(out_gpu);
}

template <class Kernel, class... KernelArgs>
float benchmark_kernel(int repeats, Kernel kernel, KernelArgs &&...kernel_args) {
  cudaEvent_t start, stop;
  int deviceIdx = 0;
  cudaCheck(cudaSetDevice(deviceIdx));
  cudaDeviceProp deviceProp;
  cudaCheck(cudaGetDeviceProperties(&deviceProp, deviceIdx));
  void *flush_buffer;
  cudaCheck(cudaMalloc(&flush_buffer, deviceProp.l2CacheSize));
  cudaCheck(cudaEventCreate(&start));
  cudaCheck(cudaEventCreate(&stop));
  float elapsed_time = 0.f;
  for (int i = 0; i < repeats; i++) {
    cudaCheck(cudaMemset(flush_buffer, 0, deviceProp.l2CacheSize));
    cudaCheck(cudaEventRecord(start, nullptr));
    kernel(kernel_args...);
    cudaCheck(cudaEventRecord(stop, nullptr));
    cudaCheck(cudaEventSynchronize(start));
    cudaCheck(cudaEventSynchronize(stop));
    float single_call;
    cudaCheck(cudaEventElapsedTime(&single_call, start, stop));
    elapsed_time += single_call;
  }
  cudaCheck(cudaFree(flush_buffer));
  return elapsed_time / repeats;
}

int main(int argc, char **argv) {
  srand(0);
  int B = 3, T = 7, C = 96;
  cudaCheck(cudaSetDevice(0));
  float *out = (float *)malloc(B * T * C * sizeof(float));
  float *mean = (float *)malloc(B * T * sizeof(float));
  float *rstd = (float *)malloc(B * T * sizeof(float));
  float *inp = make_random_float(B * T * C);
  float *weight = make_random_float(C);
  float *bias = make_random_float(C);
  float *d_out, *d_mean, *d_rstd, *d_inp, *d_weight, *d_bias;
  cudaCheck(cudaMalloc(&d_out, B * T * C * sizeof(float)));
  cudaCheck(cudaMalloc(&d_mean, B * T * sizeof(float)));
  cudaCheck(cudaMalloc(&d_rstd, B * T * sizeof(float)));
  cudaCheck(cudaMalloc(&d_inp, B * T * C * sizeof(float)));
  cudaCheck(cudaMalloc(&d_weight, C * sizeof(float)));
  cudaCheck(cudaMalloc(&d_bias, C * sizeof(float)));
  cudaCheck(cudaMemcpy(d_inp, inp, B * T * C * sizeof(float), cudaMemcpyHostToDevice));
  cudaCheck(cudaMemcpy(d_weight, weight, C * sizeof(float), cudaMemcpyHostToDevice));
  cudaCheck(cudaMemcpy(d_bias, bias, C * sizeof(float), cudaMemcpyHostToDevice));

  int kernel_num = 2;
  if (argc > 1) kernel_num = atoi(argv[1]);
  printf("Using kernel %d\n", kernel_num);
  int block_sizes[] = {32, 64, 128};
  layernorm_forward_cpu(out, mean, rstd, inp, weight, bias, B, T, C);
  for (int j = 0; j < (int)(sizeof(block_sizes) / sizeof(int)); j++) {
    int block_size = block_sizes[j];
    printf("Checking block size %d.\n", block_size);
    layernorm_forward(kernel_num, d_out, d_mean, d_rstd, d_inp, d_weight, d_bias, B, T, C, block_size);
    validate_result(d_out, out, "out", B * T * C, 1e-5f);
    validate_result(d_mean, mean, "mean", B * T, 1e-5f);
    validate_result(d_rstd, rstd, "rstd", B * T, 1e-5f);
  }
  printf("All results match. Starting benchmarks.\n\n");
  for (int j = 0; j < (int)(sizeof(block_sizes) / sizeof(int)); j++) {
    float elapsed_time = benchmark_kernel(2, layernorm_forward, kernel_num, d_out, d_mean, d_rstd, d_inp, d_weight, d_bias, B,
                                          T, C, block_sizes[j]);
    printf("block_size %4d | time %s\n", block_sizes[j], elapsed_time > 0 ? "is told" : "is none");
  }
  free(out);
  free(mean);
  free(rstd);
  free(inp);
  free(weight);
  free(bias);
  cudaCheck(cudaFree(d_out));
  cudaCheck(cudaFree(d_mean));
  cudaCheck(cudaFree(d_rstd));
  cudaCheck(cudaFree(d_inp));
  cudaCheck(cudaFree(d_weight));
  cudaCheck(cudaFree(d_bias));
  return 0;
}
