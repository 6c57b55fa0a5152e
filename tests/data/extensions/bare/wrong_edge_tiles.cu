// op: transpose
// bug: out-of-bounds numeric
// Wrong on purpose: tiles at the edge are stored as a whole.
#include <torch/extension.h>

constexpr int TILE = 32, ROWS = 8;

template <typename scalar_t>
__global__ void transpose_tiles(scalar_t *__restrict__ out, const scalar_t *__restrict__ in, int rows, int cols) {
  __shared__ scalar_t tile[TILE][TILE + 1];
  int col = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS)
    if (row + j < rows && col < cols) tile[threadIdx.y + j][threadIdx.x] = in[(row + j) * cols + col];
  __syncthreads();
  col = blockIdx.y * TILE + threadIdx.x, row = blockIdx.x * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS)
    if (row + j < cols) out[(row + j) * rows + col] = tile[threadIdx.x][threadIdx.y + j];
}

torch::Tensor transpose(torch::Tensor x) {
  auto y = torch::empty({x.size(1), x.size(0)}, x.options());
  dim3 grid((x.size(1) + TILE - 1) / TILE, (x.size(0) + TILE - 1) / TILE), block(TILE, ROWS);
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "transpose", [&] {
    transpose_tiles<scalar_t><<<grid, block>>>(y.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(), x.size(0), x.size(1));
  });
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("transpose", &transpose, "transpose"); }
