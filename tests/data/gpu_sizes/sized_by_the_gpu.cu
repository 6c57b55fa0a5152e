// One block a row, and at most two blocks for each multiprocessor: "loops" takes more rows than blocks, "capped" does not.
#include <cstdio>
#include <cstdlib>
#include <cstring>
constexpr int cols = 32;

__global__ void sums(float *y, const float *x, int rows, bool loops) {
  int row = blockIdx.x;
  do {
    float sum = x[row * cols + threadIdx.x];
    for (int far = 16; far; far /= 2) sum += __shfl_down_sync(0xffffffff, sum, far);
    if (!threadIdx.x) y[row] = sum;
    row += gridDim.x;
  } while (loops && row < rows);
}

// The sum of its results rounds otherwise on a GPU of another size, which is right.
__global__ void parts(float *part, const float *x, int count) {
  float sum = 0;
  for (int i = blockIdx.x; i < count; i += gridDim.x) sum += x[i];
  part[blockIdx.x] = sum;
}

int main(int, char **argv) {
  int rows = atoi(argv[2]), most;
  cudaDeviceGetAttribute(&most, cudaDevAttrMultiProcessorCount, 0);
  auto *mine = static_cast<float *>(malloc(rows * cols * sizeof(float)));
  for (int i = 0; i < rows * cols; i++) mine[i] = 1.0f / static_cast<float>(i + 1);
  float *x, *y, *part;
  cudaMalloc(&x, rows * cols * sizeof(float));
  cudaMalloc(&y, rows * sizeof(float));
  cudaMalloc(&part, most * sizeof(float));
  cudaMemcpy(x, mine, rows * cols * sizeof(float), cudaMemcpyHostToDevice);
  sums<<<rows < 2 * most ? rows : 2 * most, cols>>>(y, x, rows, !strcmp(argv[1], "loops"));
  cudaMemcpy(mine, y, rows * sizeof(float), cudaMemcpyDeviceToHost);
  for (int i = 0; i < rows; i++) printf("%g\n", mine[i]);
  parts<<<most, 1>>>(part, x, rows * cols);
  cudaMemcpy(mine, part, most * sizeof(float), cudaMemcpyDeviceToHost);
  float sum = 0;
  for (int i = 0; i < most; i++) sum += mine[i];
  printf("%.9g\n", sum);
}
