// Softmax with dynamic shared memory carved into three arrays: the row, the warps' maxima, their sums; rows go round.
//
// /// kernel
// op = "softmax"
// axes = { rows = "1..100000", cols = "1..8192" }
// tune = { threads = [32, 256] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
//
// [[launch]]
// grid = "min(rows, 64)"
// block = "threads"
// args = ["y","x","rows","cols"]
// shared = "(cols + 64) * 4"
// ///
#include <cfloat>
// Dynamic shared memory carved into three arrays: the row, the maxima of the warps, their sums.
__global__ void softmax_carved(float *out, const float *in, int rows, int cols) {
  extern __shared__ unsigned char raw[];
  float *cache = reinterpret_cast<float *>(raw);
  float *wmax = cache + cols;
  float *wsum = wmax + 32;
  int warps = blockDim.x / 32, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const float *x = in + (size_t)row * cols;
    float m = -INFINITY;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) { float v = x[i]; cache[i] = v; m = fmaxf(m, v); }
    for (int o = 16; o; o /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, o));
    if (lane == 0) wmax[warp] = m;
    __syncthreads();
    m = wmax[0];
    for (int w = 1; w < warps; ++w) m = fmaxf(m, wmax[w]);
    float s = 0;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) { float e = expf(cache[i] - m); cache[i] = e; s += e; }
    for (int o = 16; o; o /= 2) s += __shfl_xor_sync(0xffffffff, s, o);
    if (lane == 0) wsum[warp] = s;
    __syncthreads();
    s = 0;
    for (int w = 0; w < warps; ++w) s += wsum[w];
    float inv = 1.0f / s;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) out[(size_t)row * cols + i] = cache[i] * inv;
    __syncthreads();
  }
}
