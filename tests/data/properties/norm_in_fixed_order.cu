// RMS norm, 128 threads a row whatever the batch: a row's sum has one order. A persistent grid takes the rows in turn.
//
// /// kernel
// op     = "rms_norm"
// axes   = { rows = "1..65535", cols = "1..4096" }
// let    = { blocks = "min(rows, 24)" }
// arrays = { x = "f32[rows, cols] -> x", w = "f32[cols] -> w", y = "f32[rows, cols] <- y" }
// claims = { batch_invariant = true }
// launch = [{ entry = "normalise", grid = "blocks", block = "128" }]
// ///
__global__ void normalise(float *y, const float *x, const float *w, int rows, int cols) {
  __shared__ float part[1024];
  const int threads = blockDim.x;
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    float sum = 0;
    for (int i = threadIdx.x; i < cols; i += threads) sum += x[(size_t)row * cols + i] * x[(size_t)row * cols + i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = threads / 2; half; half /= 2) {
      if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
      __syncthreads();
    }
    const float scale = rsqrtf(part[0] / cols + 1e-6f);
    __syncthreads();
    for (int i = threadIdx.x; i < cols; i += threads) y[(size_t)row * cols + i] = x[(size_t)row * cols + i] * scale * w[i];
  }
}
