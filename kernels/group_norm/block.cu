// Group norm, one block a group of a sample: its channels lie one after another, so a group is one row in memory.
//
// What differs by channel is folded into one product and one sum: y = x (r w) + (b - mean (r w)).
//
// /// kernel
// op     = "group_norm"
// axes   = { batch = "1..65535", groups = "1..65535", channels = "1..4096", places = "1..65536" }
// tune   = { threads = [32, 128, 512] }
// let    = { n = "channels * places" }
// arrays = { x = "f32[batch, groups, channels, places] -> x", w = "f32[groups, channels] -> w", b = "f32[groups, channels] -> b", y = "f32[batch, groups, channels, places] <- y" }
// launch = [{ grid = "groups, batch", block = "threads" }]
//
// [accuracy]
// form      = "two pass folded"
// adds      = "ceil_div(n, threads) - 1 + ceil_log2(min(n, threads))"  # a share, then the halvings
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
// ///

#include "../warp_and_block.cuh"

__global__ void group_norm_block(float *y, const float *x, const float *w, const float *b, int channels, int places) {
    // y and x are (batch, groups, channels, places), w and b are (groups, channels); a block a group of a sample
    __shared__ float of_warp[2][32];
    const int n = channels * places;
    const size_t first = (static_cast<size_t>(blockIdx.y) * gridDim.x + blockIdx.x) * n;
    x += first;
    y += first;
    w += static_cast<size_t>(blockIdx.x) * channels;
    b += static_cast<size_t>(blockIdx.x) * channels;

    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        sum += x[i];
    }
    const float mean = block_sum(sum, of_warp[0]) / n;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const float off = x[i] - mean;
        squares += off * off;
    }
    const float r = rsqrtf(block_sum(squares, of_warp[1]) / n + 1e-5f);

    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const float scale = r * w[i / places];
        y[i] = x[i] * scale + (b[i / places] - mean * scale);
    }
}
