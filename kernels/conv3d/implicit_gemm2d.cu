// A convolution of images as a product of matrices, whose second one is never stored: filters by windows.
//
// A row of the product is a filter, a column a place of y, and k runs through the channels and the window. A block makes
// 16 x 16 elements of y from tiles in shared memory; a thread finds the element of x for each place of a tile by itself.
//
// /// kernel
// op      = "conv2d"
// axes    = { batch = "1..65535", channels = "1..4096", height = "1..4096", width = "1..4096", filters = "1..65535", kh = "1..7", kw = "1..7" }
// tune    = { stride = [1, 2], pad = [0, 1, 2], dilation = [1, 2] }
// where   = ["height + 2 * pad > dilation * (kh - 1)", "width + 2 * pad > dilation * (kw - 1)", "batch * height * width <= 134217728"]
// let     = { out_h = "(height + 2 * pad - dilation * (kh - 1) - 1) / stride + 1", out_w = "(width + 2 * pad - dilation * (kw - 1) - 1) / stride + 1" }
// scalars = { stride_h = "stride", stride_w = "stride", pad_h = "pad", pad_w = "pad", dilation_h = "dilation", dilation_w = "dilation" }
// arrays  = { x = "f32[batch, channels, height, width] -> x", w = "f32[filters, channels, kh, kw] -> w", bias = "f32[filters] -> bias", y = "f32[batch, filters, out_h, out_w] <- y" }
// launch  = [{ grid = "ceil_div(batch * out_h * out_w, 16), ceil_div(filters, 16)", block = "16, 16" }]
//
// [accuracy]
// form = "bias last"
// adds = "channels * kh * kw - 1"  # zeros beyond the last product are added exactly
// ///

constexpr int TILE = 16;

__global__ void conv_implicit_gemm(float *y, const float *x, const float *w, const float *bias, int batch, int channels,
                                   int height, int width, int filters, int kh, int kw, int out_h, int out_w, int stride,
                                   int pad, int dilation) {
    // y is (batch, filters, out_h, out_w), x is (batch, channels, height, width), w is (filters, channels, kh, kw)
    __shared__ float of_w[TILE][TILE], of_x[TILE][TILE];
    const int window = kh * kw, depth = channels * window, places = out_h * out_w;
    const int filter = blockIdx.y * TILE + threadIdx.y;  // may pass filters - 1
    const int place = blockIdx.x * TILE + threadIdx.x;   // may pass batch places - 1
    const int sample = place / places;
    const int top = place % places / out_w * stride - pad, left = place % out_w * stride - pad;  // may be less than 0
    x += static_cast<size_t>(sample) * channels * height * width;

    float sum = 0.0f;
    for (int first = 0; first < depth; first += TILE) {
        const int k_of_w = first + threadIdx.x, k_of_x = first + threadIdx.y;
        const int row = top + k_of_x % window / kw * dilation, col = left + k_of_x % kw * dilation;
        const bool is_inside = row >= 0 && row < height && col >= 0 && col < width;
        of_w[threadIdx.y][threadIdx.x] =
            filter < filters && k_of_w < depth ? w[static_cast<size_t>(filter) * depth + k_of_w] : 0.0f;
        of_x[threadIdx.y][threadIdx.x] =
            sample < batch && k_of_x < depth && is_inside
                ? x[(static_cast<size_t>(k_of_x / window) * height + row) * width + col]
                : 0.0f;
        __syncthreads();  // both tiles are complete
        for (int k = 0; k < TILE; ++k) {
            sum += of_w[threadIdx.y][k] * of_x[k][threadIdx.x];
        }
        __syncthreads();  // both tiles have been read
    }
    if (filter < filters && sample < batch) {
        y[(static_cast<size_t>(sample) * filters + filter) * places + place % places] = sum + bias[filter];
    }
}
