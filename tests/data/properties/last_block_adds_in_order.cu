// Row sums: the last block of a row to arrive adds up what all have stored, in the order of their numbers.
//
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..512", cols = "1..4096" }
// let    = { blocks = "ceil_div(cols, 256)" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y", part = "f32[rows, blocks]", arrived = "u32[rows] = 0" }
// claims = { deterministic = true }
// launch = [{ grid = "blocks, rows", block = "32" }]
// ///
__global__ void sums(float *y, float *part, unsigned *arrived, const float *x, int cols) {
  const int row = blockIdx.y, blocks = gridDim.x;
  float sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < min(cols, ((int)blockIdx.x + 1) * 256); i += 32) sum += x[(size_t)row * cols + i];
  for (int mask = 16; mask; mask /= 2) sum += __shfl_xor_sync(~0u, sum, mask);
  if (threadIdx.x) return;
  const int place = blockIdx.x;
  __stcg(&part[row * blocks + place], sum);
  __threadfence();
  if (atomicAdd(&arrived[row], 1u) != blocks - 1) return;
  __threadfence();
  float all = 0;
  for (int i = 0; i < blocks; i++) all += __ldcg(&part[row * blocks + i]);
  y[row] = all;
}
