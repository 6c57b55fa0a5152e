// A transposed convolution of images, one thread an element of y: it looks for the elements of x whose windows reach it.
//
// Element (r, c) of x adds to a window of y that begins at (r stride - pad, c stride - pad). From y, each place of the window
// has one such element, or none where the distance is no multiple of the stride.
//
// /// kernel
// op      = "conv_transpose2d"
// axes    = { batch = "1..65535", channels = "1..4096", height = "1..16384", width = "1..16384", filters = "1..65535", kh = "1..7", kw = "1..7" }
// tune    = { stride = [1, 2, 3], pad = [0, 1], more = [0, 1] }
// where   = ["(height - 1) * stride + kh - 1 + more >= 2 * pad", "(width - 1) * stride + kw - 1 + more >= 2 * pad"]
// let     = { out_h = "(height - 1) * stride + kh + more - 2 * pad", out_w = "(width - 1) * stride + kw + more - 2 * pad" }
// scalars = { stride_h = "stride", stride_w = "stride", pad_h = "pad", pad_w = "pad", output_pad_h = "more", output_pad_w = "more" }
// arrays  = { x = "f32[batch, channels, height, width] -> x", w = "f32[channels, filters, kh, kw] -> w", bias = "f32[filters] -> bias", y = "f32[batch, filters, out_h, out_w] <- y" }
// launch  = [{ grid = "ceil_div(out_h * out_w, 64), filters, batch", block = "64" }]
//
// [accuracy]
// form = "bias last"
// adds = "channels * ceil_div(kh, stride) * ceil_div(kw, stride) - 1"
// ///

__global__ void conv_transposed(float *y, const float *x, const float *w, const float *bias, int channels, int height,
                                int width, int kh, int kw, int out_h, int out_w, int stride, int pad) {
    // y is (batch, filters, out_h, out_w), x is (batch, channels, height, width), w is (channels, filters, kh, kw)
    const int place = blockIdx.x * blockDim.x + threadIdx.x;  // may pass out_h * out_w - 1
    if (place >= out_h * out_w) {
        return;
    }
    const int filter = blockIdx.y, filters = gridDim.y;
    const int down = place / out_w + pad, right = place % out_w + pad;  // from the first window's begin
    x += static_cast<size_t>(blockIdx.z) * channels * height * width;

    float sum = 0.0f;
    for (int channel = 0; channel < channels; ++channel) {
        const float *of_filter = w + (static_cast<size_t>(channel) * filters + filter) * kh * kw;
        for (int i = down % stride; i < kh && i <= down; i += stride) {
            const int row = (down - i) / stride;
            for (int j = right % stride; j < kw && j <= right; j += stride) {
                const int col = (right - j) / stride;
                if (row < height && col < width) {
                    sum += x[(static_cast<size_t>(channel) * height + row) * width + col] * of_filter[i * kw + j];
                }
            }
        }
    }
    y[(static_cast<size_t>(blockIdx.z) * filters + filter) * out_h * out_w + place] = sum + bias[filter];
}
