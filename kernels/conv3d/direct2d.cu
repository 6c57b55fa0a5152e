// A convolution of images, one thread an element of y, all reads from global memory.
//
// The starting point: each thread walks over the channels and the window and skips what lies beyond an edge. Its
// neighbours take the next columns, so that reads of x are coalesced where the stride is 1, and all read the same w.
//
// /// kernel
// op      = "conv2d"
// axes    = { batch = "1..65535", channels = "1..4096", height = "1..65536", width = "1..65536", filters = "1..65535", kh = "1..7", kw = "1..7" }
// tune    = { stride_h = [1, 2], stride_w = [1, 2, 3], pad = [0, 1, 2], dilation = [1, 2] }
// where   = ["height + 2 * pad > dilation * (kh - 1)", "width + 2 * pad > dilation * (kw - 1)"]
// let     = { out_h = "(height + 2 * pad - dilation * (kh - 1) - 1) / stride_h + 1", out_w = "(width + 2 * pad - dilation * (kw - 1) - 1) / stride_w + 1" }
// scalars = { stride_h = "stride_h", stride_w = "stride_w", pad_h = "pad", pad_w = "pad", dilation_h = "dilation", dilation_w = "dilation" }
// arrays  = { x = "f32[batch, channels, height, width] -> x", w = "f32[filters, channels, kh, kw] -> w", bias = "f32[filters] -> bias", y = "f32[batch, filters, out_h, out_w] <- y" }
// launch  = [{ grid = "ceil_div(out_h * out_w, 64), filters, batch", block = "64" }]
//
// [accuracy]
// form = "bias last"
// adds = "channels * kh * kw - 1"  # the first product is added to 0
// ///

__global__ void conv_direct(float *y, const float *x, const float *w, const float *bias, int channels, int height,
                            int width, int kh, int kw, int out_h, int out_w, int stride_h, int stride_w, int pad,
                            int dilation) {
    // y is (batch, filters, out_h, out_w), x is (batch, channels, height, width), w is (filters, channels, kh, kw)
    const int place = blockIdx.x * blockDim.x + threadIdx.x;  // may pass out_h * out_w - 1
    if (place >= out_h * out_w) {
        return;
    }
    const int filter = blockIdx.y, filters = gridDim.y;
    const int top = place / out_w * stride_h - pad, left = place % out_w * stride_w - pad;  // may be less than 0
    x += static_cast<size_t>(blockIdx.z) * channels * height * width;
    w += static_cast<size_t>(filter) * channels * kh * kw;

    float sum = 0.0f;
    for (int channel = 0; channel < channels; ++channel) {
        for (int i = 0; i < kh; ++i) {
            const int row = top + i * dilation;
            for (int j = 0; j < kw; ++j) {
                const int col = left + j * dilation;
                if (row >= 0 && row < height && col >= 0 && col < width) {
                    sum += x[(static_cast<size_t>(channel) * height + row) * width + col] * w[(channel * kh + i) * kw + j];
                }
            }
        }
    }
    y[(static_cast<size_t>(blockIdx.z) * filters + filter) * out_h * out_w + place] = sum + bias[filter];
}
