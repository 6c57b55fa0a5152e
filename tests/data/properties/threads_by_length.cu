// Row sums by blocks whose size depends on the length of a row, and by no more than that.
//
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..65535", cols = "1..4096" }
// let    = { threads = "32 if cols <= 64 else 128" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
// claims = { batch_invariant = true }
// launch = [{ entry = "sums", grid = "rows", block = "threads" }]
// ///
__global__ void sums(float *y, const float *x, int cols) {
  __shared__ float part[128];
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += x[(size_t)blockIdx.x * cols + i];
  part[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x) return;
  for (int i = 1; i < blockDim.x; i++) sum += part[i];
  y[blockIdx.x] = sum;
}
