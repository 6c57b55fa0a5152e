// Row sums by float4: up to three elements before the first whole vector, and up to three behind the last.
//
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..100000", cols = "1..100000" }
// tune   = { threads = [64, 256] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
// launch = [{ entry = "row_sum_f4<{threads}>", grid = "rows", block = "threads", args = ["x","y","rows","cols"] }]
// ///
template <int BLOCK>
__global__ void __launch_bounds__(BLOCK) row_sum_f4(const float *__restrict__ in, float *__restrict__ out, int rows, int cols) {
  __shared__ float part[BLOCK / 32];
  const float *row = in + (long)blockIdx.x * cols;
  float acc = 0.0f;
  int head = (int)(((16 - ((unsigned long long)row & 15)) & 15) / 4);
  if (head > cols) head = cols;
  for (int i = threadIdx.x; i < head; i += BLOCK) acc += row[i];
  const float4 *v = reinterpret_cast<const float4 *>(row + head);
  int n4 = (cols - head) / 4;
  for (int i = threadIdx.x; i < n4; i += BLOCK) { float4 t = v[i]; acc += (t.x + t.y) + (t.z + t.w); }
  for (int i = head + n4 * 4 + threadIdx.x; i < cols; i += BLOCK) acc += row[i];
#pragma unroll
  for (int o = 16; o; o >>= 1) acc += __shfl_xor_sync(~0u, acc, o);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = acc;
  __syncthreads();
  if (threadIdx.x < 32) {
    acc = threadIdx.x < BLOCK / 32 ? part[threadIdx.x] : 0.0f;
    for (int o = 16; o; o >>= 1) acc += __shfl_xor_sync(~0u, acc, o);
    if (threadIdx.x == 0) out[blockIdx.x] = acc;
  }
}
