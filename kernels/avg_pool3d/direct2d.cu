// The means of the windows of an image, one thread a window; zeros beyond an edge are counted, or not.
//
// /// kernel
// op       = "avg_pool2d"
// axes     = { planes = "1..65535", height = "1..32768", width = "1..32768" }
// tune     = { window_h = [2, 3], window_w = [2, 3], stride_h = [1, 2], stride_w = [1, 2, 3], pad = [0, 1], exclude = [0, 1] }
// where    = ["height + 2 * pad >= window_h", "width + 2 * pad >= window_w"]
// let      = { out_h = "(height + 2 * pad - window_h) / stride_h + 1", out_w = "(width + 2 * pad - window_w) / stride_w + 1" }
// scalars  = { window_h = "window_h", window_w = "window_w", stride_h = "stride_h", stride_w = "stride_w", pad_h = "pad", pad_w = "pad", exclude_pad = "exclude" }
// arrays   = { x = "f32[1, planes, height, width] -> x", y = "f32[1, planes, out_h, out_w] <- y" }
// accuracy = { adds = "window_h * window_w - 1", divide = "ieee" }
// launch   = [{ grid = "ceil_div(out_h * out_w, 64), planes", block = "64" }]
// ///

__global__ void avg_pool(float *y, const float *x, int height, int width, int out_h, int out_w, int window_h,
                         int window_w, int stride_h, int stride_w, int pad, int exclude) {
    // y is (planes, out_h, out_w), x is (planes, height, width)
    const int place = blockIdx.x * blockDim.x + threadIdx.x;  // may pass out_h * out_w - 1
    if (place >= out_h * out_w) {
        return;
    }
    const int top = place / out_w * stride_h - pad, left = place % out_w * stride_w - pad;  // may be less than 0
    const int first_row = max(top, 0), last_row = min(top + window_h, height);
    const int first_col = max(left, 0), last_col = min(left + window_w, width);
    x += static_cast<size_t>(blockIdx.y) * height * width;

    float sum = 0.0f;
    for (int row = first_row; row < last_row; ++row) {
        for (int col = first_col; col < last_col; ++col) {
            sum += x[row * width + col];
        }
    }
    const int inside = (last_row - first_row) * (last_col - first_col);
    const int count = exclude ? inside : window_h * window_w;
    y[static_cast<size_t>(blockIdx.y) * out_h * out_w + place] = sum / count;
}
