// The index of the maximum by a packed atomic that compares values alone: of two equal elements either may win.
// bug: nondeterministic
//
// /// kernel
// op     = "argmax"
// axes   = { rows = "1..1024", cols = "1..2048" }
// arrays = { x = "f32[rows, cols] -> x", y = "i32[rows] <- index", best = "u32[rows] = 0", place = "i32[rows]" }
// values = { finite = true }
// claims = { deterministic = true }
// launch = [
//   { entry = "find", grid = "cols, rows", block = "1" },
//   { entry = "claim", grid = "cols, rows", block = "1" },
//   { entry = "write", grid = "rows", block = "1" },
// ]
// ///
__device__ unsigned ordered(float value) {
  const int bits = __float_as_int(value == 0 ? 0.0f : value);
  return bits < 0 ? ~bits : bits | 0x80000000u;
}

__global__ void find(unsigned *best, const float *x, int cols) {
  atomicMax(&best[blockIdx.y], ordered(x[(size_t)blockIdx.y * cols + blockIdx.x]));
}

__global__ void claim(int *place, const unsigned *best, const float *x, int cols) {
  if (ordered(x[(size_t)blockIdx.y * cols + blockIdx.x]) == best[blockIdx.y]) atomicExch(&place[blockIdx.y], (int)blockIdx.x);
}

__global__ void write(int *y, const int *place) { y[blockIdx.x] = place[blockIdx.x]; }
