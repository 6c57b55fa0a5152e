// Logsumexp: each warp has a chunk of the row, which may be empty or all -inf, and one thread merges the four.
//
// /// kernel
// op     = "logsumexp"
// axes   = { rows = "1..100000", cols = "1..100000" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
// launch = [{ entry = "logsumexp_chunks", grid = "rows", block = 128 }]
// ///
__global__ void logsumexp_chunks(float *y, const float *x, int rows, int cols) {
  __shared__ float m[4], s[4];
  const float *p = x + (size_t)blockIdx.x * cols;
  int chunk = threadIdx.x / 32, lane = threadIdx.x % 32;
  int per = (cols + 3) / 4, lo = chunk * per, hi = min(cols, lo + per);
  float mx = -INFINITY;
  for (int i = lo + lane; i < hi; i += 32) mx = fmaxf(mx, p[i]);
  for (int o = 16; o; o >>= 1) mx = fmaxf(mx, __shfl_xor_sync(~0u, mx, o));
  float sh = mx == -INFINITY ? 0.f : mx, sm = 0.f;
  for (int i = lo + lane; i < hi; i += 32) sm += expf(p[i] - sh);
  for (int o = 16; o; o >>= 1) sm += __shfl_xor_sync(~0u, sm, o);
  if (lane == 0) { m[chunk] = mx; s[chunk] = sm; }
  __syncthreads();
  if (threadIdx.x == 0) {
    float M = fmaxf(fmaxf(m[0], m[1]), fmaxf(m[2], m[3])), S = 0.f;
    if (M == -INFINITY) { y[blockIdx.x] = -INFINITY; return; }
    for (int c = 0; c < 4; ++c) if (s[c] > 0.f) S += s[c] * expf(m[c] - M);
    y[blockIdx.x] = M + logf(S);
  }
}
