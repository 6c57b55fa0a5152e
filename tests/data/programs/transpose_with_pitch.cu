// A transposition by tiles, of arrays whose rows are padded by cudaMallocPitch.
// bug: out-of-bounds
#include <cstdio>
#include <vector>

__global__ void transpose(float *out, size_t out_pitch, const float *in, size_t in_pitch, int rows, int cols) {
  __shared__ float tile[16][17];
  int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row < rows && col < cols)
    tile[threadIdx.y][threadIdx.x] = reinterpret_cast<const float *>(reinterpret_cast<const char *>(in) + row * in_pitch)[col];
  __syncthreads();
  int to_col = blockIdx.y * 16 + threadIdx.x, to_row = blockIdx.x * 16 + threadIdx.y;
#ifdef BUG
  if (to_row <= cols && to_col < rows)
#else
  if (to_row < cols && to_col < rows)
#endif
    reinterpret_cast<float *>(reinterpret_cast<char *>(out) + to_row * out_pitch)[to_col] = tile[threadIdx.x][threadIdx.y];
}

int main() {
  const int rows = 37, cols = 21;
  std::vector<float> a(rows * cols), b(rows * cols);
  for (int i = 0; i < rows * cols; i++) a[i] = float(i);
  float *in, *out;
  size_t in_pitch, out_pitch;
  cudaMallocPitch((void **)&in, &in_pitch, cols * sizeof(float), rows);
  cudaMallocPitch((void **)&out, &out_pitch, rows * sizeof(float), cols);
  cudaMemcpy2D(in, in_pitch, a.data(), cols * sizeof(float), cols * sizeof(float), rows, cudaMemcpyHostToDevice);
  transpose<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(out, out_pitch, in, in_pitch, rows, cols);
  cudaMemcpy2D(b.data(), rows * sizeof(float), out, out_pitch, rows * sizeof(float), cols, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < cols; c++) wrong += b[c * rows + r] != a[r * cols + c];
  printf("%d wrong\n", wrong);
}
