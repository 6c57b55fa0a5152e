// A convolution with windows of 3 x 3 by Winograd's F(4 x 4, 3 x 3), one thread a tile of 4 x 4 elements of y.
//
// The tile of 6 x 6 elements of x and the filter are transformed, multiplied place by place and added up over the
// channels; the sum is transformed back: 36 products in the place of 144. The price is accuracy: an element of y errs with
// the largest of its tile.
//
// /// kernel
// op      = "winograd_conv2d"
// axes    = { batch = "1..65535", channels = "1..4096", height = "1..16384", width = "1..16384", filters = "1..65535" }
// tune    = { pad = [0, 1] }
// where   = ["height + 2 * pad >= 3", "width + 2 * pad >= 3"]
// let     = { out_h = "height + 2 * pad - 2", out_w = "width + 2 * pad - 2" }
// scalars = { pad = "pad" }
// arrays  = { x = "f32[batch, channels, height, width] -> x", w = "f32[filters, channels, 3, 3] -> w", bias = "f32[filters] -> bias", y = "f32[batch, filters, out_h, out_w] <- y" }
// launch  = [{ grid = "ceil_div(ceil_div(out_h, 4) * ceil_div(out_w, 4), 32), filters, batch", block = "32" }]
//
// [accuracy]
// adds = { conv = "channels - 1", x = 5, w = 5, y = 11 }
//
// [values]
// range  = [-1e12, 1e12]  # the transforms and products of larger numbers may overflow
// finite = true
// ///

__device__ void to_tile(float *t, const float *x, int step) {
    // B^T x for six elements of x, `step` apart; t may be x
    const float a = x[0], b = x[step], c = x[2 * step], d = x[3 * step], e = x[4 * step], f = x[5 * step];
    t[0] = 4.0f * a - 5.0f * c + e;
    t[step] = (d + e) - 4.0f * (b + c);
    t[2 * step] = (e - d) + 4.0f * (b - c);
    t[3 * step] = (e - c) + 2.0f * (d - b);
    t[4 * step] = (e - c) + 2.0f * (b - d);
    t[5 * step] = 4.0f * b - 5.0f * d + f;
}

__device__ void to_taps(float *t, int step_of_t, const float *w, int step) {
    // G w for three elements of w
    const float a = w[0], b = w[step], c = w[2 * step];
    t[0] = a / 4.0f;
    t[step_of_t] = -(a + b + c) / 6.0f;
    t[2 * step_of_t] = (b - a - c) / 6.0f;
    t[3 * step_of_t] = (a + 2.0f * b + 4.0f * c) / 24.0f;
    t[4 * step_of_t] = (a - 2.0f * b + 4.0f * c) / 24.0f;
    t[5 * step_of_t] = c;
}

__device__ void from_tile(float *y, const float *t, int step) {
    // A^T t for six elements of t; y may be t
    const float a = t[0], b = t[step], c = t[2 * step], d = t[3 * step], e = t[4 * step], f = t[5 * step];
    y[0] = a + b + c + d + e;
    y[step] = (b - c) + 2.0f * (d - e);
    y[2 * step] = (b + c) + 4.0f * (d + e);
    y[3 * step] = (b - c) + 8.0f * (d - e) + f;
}

__global__ void winograd(float *y, const float *x, const float *w, const float *bias, int channels, int height,
                         int width, int out_h, int out_w, int pad) {
    // y is (batch, filters, out_h, out_w), x is (batch, channels, height, width), w is (filters, channels, 3, 3)
    const int across = (out_w + 3) / 4, tile = blockIdx.x * blockDim.x + threadIdx.x;
    if (tile >= (out_h + 3) / 4 * across) {
        return;
    }
    const int filter = blockIdx.y, filters = gridDim.y, top = tile / across * 4, left = tile % across * 4;
    x += static_cast<size_t>(blockIdx.z) * channels * height * width;
    w += static_cast<size_t>(filter) * channels * 9;

    float sum[36] = {};
    for (int channel = 0; channel < channels; ++channel) {
        float part[36], rows[18], taps[36];
        for (int i = 0; i < 36; ++i) {
            const int row = top + i / 6 - pad, col = left + i % 6 - pad;
            const bool is_inside = row >= 0 && row < height && col >= 0 && col < width;
            part[i] = is_inside ? x[(static_cast<size_t>(channel) * height + row) * width + col] : 0.0f;
        }
        for (int i = 0; i < 6; ++i) {
            to_tile(part + 6 * i, part + 6 * i, 1);
        }
        for (int i = 0; i < 3; ++i) {
            to_taps(rows + 6 * i, 1, w + channel * 9 + 3 * i, 1);
        }
        for (int i = 0; i < 6; ++i) {
            to_tile(part + i, part + i, 6);
            to_taps(taps + i, 6, rows + i, 6);
        }
        for (int i = 0; i < 36; ++i) {
            sum[i] += part[i] * taps[i];
        }
    }
    for (int i = 0; i < 6; ++i) {
        from_tile(sum + i, sum + i, 6);
    }
    for (int i = 0; i < 4 && top + i < out_h; ++i) {
        from_tile(sum + 6 * i, sum + 6 * i, 1);
        for (int j = 0; j < 4 && left + j < out_w; ++j) {
            y[((static_cast<size_t>(blockIdx.z) * filters + filter) * out_h + top + i) * out_w + left + j] =
                sum[6 * i + j] + bias[filter];
        }
    }
}
