// Finds the token at which the cumulated sum passes a given number; sums of 32 tokens first, then within one of them.
//
// /// kernel
// op     = "categorical_from_uniform"
// axes   = { rows = "1..1024", cols = "1..4096" }
// arrays = { x = "f32[rows, cols] -> logits", u = "f32[rows] -> u", token = "i32[rows] <- token" }
// launch = [{ entry = "find", grid = "rows", block = "32" }]
// ///
__global__ void find(int *token, const float *x, const float *u, int cols) {
  x += (size_t)blockIdx.x * cols;
  const int lane = threadIdx.x, share = (cols + 31) / 32, first = lane * share, end = min(cols, first + share);
  float top = -INFINITY;
  for (int i = 0; i < cols; i++) top = fmaxf(top, x[i]);
  float sum = 0;
  for (int i = first; i < end; i++) sum += expf(x[i] - top);
  float before = 0, total = 0;
  for (int k = 0; k < 32; k++) {
    const float other = __shfl_sync(~0u, sum, k);
    if (k == lane) before = total;
    total += other;
  }
  const float target = u[blockIdx.x] * total;
  int found = cols, last = -1;
  for (int i = first; i < end; i++) {
    const float weight = expf(x[i] - top);
    before += weight;
    if (weight > 0) {
      last = i;
      if (found == cols && before > target) found = i;
    }
  }
  for (int far = 16; far; far /= 2) {
    found = min(found, __shfl_down_sync(~0u, found, far));
    last = max(last, __shfl_down_sync(~0u, last, far));
  }
  if (lane == 0) token[blockIdx.x] = found == cols ? last : found;
}
