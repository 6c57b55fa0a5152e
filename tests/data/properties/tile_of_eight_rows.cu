// Row sums of a captured graph: the grid is made for all slots, and the count of rows lies in memory. A block loads a tile
// of 8 rows, those that are not there as well, and replaces what it has read there by 0.
//
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..128", cols = "1..512" }
// let    = { slots = "16 * ceil_div(rows, 16)" }
// arrays = { x = "f32[rows within slots, cols] -> x", y = "f32[rows within slots] <- y", count = "i32[1] = rows" }
// launch = [{ entry = "sums", grid = "slots / 8", block = "8" }]
// ///
__global__ void sums(float *y, const float *x, const int *count, int cols) {
  __shared__ float tile[8];
  const int row = blockIdx.x * 8 + threadIdx.x, rows = *count;
  float sum = 0;
  for (int i = 0; i < cols; i++) {
    const float value = x[(size_t)row * cols + i];
    sum += row < rows ? value : 0.0f;
  }
  tile[threadIdx.x] = sum;
  __syncthreads();
  if (row < rows) y[row] = tile[threadIdx.x];
}
