// One block of 256 threads for each row.
__inline__ __device__ float warp_max(float v) {
  for (int o = 16; o > 0; o >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, o));
  return v;
}

__inline__ __device__ float warp_sum(float v) {
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
  return v;
}

__global__ void softmax(const float *x, float *y, int rows, int cols) {
  __shared__ float part[32];
  int row = blockIdx.x, t = threadIdx.x, lane = t % 32, warp = t / 32, warps = blockDim.x / 32;
  const float *in = x + (long)row * cols;
  float m = -1e30f;
  for (int j = t; j < cols; j += blockDim.x) m = fmaxf(m, in[j]);
  m = warp_max(m);
  if (lane == 0) part[warp] = m;
  __syncthreads();
  m = part[0];
  for (int w = 1; w < warps; ++w) m = fmaxf(m, part[w]);
  __syncthreads();
  float s = 0.0f;
  for (int j = t; j < cols; j += blockDim.x) s += expf(in[j] - m);
  s = warp_sum(s);
  if (lane == 0) part[warp] = s;
  __syncthreads();
  s = 0.0f;
  for (int w = 0; w < warps; ++w) s += part[w];
  for (int j = t; j < cols; j += blockDim.x) y[(long)row * cols + j] = expf(in[j] - m) / s;
}

void launch(const float *x, float *y, int rows, int cols) { softmax<<<rows, 256>>>(x, y, rows, cols); }
