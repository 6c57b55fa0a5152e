// Row sums, a warp a row, whose lanes beyond a short row return before the shuffles: the mask is a ballot's.
//
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..100000", cols = "1..100000" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
// launch = [{ entry = "row_sum_odd", grid = "rows", block = 32 }]
// ///
__global__ void row_sum_odd(float *y, const float *__restrict__ x, int rows, int cols) {
  int row = blockIdx.x;
  int lane = threadIdx.x;
  unsigned mask = __ballot_sync(0xffffffffu, lane < cols);
  if (lane >= cols) return;
  float s = 0.f;
  for (int c = lane; c < cols; c += 32) s += __ldg(&x[(size_t)row * cols + c]);
  for (int off = 16; off > 0; off >>= 1) {
    float o = __shfl_down_sync(mask, s, off);
    if (lane + off < 32 && ((mask >> (lane + off)) & 1)) s += o;
  }
  if (lane == 0) y[row] = s;
}
