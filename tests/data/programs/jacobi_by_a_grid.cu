// Jacobi steps in one cooperative launch. With the bug, blocks wait for their own threads alone.
// bug: race
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
#include <cmath>
#include <vector>
namespace cg = cooperative_groups;
__global__ void jacobi(float *x, float *x_new, const float *b, int n, int steps, double *residual) {
  cg::grid_group grid = cg::this_grid();
  cg::thread_block cta = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(cta);
  for (int k = 0; k < steps; k++) {
    float *from = k % 2 ? x_new : x, *to = k % 2 ? x : x_new;
    double sum = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) {
      float left = i ? from[i - 1] : 0.0f, right = i + 1 < n ? from[i + 1] : 0.0f;
      to[i] = (b[i] + left + right) / 4.0f;
      sum += fabs(to[i] - from[i]);
    }
    sum = cg::reduce(tile, sum, cg::plus<double>());
    if (tile.thread_rank() == 0) atomicAdd(&residual[k], sum);
#ifdef BUG
    cta.sync();
#else
    grid.sync();
#endif
  }
}
int main() {
  int n = 3000, steps = 6, blocks = 0;
  float *x, *x_new, *b; double *r;
  cudaMalloc(&x, n * 4); cudaMalloc(&x_new, n * 4); cudaMalloc(&b, n * 4); cudaMalloc(&r, steps * 8);
  std::vector<float> hb(n, 1.0f);
  cudaMemset(x, 0, n * 4); cudaMemset(x_new, 0, n * 4); cudaMemset(r, 0, steps * 8);
  cudaMemcpy(b, hb.data(), n * 4, cudaMemcpyHostToDevice);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, jacobi, 128, 0);
  if (blocks < 1) return 3;
  void *args[] = {&x, &x_new, &b, &n, &steps, &r};
  cudaError_t e = cudaLaunchCooperativeKernel((void *)jacobi, dim3(8), dim3(128), args, 0, 0);
  if (e != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) return 2;
  std::vector<double> hr(steps);
  cudaMemcpy(hr.data(), r, steps * 8, cudaMemcpyDeviceToHost);
  for (int k = 1; k < steps; k++) if (!(hr[k] < hr[k - 1])) return 1;
  printf("%.3f %.3f\n", hr[0], hr[steps - 1]);
}
