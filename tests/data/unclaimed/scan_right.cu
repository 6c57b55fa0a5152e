// An inclusive scan of each row by one block; a row may be longer than the block.
#define THREADS 256

__global__ void prefix_sum(const float *x, float *y, int rows, int cols) {
  __shared__ float part[THREADS];
  __shared__ float carry;
  int row = blockIdx.x, t = threadIdx.x;
  const float *in = x + (long)row * cols;
  float *out = y + (long)row * cols;
  if (t == 0) carry = 0.0f;
  __syncthreads();
  for (int first = 0; first < cols; first += THREADS) {
    int j = first + t;
    part[t] = j < cols ? in[j] : 0.0f;
    __syncthreads();
    for (int step = 1; step < THREADS; step *= 2) {
      float left = t >= step ? part[t - step] : 0.0f;
      __syncthreads();
      part[t] += left;
      __syncthreads();
    }
    if (j < cols) out[j] = carry + part[t];
    __syncthreads();
    if (t == 0) carry += part[THREADS - 1];
    __syncthreads();
  }
}

void launch(const float *x, float *y, int rows, int cols) { prefix_sum<<<rows, THREADS>>>(x, y, rows, cols); }
