// Row sums in several launches of a host function: the number of splits follows from the length of a row alone.
//
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..4096", cols = "1..16384" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
// claims = { batch_invariant = true }
// host   = { entry = "launch" }
// ///
#include <cuda_runtime.h>

__global__ void split(float *part, const float *x, int cols, int splits) {
  const int row = blockIdx.x, mine = blockIdx.y;
  const int first = (long long)cols * mine / splits, last = (long long)cols * (mine + 1) / splits;
  float sum = 0;
  for (int i = first; i < last; i++) sum += x[(size_t)row * cols + i];
  part[row * splits + mine] = sum;
}

__global__ void join(float *y, const float *part, int splits) {
  float sum = 0;
  for (int i = 0; i < splits; i++) sum += part[blockIdx.x * splits + i];
  y[blockIdx.x] = sum;
}

void launch(float *y, float *x, int rows, int cols) {
  const int splits = cols < 64 ? 1 : 4;
  float *part;
  cudaMalloc(&part, sizeof(float) * rows * splits);
  split<<<dim3(rows, splits), 1>>>(part, x, cols, splits);
  join<<<rows, 1>>>(y, part, splits);
  cudaFree(part);
}
