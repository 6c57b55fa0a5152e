// A depthwise convolution of images with windows of 3 x 3: each channel has a filter of its own.
//
// One thread an element of y. The zeros of the padding are multiplied, so that all threads of a warp do the same.
//
// /// kernel
// op       = "depthwise_conv2d"
// axes     = { batch = "1..65535", channels = "1..65535", height = "1..65536", width = "1..65536" }
// tune     = { stride = [1, 2], pad = [0, 1] }
// where    = ["height + 2 * pad >= 3", "width + 2 * pad >= 3"]
// let      = { out_h = "(height + 2 * pad - 3) / stride + 1", out_w = "(width + 2 * pad - 3) / stride + 1" }
// scalars  = { stride_h = "stride", stride_w = "stride", pad_h = "pad", pad_w = "pad" }
// arrays   = { x = "f32[batch, channels, height, width] -> x", w = "f32[channels, 3, 3] -> w", bias = "f32[channels] -> bias", y = "f32[batch, channels, out_h, out_w] <- y" }
// accuracy = { form = "sums start at bias", adds = "9" }
// launch   = [{ grid = "ceil_div(out_h * out_w, 64), channels, batch", block = "64" }]
// ///

__global__ void conv_depthwise(float *y, const float *x, const float *w, const float *bias, int height, int width,
                               int out_h, int out_w, int stride, int pad) {
    // y is (batch, channels, out_h, out_w), x is (batch, channels, height, width), w is (channels, 3, 3)
    const int place = blockIdx.x * blockDim.x + threadIdx.x;  // may pass out_h * out_w - 1
    if (place >= out_h * out_w) {
        return;
    }
    const int channel = blockIdx.y;
    const size_t plane = static_cast<size_t>(blockIdx.z) * gridDim.y + channel;
    const int top = place / out_w * stride - pad, left = place % out_w * stride - pad;

    float sum = bias[channel];
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            const int row = top + i, col = left + j;
            const bool is_inside = row >= 0 && row < height && col >= 0 && col < width;
            sum += (is_inside ? x[(plane * height + row) * width + col] : 0.0f) * w[channel * 9 + i * 3 + j];
        }
    }
    y[plane * out_h * out_w + place] = sum;
}
