// Row sums in vectors of four: the claim has rows of multiples of four alone, so that each begins aligned.
//
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..65535", cols = { min = 4, max = 4096, multiple = 4 } }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
// claims = { batch_invariant = true }
// launch = [{ entry = "sums", grid = "rows", block = "32" }]
// ///
__global__ void sums(float *y, const float *x, int cols) {
  const float4 *row = reinterpret_cast<const float4 *>(x + (size_t)blockIdx.x * cols);
  float sum = 0;
  for (int i = threadIdx.x; i < cols / 4; i += 32) sum += (row[i].x + row[i].y) + (row[i].z + row[i].w);
  for (int mask = 16; mask; mask /= 2) sum += __shfl_xor_sync(~0u, sum, mask);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
