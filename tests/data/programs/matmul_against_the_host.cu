// A tiled matrix product, checked against the host's own.
// bug: race
#include <cmath>
#include <cstdio>
#include <vector>

template <int tile>
class Product {
 public:
  __device__ Product(const float *a, const float *b, int n) : a_(a), b_(b), n_(n) {}
  __device__ float at(int row, int col) {
    __shared__ float left[tile][tile], right[tile][tile];
    float sum = 0;
    for (int k = 0; k < n_; k += tile) {
      left[threadIdx.y][threadIdx.x] = row < n_ && k + threadIdx.x < n_ ? a_[row * n_ + k + threadIdx.x] : 0.0f;
      right[threadIdx.y][threadIdx.x] = k + threadIdx.y < n_ && col < n_ ? b_[(k + threadIdx.y) * n_ + col] : 0.0f;
      __syncthreads();
#pragma unroll
      for (int i = 0; i < tile; i++) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
#ifndef BUG
      __syncthreads();
#endif
    }
    return sum;
  }

 private:
  const float *a_, *b_;
  int n_;
};

template <int tile>
__global__ void multiply(const float *a, const float *b, float *c, int n) {
  int row = blockIdx.y * tile + threadIdx.y, col = blockIdx.x * tile + threadIdx.x;
  float value = Product<tile>(a, b, n).at(row, col);
  if (row < n && col < n) c[row * n + col] = value;
}

int main() {
  const int n = 19;
  std::vector<float> a(n * n), b(n * n), c(n * n);
  for (int i = 0; i < n * n; i++) a[i] = float(i % 7), b[i] = float(i % 5) - 2;
  float *da, *db, *dc;
  size_t bytes = n * n * sizeof(float);
  cudaMalloc(&da, bytes), cudaMalloc(&db, bytes), cudaMalloc(&dc, bytes);
  cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice);
  dim3 threads(8, 8), blocks((n + 7) / 8, (n + 7) / 8);
  multiply<8><<<blocks, threads>>>(da, db, dc, n);
  cudaMemcpy(c.data(), dc, bytes, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float want = 0;
      for (int k = 0; k < n; k++) want += a[i * n + k] * b[k * n + j];
      wrong += std::fabs(want - c[i * n + j]) > 1e-3f;
    }
  printf(wrong ? "FAILED: %d elements\n" : "PASSED\n", wrong);
  return wrong > 0;
}
