// The maxima of the windows of an image and their places as torch has them, one thread a window.
//
// A NaN is greater than any number, and of equal elements the place of the first is named, so that a gradient which is spread by
// these places is that of torch.
//
// /// kernel
// op      = "max_pool2d_with_indices"
// axes    = { planes = "1..65535", height = "1..32768", width = "1..32768" }
// tune    = { window_h = [2, 3], window_w = [2, 3], stride_h = [1, 2], stride_w = [1, 2, 3], pad = [0, 1] }
// where   = ["height + 2 * pad >= window_h", "width + 2 * pad >= window_w"]
// let     = { out_h = "(height + 2 * pad - window_h) / stride_h + 1", out_w = "(width + 2 * pad - window_w) / stride_w + 1" }
// scalars = { window_h = "window_h", window_w = "window_w", stride_h = "stride_h", stride_w = "stride_w", pad_h = "pad", pad_w = "pad" }
// arrays  = { x = "f32[1, planes, height, width] -> x", y = "f32[1, planes, out_h, out_w] <- y", index = "i32[1, planes, out_h, out_w] <- index" }
// values  = { nan = "propagate", ties = "first" }
// launch  = [{ grid = "ceil_div(out_h * out_w, 64), planes", block = "64" }]
// ///

__global__ void max_pool_places_of_torch(float *y, int *index, const float *x, int height, int width, int out_h,
                                         int out_w, int window_h, int window_w, int stride_h, int stride_w, int pad) {
    // y is (planes, out_h, out_w), x is (planes, height, width)
    const int place = blockIdx.x * blockDim.x + threadIdx.x;  // may pass out_h * out_w - 1
    if (place >= out_h * out_w) {
        return;
    }
    const int top = place / out_w * stride_h - pad, left = place % out_w * stride_w - pad;  // may be less than 0
    const int first_row = max(top, 0), last_row = min(top + window_h, height);
    const int first_col = max(left, 0), last_col = min(left + window_w, width);
    x += static_cast<size_t>(blockIdx.y) * height * width;

    int best = first_row * width + first_col;
    for (int row = first_row; row < last_row; ++row) {
        for (int col = first_col; col < last_col; ++col) {
            const float one = x[row * width + col];
            if (one > x[best] || one != one) {
                best = row * width + col;
            }
        }
    }
    y[static_cast<size_t>(blockIdx.y) * out_h * out_w + place] = x[best];
    index[static_cast<size_t>(blockIdx.y) * out_h * out_w + place] = best;
}
