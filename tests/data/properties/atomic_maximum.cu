// The maximum of each row by atomicMax on integers that are ordered as floats are: atomics, and yet one answer.
//
// /// kernel
// op     = "row_max"
// axes   = { rows = "1..1024", cols = "1..4096" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y", found = "i32[rows] = -2147483648" }
// values = { finite = true }
// claims = { deterministic = true }
// launch = [
//   { entry = "find", grid = "ceil_div(cols, 32), rows", block = "32" },
//   { entry = "write", grid = "rows", block = "1" },
// ]
// ///
__device__ int ordered(int bits) { return bits ^ (bits >> 31 & 0x7fffffff); }

__global__ void find(int *found, const float *x, int cols) {
  const int col = blockIdx.x * 32 + threadIdx.x;
  if (col < cols) atomicMax(&found[blockIdx.y], ordered(__float_as_int(x[(size_t)blockIdx.y * cols + col])));
}

__global__ void write(float *y, const int *found) { y[blockIdx.x] = __int_as_float(ordered(found[blockIdx.x])); }
