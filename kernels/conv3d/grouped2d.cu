// A convolution of images in groups, one thread an element of y: a filter sees the channels of its own group alone.
//
// /// kernel
// op       = "grouped_conv2d"
// axes     = { batch = "1..65535", groups = "1..1024", channels = "1..1024", height = "1..65536", width = "1..65536", filters = "1..63", kh = "1..7", kw = "1..7" }
// tune     = { stride = [1, 2], pad = [0, 1, 2] }
// where    = ["height + 2 * pad >= kh", "width + 2 * pad >= kw"]
// let      = { out_h = "(height + 2 * pad - kh) / stride + 1", out_w = "(width + 2 * pad - kw) / stride + 1" }
// scalars  = { stride_h = "stride", stride_w = "stride", pad_h = "pad", pad_w = "pad" }
// arrays   = { x = "f32[batch, groups, channels, height, width] -> x", w = "f32[groups, filters, channels, kh, kw] -> w", bias = "f32[groups, filters] -> bias", y = "f32[batch, groups, filters, out_h, out_w] <- y" }
// accuracy = { form = "sums start at bias", adds = "channels * kh * kw" }
// launch   = [{ grid = "ceil_div(out_h * out_w, 64), groups * filters, batch", block = "64" }]
// ///

__global__ void conv_grouped(float *y, const float *x, const float *w, const float *bias, int groups, int channels,
                             int height, int width, int filters, int kh, int kw, int out_h, int out_w, int stride,
                             int pad) {
    // y is (batch, groups, filters, out_h, out_w), x is (batch, groups, channels, height, width)
    const int place = blockIdx.x * blockDim.x + threadIdx.x;  // may pass out_h * out_w - 1
    if (place >= out_h * out_w) {
        return;
    }
    const int filter = blockIdx.y, group = filter / filters;  // filter ranges [0, groups filters)
    const int top = place / out_w * stride - pad, left = place % out_w * stride - pad;  // may be less than 0
    x += (static_cast<size_t>(blockIdx.z) * groups + group) * channels * height * width;
    w += static_cast<size_t>(filter) * channels * kh * kw;

    float sum = bias[filter];
    for (int channel = 0; channel < channels; ++channel) {
        for (int i = max(0, -top); i < kh && top + i < height; ++i) {
            for (int j = max(0, -left); j < kw && left + j < width; ++j) {
                sum += x[(static_cast<size_t>(channel) * height + top + i) * width + left + j] * w[(channel * kh + i) * kw + j];
            }
        }
    }
    y[(static_cast<size_t>(blockIdx.z) * gridDim.y + filter) * out_h * out_w + place] = sum;
}
