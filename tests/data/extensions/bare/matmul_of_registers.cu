// op: sgemm
//
// A product of matrices of any size by tiles of 32 x 32 with four results a thread in registers, over tensors that are made
// contiguous first.
#include <cuda.h>
#include <cuda_runtime.h>
#include <torch/extension.h>

constexpr int TILE = 32, PER_THREAD = 4;

__global__ void matmul_kernel(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, const int M,
                              const int N, const int K) {
  __shared__ float As[TILE][TILE + 1];
  __shared__ float Bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int col = blockIdx.x * TILE + tx;
  float acc[PER_THREAD] = {0.0f};
  for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
#pragma unroll
    for (int r = 0; r < PER_THREAD; ++r) {
      const int row = blockIdx.y * TILE + ty + r * (TILE / PER_THREAD), k = t * TILE + ty + r * (TILE / PER_THREAD);
      As[ty + r * (TILE / PER_THREAD)][tx] = row < M && t * TILE + tx < K ? A[row * K + t * TILE + tx] : 0.0f;
      Bs[ty + r * (TILE / PER_THREAD)][tx] = k < K && col < N ? B[k * N + col] : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < TILE && t * TILE + k < K; ++k) {
      const float b = Bs[k][tx];
#pragma unroll
      for (int r = 0; r < PER_THREAD; ++r) acc[r] = fmaf(As[ty + r * (TILE / PER_THREAD)][k], b, acc[r]);
    }
    __syncthreads();
  }
  for (int r = 0; r < PER_THREAD; ++r) {
    const int row = blockIdx.y * TILE + ty + r * (TILE / PER_THREAD);
    if (row < M && col < N) C[row * N + col] = acc[r];
  }
}

torch::Tensor matmul_cuda(torch::Tensor A, torch::Tensor B) {
  TORCH_CHECK(A.dim() == 2 && B.dim() == 2, "expected matrices");
  TORCH_CHECK(A.size(1) == B.size(0), "inner dimensions differ: ", A.size(1), " and ", B.size(0));
  TORCH_CHECK(A.scalar_type() == torch::kFloat32, "float32 only");
  A = A.contiguous();
  B = B.contiguous();
  const int M = A.size(0), K = A.size(1), N = B.size(1);
  auto C = torch::zeros({M, N}, A.options());
  const dim3 threads(TILE, TILE / PER_THREAD);
  const dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  matmul_kernel<<<blocks, threads>>>(A.data_ptr<float>(), B.data_ptr<float>(), C.data_ptr<float>(), M, N, K);
  return C;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("matmul_cuda", &matmul_cuda, "Tiled matrix multiplication"); }
