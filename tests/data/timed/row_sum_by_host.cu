// Sum of each row by a warp, launched by a host function.
//
// /// kernel
// op       = "row_sum"
// axes     = { rows = "1..65536", cols = "1..65536" }
// arrays   = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
// accuracy = { adds = "ceil_div(cols, 32) + 5" }
// values   = { nan = "ieee", pos_inf = "ieee" }
// host     = { entry = "row_sum" }
// ///

__global__ void row_sum_kernel(float *y, const float *x, int cols) {
    // y is (rows), x is (rows, cols); a warp a row
    x += static_cast<size_t>(blockIdx.x) * cols;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += 32) {
        sum += x[i];
    }
    for (int mask = 16; mask > 0; mask /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    }
    if (threadIdx.x == 0) {
        y[blockIdx.x] = sum;
    }
}

void row_sum(float *y, const float *x, int rows, int cols) {
    row_sum_kernel<<<rows, 32>>>(y, x, cols);
}
