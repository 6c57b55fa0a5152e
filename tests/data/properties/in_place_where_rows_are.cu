// SiLU in place, in a grid for all slots: rows that are not there stay as they are.
//
// /// kernel
// op     = "silu"
// axes   = { rows = "1..128", cols = "1..256" }
// let    = { slots = "rows + 5" }
// arrays = { x = "f32[rows within slots, cols] -> x <- y", count = "i32[1] = rows" }
// launch = [{ entry = "silu", grid = "slots", block = "32" }]
// ///
__global__ void silu(float *x, const int *count, int cols) {
  if (blockIdx.x >= *count) return;
  for (int i = threadIdx.x; i < cols; i += 32) {
    const float value = x[(size_t)blockIdx.x * cols + i];
    x[(size_t)blockIdx.x * cols + i] = value / (1 + expf(-value));
  }
}
