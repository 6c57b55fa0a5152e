// int8 times the scale of its row, for rows of 100: a block makes four rows, and finds an element's row among them by a float.
//
// 0.01f is a little less than 1 / 100. The product of 100 k rounds to k, and the difference is right. If nvcc fuses both, nothing
// rounds the product: the difference is a little less than it should be, and the first element of a row gets the scale above.
//
// /// kernel
// op       = "group_dequantize"
// axes     = { rows = "1..4096", cols = [100] }
// arrays   = { q = "i8[rows, cols] -> q", scale = "f32[rows, 1] -> scale", y = "f32[rows, cols] <- y" }
// scalars  = { height = 1, width = 100 }
// launch   = [{ entry = "scale_rows", grid = "ceil_div(rows, 4)", block = "400", args = ["y", "q", "scale", "rows"] }]
// ///

constexpr int COLS = 100, ROWS = 4;

__global__ void scale_rows(float *y, const signed char *q, const float *scale, int rows) {
    // y and q are (rows, COLS), scale is (rows); a block ROWS rows, a thread an element
    const int first = blockIdx.x * ROWS, i = first * COLS + threadIdx.x;
    if (i >= rows * COLS) {
        return;
    }
    const int row = first + static_cast<int>(floorf(static_cast<float>(i) * 0.01f + static_cast<float>(-first)));
    y[i] = static_cast<float>(q[i]) * scale[row];
}
