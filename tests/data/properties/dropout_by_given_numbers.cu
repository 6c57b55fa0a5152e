// Dropout by given uniform numbers: kept where u < 1 - p.
//
// /// kernel
// op       = "dropout_from_uniform"
// axes     = { rows = "1..1024", cols = "1..1024" }
// arrays   = { x = "f32[rows, cols] -> x", u = "f32[rows, cols] -> u", y = "f32[rows, cols] <- y" }
// scalars  = { p = 0.3 }
// accuracy = { form = "u < 1 - p" }
//
// [[launch]]
// grid  = "ceil_div(rows * cols, 128)"
// block = "128"
// args  = ["y", "x", "u", "rows", "cols", "p"]
// ///
__global__ void drop(float *y, const float *x, const float *u, int rows, int cols, float p) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < (size_t)rows * cols) y[i] = x[i] * (u[i] < 1 - p) * (1 / (1 - p));
}
