// Sorts each row by counting; of equal elements the last comes first, which nobody has asked about.
//
// /// kernel
// op     = "sort"
// axes   = { rows = "1..1024", cols = "1..256" }
// arrays = { x = "f32[rows, cols] -> x", values = "f32[rows, cols] <- values", indices = "i32[rows, cols] <- indices" }
// launch = [{ entry = "sort", grid = "rows", block = "32" }]
// ///
__global__ void sort(float *values, int *indices, const float *x, int cols) {
  const size_t first = (size_t)blockIdx.x * cols;
  for (int i = threadIdx.x; i < cols; i += 32) {
    int rank = 0;
    const float mine = x[first + i];
    for (int k = 0; k < cols; k++) {
      const float other = x[first + k];
      const bool is_equal = isnan(mine) ? isnan(other) : mine == other;
      rank += is_equal ? k > i : isnan(mine) || other < mine;
    }
    values[first + rank] = mine;
    indices[first + rank] = i;
  }
}
