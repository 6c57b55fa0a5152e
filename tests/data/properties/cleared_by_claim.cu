// Row maxima for all slots: what is written to the rows that are not there is nobody's, says the claim.
//
// /// kernel
// op     = "row_max"
// axes   = { rows = "1..128", cols = "1..512" }
// tune   = { slots = [16, 128] }
// where  = ["rows <= slots"]
// arrays = { x = "f32[rows within slots, cols] -> x", y = "f32[rows within slots] <- y" }
// values = { finite = true }
// claims = { writes_absent_rows = true }
// launch = [{ entry = "maxima", grid = "slots", block = "1" }]
// ///
__global__ void maxima(float *y, const float *x, int cols) {
  float found = -INFINITY;
  for (int i = 0; i < cols; i++) found = fmaxf(found, x[(size_t)blockIdx.x * cols + i]);
  y[blockIdx.x] = found;
}
