// The rows' sums; each thread begins at another place of its row, so that the threads of a warp read different banks.
__global__ void row_sum(const float *x, float *y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  int first = row % ((cols + 1) / 2);
  float sum = 0.0f;
  for (int j = 0; j < cols; ++j) sum += x[(long)row * cols + (first + j) % cols];
  y[row] = sum;
}

void launch(const float *x, float *y, int rows, int cols) { row_sum<<<(rows + 127) / 128, 128>>>(x, y, rows, cols); }
