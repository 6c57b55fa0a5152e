// Y = X transposed through a tile, the result written into a strided view.
//
// /// kernel
// op     = "transpose"
// axes   = { rows = "1..2048", cols = "1..4096" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[cols, rows] <- y" }
// host   = { entry = "forward", home = { rows = 16, cols = 256 } }
// ///
#include <torch/extension.h>

constexpr int TILE = 16;
template <typename scalar_t>
__global__ void transposed(scalar_t *y, const scalar_t *x, int rows, int cols) {
  __shared__ scalar_t tile[TILE][TILE + 1];
  int c = blockIdx.x * TILE + threadIdx.x, r = blockIdx.y * TILE + threadIdx.y;
  if (r < rows && c < cols) tile[threadIdx.y][threadIdx.x] = x[r * cols + c];
  __syncthreads();
  c = blockIdx.x * TILE + threadIdx.y;
  r = blockIdx.y * TILE + threadIdx.x;
  if (r < rows && c < cols) y[c * rows + r] = tile[threadIdx.x][threadIdx.y];
}

torch::Tensor forward(torch::Tensor x) {
  auto sizes = x.sizes();
  auto y = at::empty({sizes[1], sizes[0]}, x.options());
  dim3 grid(at::ceil_div<int64_t>(sizes[1], TILE), at::ceil_div<int64_t>(sizes[0], TILE));
  AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, x.scalar_type(), "transposed", ([&] {
    transposed<scalar_t><<<grid, dim3(TILE, TILE)>>>(y.mutable_data_ptr<scalar_t>(), x.const_data_ptr<scalar_t>(), sizes[0], sizes[1]);
  }));
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "forward"); }
