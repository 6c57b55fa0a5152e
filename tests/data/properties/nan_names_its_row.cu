// Row maxima; a row with a NaN gives a NaN whose payload is the row's number. One NaN is as good as another.
//
// /// kernel
// op     = "row_max"
// axes   = { rows = "1..65535", cols = "1..4096" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
// values = { nan = "row" }
// claims = { batch_invariant = true }
// launch = [{ entry = "maxima", grid = "rows", block = "1" }]
// ///
__global__ void maxima(float *y, const float *x, int cols) {
  float found = -INFINITY;
  bool has_nan = false;
  for (int i = 0; i < cols; i++) {
    const float value = x[(size_t)blockIdx.x * cols + i];
    has_nan |= isnan(value);
    found = fmaxf(found, value);
  }
  y[blockIdx.x] = has_nan ? __uint_as_float(0x7fc00000u | blockIdx.x) : found;
}
