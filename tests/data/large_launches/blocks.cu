// Launches of many blocks of 32 threads, and what one of the blocks may do wrong: the words of the command line say how
// many and what. A sample of the blocks is checked in full; block 1234 is not in it.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int threads = 32, unsampled = 1234;

// A right kernel: each thread reads the inputs of its neighbours, each block writes its own outputs.
__global__ void stencil(const float *x, const float *weight, float *y) {
  __shared__ float tile[threads + 2];
  int i = blockIdx.x * threads + threadIdx.x, n = gridDim.x * threads;
  tile[threadIdx.x + 1] = x[i];
  if (threadIdx.x == 0) tile[0] = i ? x[i - 1] : 0.0f;
  if (threadIdx.x == threads - 1) tile[threads + 1] = i + 1 < n ? x[i + 1] : 0.0f;
  __syncthreads();
  y[i] = weight[0] * tile[threadIdx.x] + weight[1] * tile[threadIdx.x + 1] + weight[2] * tile[threadIdx.x + 2];
}

// One block does not wait before it reads what its other threads write.
__global__ void races_in_shared(int which, float *y) {
  __shared__ float part[threads];
  part[threadIdx.x] = y[blockIdx.x * threads + threadIdx.x];
  if (blockIdx.x != which) __syncthreads();
  y[blockIdx.x * threads + threadIdx.x] = part[threads - 1 - threadIdx.x];  // IN-SHARED
}

// One block writes what the first block writes, and then reads what the last one writes.
__global__ void shares(float *y) {
  int i = blockIdx.x * threads + threadIdx.x;
  y[i] = static_cast<float>(blockIdx.x);
  if (blockIdx.x == unsampled) y[threadIdx.x] = -1.0f;  // SHARED-WRITTEN
}
__global__ void peeks(const float *x, float *y) {
  int i = blockIdx.x * threads + threadIdx.x;
  y[i] = blockIdx.x == unsampled ? y[(gridDim.x - 1) * threads + threadIdx.x] : x[i];  // SHARED-READ
}

__global__ void leaves(int n, float *y) {
  int i = blockIdx.x * threads + threadIdx.x;
  y[i] = 1.0f;
  if (blockIdx.x == unsampled && threadIdx.x == 7) y[n] = 2.0f;  // OUTSIDE
}
__global__ void leaves_shared(float *y) {
  __shared__ float part[threads];
  part[threadIdx.x + (blockIdx.x == unsampled)] = y[blockIdx.x * threads + threadIdx.x];  // OUTSIDE-SHARED
}
__global__ void follows_null(float *y, float *nothing) {
  int i = blockIdx.x * threads + threadIdx.x;
  float *to = blockIdx.x == unsampled && threadIdx.x == 9 ? nothing : &y[i];
  *to = 1.0f;  // NULL
}
__global__ void reads_unwritten(const float *nobody_writes, float *y) {
  int i = blockIdx.x * threads + threadIdx.x;
  y[i] = blockIdx.x == unsampled ? nobody_writes[i] : 1.0f;  // UNWRITTEN
}
__global__ void stops(float *y) {
  if (blockIdx.x == unsampled) __trap();  // TRAP
  y[blockIdx.x * threads + threadIdx.x] = 1.0f;
}

// Right: each block waits for the one before, which has a lower number.
__global__ void look_back(const float *x, float *sums, int *flags) {
  if (threadIdx.x) return;
  float sum = 0.0f;
  for (int i = 0; i < threads; i++) sum += x[blockIdx.x * threads + i];
  if (blockIdx.x) {
    while (!atomicAdd(&flags[blockIdx.x - 1], 0)) {
    }
    __threadfence();
    sum += sums[blockIdx.x - 1];
  }
  sums[blockIdx.x] = sum;
  __threadfence();
  atomicExch(&flags[blockIdx.x], 1);
}

// Right: all blocks add to the same words, and the last one to come adds them up.
__global__ void adds_up(const float *x, float *part, int *total, unsigned *count) {
  __shared__ bool is_last;
  atomicAdd(&total[threadIdx.x], 1);
  if (threadIdx.x == 0) {
    part[blockIdx.x] = x[blockIdx.x * threads];
    __threadfence();
    is_last = atomicAdd(count, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < gridDim.x; i += threads) sum += part[i];
  part[threadIdx.x] = sum;
}

int main(int argc, char **argv) {
  int blocks = atoi(argv[1]), n = blocks * threads;
  auto is = [&](const char *what) { return argc > 2 && !strcmp(argv[2], what); };
  std::vector<float> x(n, 1.0f);
  float *dx, *dy, *part, *weight, *fresh;
  int *flags, *total;
  unsigned *count;
  const float weights[] = {0.25f, 0.5f, 0.25f};
  cudaMalloc(&dx, sizeof(float) * n);
  cudaMalloc(&dy, sizeof(float) * n);
  cudaMalloc(&fresh, sizeof(float) * n);
  cudaMalloc(&part, sizeof(float) * blocks);
  cudaMalloc(&weight, sizeof weights);
  cudaMalloc(&flags, sizeof(int) * blocks);
  cudaMalloc(&total, sizeof(int) * threads);
  cudaMalloc(&count, sizeof(unsigned));
  cudaMemcpy(dx, x.data(), sizeof(float) * n, cudaMemcpyHostToDevice);
  cudaMemcpy(weight, weights, sizeof weights, cudaMemcpyHostToDevice);
  cudaMemset(flags, 0, sizeof(int) * blocks);
  cudaMemset(total, 0, sizeof(int) * threads);
  cudaMemset(count, 0, sizeof(unsigned));
  stencil<<<blocks, threads>>>(dx, weight, dy);
  if (is("right")) stencil<<<blocks, threads>>>(dy, weight, fresh);
  if (is("right")) adds_up<<<blocks, threads>>>(fresh, part, total, count);
  if (is("waits")) look_back<<<512, threads>>>(dx, part, flags);
  if (is("first")) races_in_shared<<<blocks, threads>>>(0, dy);
  if (is("last")) races_in_shared<<<blocks, threads>>>(blocks - 1, dy);
  if (is("hidden")) races_in_shared<<<blocks, threads>>>(unsampled, dy);
  if (is("shares")) shares<<<blocks, threads>>>(dy);
  if (is("peeks")) peeks<<<blocks, threads>>>(dx, dy);
  if (is("outside")) leaves<<<blocks, threads>>>(n, dy);
  if (is("outside-shared")) leaves_shared<<<blocks, threads>>>(dy);
  if (is("null")) follows_null<<<blocks, threads>>>(dy, nullptr);
  if (is("unwritten")) reads_unwritten<<<blocks, threads>>>(fresh, dy);
  if (is("stops")) stops<<<blocks, threads>>>(dy);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  cudaMemcpy(x.data(), dy, sizeof(float) * n, cudaMemcpyDeviceToHost);
  printf("%g %g\n", x[0], x[n - 2]);
}
