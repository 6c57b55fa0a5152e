// The different elements of each row: the first of equal ones finds its place by how many different ones are less.
//
// /// kernel
// op     = "unique"
// axes   = { rows = "1..256", cols = "1..96" }
// arrays = { x = "f32[rows, cols] -> x", values = "f32[rows, cols] <- values", count = "i32[rows] <- count" }
// launch = [{ entry = "unique", grid = "rows", block = "32" }]
// ///
__device__ bool is_first(const float *x, int i) {
  for (int j = 0; j < i; j++)
    if (x[j] == x[i]) return false;
  return true;
}

__global__ void unique(float *values, int *count, const float *x, int cols) {
  x += (size_t)blockIdx.x * cols;
  values += (size_t)blockIdx.x * cols;
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  for (int i = threadIdx.x; i < cols; i += 32) values[i] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < cols; i += 32) {
    if (isnan(x[i]) || !is_first(x, i)) continue;
    int below = 0;
    for (int j = 0; j < cols; j++) below += x[j] < x[i] && is_first(x, j);
    values[below] = x[i];
    atomicAdd(&found, 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) count[blockIdx.x] = found;
}
