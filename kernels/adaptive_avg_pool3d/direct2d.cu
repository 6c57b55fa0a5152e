// The means of the parts of an image, one thread a part: part i of o goes from floor(i n / o) to ceil((i + 1) n / o).
//
// Where o does not divide n, neighbouring parts share a row or a column, and parts are not equally large.
//
// /// kernel
// op      = "adaptive_avg_pool2d"
// axes    = { batch = "1..4096", channels = "1..8", height = "1..65536", width = "1..65536" }
// tune    = { rows = [1, 3, 7], cols = [1, 2, 7] }
// where   = ["height * rows < 2147483648", "width * cols < 2147483648"]
// scalars = { out_h = "rows", out_w = "cols" }
// arrays  = { x = "f32[batch, channels, height, width] -> x", y = "f32[batch, channels, rows, cols] <- y" }
// launch  = [{ grid = "batch * channels", block = "64" }]
//
// [accuracy]
// adds   = "(ceil_div(height, rows) + 1) * (ceil_div(width, cols) + 1) - 1"
// divide = "ieee"
// ///

__global__ void adaptive_avg_pool(float *y, const float *x, int height, int width, int rows, int cols) {
    // y is (planes, rows, cols), x is (planes, height, width); a block a plane
    const int part = threadIdx.x;  // ranges [0, 64), may pass rows * cols - 1
    if (part >= rows * cols) {
        return;
    }
    const int i = part / cols, j = part % cols;
    const int first_row = i * height / rows, last_row = ((i + 1) * height + rows - 1) / rows;
    const int first_col = j * width / cols, last_col = ((j + 1) * width + cols - 1) / cols;
    x += static_cast<size_t>(blockIdx.x) * height * width;

    float sum = 0.0f;
    for (int row = first_row; row < last_row; ++row) {
        for (int col = first_col; col < last_col; ++col) {
            sum += x[static_cast<size_t>(row) * width + col];
        }
    }
    y[blockIdx.x * rows * cols + part] = sum / ((last_row - first_row) * (last_col - first_col));
}
