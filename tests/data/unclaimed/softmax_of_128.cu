#define BLOCK 128

__global__ void softmax_rows(const float *in, float *out, int n) {
  __shared__ float part[BLOCK];
  const float *row = in + (long)blockIdx.x * n;
  float *answer = out + (long)blockIdx.x * n;
  const int t = threadIdx.x;
  float best = -INFINITY;
  for (int i = t; i < n; i += BLOCK) best = fmaxf(best, row[i]);
  part[t] = best;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s >>= 1) {
    if (t < s) part[t] = fmaxf(part[t], part[t + s]);
    __syncthreads();
  }
  best = part[0];
  __syncthreads();
  float sum = 0;
  for (int i = t; i < n; i += BLOCK) sum += expf(row[i] - best);
  part[t] = sum;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    __syncthreads();
  }
  sum = part[0];
  for (int i = t; i < n; i += BLOCK) answer[i] = expf(row[i] - best) / sum;
}
