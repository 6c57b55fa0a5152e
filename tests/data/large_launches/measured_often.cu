// Launches kernels often, as benchmarks do to measure their time. The word of the command line says what the kernel does
// and what the host reads afterwards; the program prints it.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cublas_v2.h>
#include <vector>

constexpr int n = 1 << 14, times = 400;
__device__ unsigned int count;

__global__ void double_all(float *y, const float *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2 * x[i];
}
__global__ void add(float *y, const float *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] += x[i];
}
__global__ void subtract(float *y, const float *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] -= x[i];
}
__global__ void add_to(float *const *table, const float *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  table[0][i] += x[i];
}
__global__ void count_launches(float *y) {
  if (blockIdx.x == 0 && threadIdx.x == 0) count++;
  y[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
__global__ void count_by_atomics(float *y) { atomicAdd(&y[threadIdx.x], 1.0f / gridDim.x); }
__global__ void draw(unsigned int *state) {
  unsigned int &mine = state[blockIdx.x * blockDim.x + threadIdx.x];
  mine = 1664525u * mine + 1013904223u;
}
__global__ void add_nothing(float *y) { y[0] += 0; }
__global__ void measure(long long *y) { y[blockIdx.x * blockDim.x + threadIdx.x] = clock64(); }

int main(int argc, char **argv) {
  auto is = [what = argc > 1 ? argv[1] : ""](const char *word) { return !strcmp(what, word); };
  std::vector<float> mine(n, 1.0f);
  float *x, *y, *cache;
  size_t bytes = n * sizeof(float);
  dim3 grid(n / 256), block(256);
  cudaMalloc(&x, bytes);
  cudaMalloc(&y, bytes);
  cudaMalloc(&cache, n);
  cudaMemcpy(x, mine.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemset(y, 0, bytes);
  auto print = [&] {
    cudaMemcpy(mine.data(), y, bytes, cudaMemcpyDeviceToHost);
    printf("%g %g\n", mine[0], mine[n - 1]);
  };
  auto launch_often = [&](auto kernel, auto... arguments) {
    for (int i = 0; i < times; i++) kernel(arguments...);
  };
  auto adds = [&] { add<<<grid, block>>>(y, x); };

  if (is("plain") || is("copies") || is("pinned")) {
    float *pinned;
    if (is("pinned")) cudaMallocHost(&pinned, sizeof(float));
    for (int i = 0; i < times; i++) {
      cudaMemset(cache, 0, n);
      if (is("copies") && i == times / 2) {
        mine[n - 1] = 3;
        cudaMemcpy(x, mine.data(), bytes, cudaMemcpyHostToDevice);
      }
      double_all<<<grid, block>>>(y, x);
    }
    print();
  } else if (is("adds")) {
    launch_often(adds);
    print();
  } else if (is("reads nothing")) {
    launch_often(adds);
    puts("done");
  } else if (is("reads half way")) {
    launch_often(adds);
    print();
    launch_often(adds);
  } else if (is("clears")) {
    launch_often([&] {
      cudaMemset(y, 0, bytes);
      adds();
    });
    if (argc > 2) print();
  } else if (is("frees its input")) {
    launch_often(adds);
    cudaFree(x);
    print();
  } else if (is("frees all")) {
    launch_often(adds);
    for (void *one : {static_cast<void *>(cache), static_cast<void *>(x), static_cast<void *>(y)}) cudaFree(one);
    if (argc > 2) puts(cudaFree(y) == cudaSuccess ? "twice" : "once");
  } else if (is("uses what it has freed")) {
    launch_often(adds);
    cudaFree(x);
    adds();  // FREED
  } else if (is("frees what a table names")) {
    float **table;
    cudaMalloc(&table, sizeof *table);
    cudaMemcpy(table, &y, sizeof y, cudaMemcpyHostToDevice);
    launch_often([&] { add_to<<<grid, block>>>(table, x); });
    cudaFree(y);
    add_to<<<grid, block>>>(table, x);
  } else if (is("workspaces")) {
    float *work;
    for (int i = argc > 3 ? atoi(argv[3]) : 100; i > 0; i--) {  // of more than 1000, later ones take the place of earlier ones
      cudaMemset(cache, 0, n);
      cudaMalloc(&work, 64 * sizeof *work);
      cudaMemset(work, 0, 64 * sizeof *work);
      add<<<1, 64>>>(work, x);
      add<<<1, 64>>>(y, work);
      cudaFree(work);
    }
    if (argc > 2 && !strcmp(argv[2], "reads")) print();
    if (argc > 2 && !strcmp(argv[2], "freed")) add<<<1, 64>>>(y, work);
  } else if (is("counts")) {
    launch_often([&] { count_launches<<<grid, block>>>(y); });
    unsigned int launches;
    cudaMemcpyFromSymbol(&launches, count, sizeof launches);
    printf("%u\n", launches);
  } else if (is("counts by atomics")) {
    launch_often([&] { count_by_atomics<<<grid, block>>>(y); });
    print();
  } else if (is("draws")) {
    auto *state = reinterpret_cast<unsigned int *>(y);
    unsigned int drawn = 0, expected = 0;
    launch_often([&] { draw<<<grid, block>>>(state); });
    cudaMemcpy(&drawn, state, sizeof drawn, cudaMemcpyDeviceToHost);
    for (int i = 0; i < times; i++) expected = 1664525u * expected + 1013904223u;
    puts(drawn == expected ? "as expected" : "wrong");
  } else if (is("reads a clock")) {
    long long *moments;
    cudaMalloc(&moments, n * sizeof *moments);
    launch_often([&] { measure<<<grid, block>>>(moments); });
    puts("done");
  } else if (is("points elsewhere")) {
    float **table, *z;
    cudaMalloc(&table, sizeof *table);
    cudaMemcpy(table, &y, sizeof y, cudaMemcpyHostToDevice);
    add_to<<<grid, block>>>(table, x);
    cudaMalloc(&z, bytes);
    cudaMemset(z, 0, bytes);
    cudaMemcpy(table, &z, sizeof z, cudaMemcpyHostToDevice);
    add_to<<<grid, block>>>(table, x);
    cudaMemset(z, 0, bytes);
    cudaMemcpy(y, z, bytes, cudaMemcpyDeviceToDevice);
    print();
  } else if (is("takes turns")) {
    void (*kernel)(float *, const float *) = add;
    kernel<<<grid, block>>>(y, x);
    kernel<<<grid, block>>>(y, x);
    kernel = subtract;
    kernel<<<grid, block>>>(y, x);
    print();
  } else if (is("ends once")) {
    add_nothing<<<1, 64>>>(y);
    print();
    FILE *made_before = fopen(argv[2], "r");
    for (volatile bool again = made_before; again;) {}
    fclose(fopen(argv[2], "w"));
  } else if (is("multiplies")) {
    cublasHandle_t handle;
    cublasCreate(&handle);
    float one = 1;
    launch_often([&] { cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, x, 2, x, 2, &one, y, 2); });
    if (argc > 2) print();
    cublasDestroy(handle);
  } else {  // a second stream reads what the launches have written
    cudaStream_t other;
    cudaEvent_t event;
    cudaEventCreate(&event);
    launch_often(adds);
    if (is("waits")) cudaDeviceSynchronize();
    if (is("records")) cudaEventRecord(event);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    if (is("records")) cudaStreamWaitEvent(other, event);
    double_all<<<grid, block, 0, other>>>(reinterpret_cast<float *>(x), y);
    cudaDeviceSynchronize();
  }
}
