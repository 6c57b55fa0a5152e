// Batch norm of a training step, one block a channel: the batch's own mean and variance, then the running values.
//
// A channel's elements lie in as many pieces as the batch has samples. The block reads them three times: for the mean, for
// the squares of the differences from it, and for the answer. The running variance is that of a sample: n - 1 divides it.
//
// /// kernel
// op      = "batch_norm_train"
// axes    = { batch = "1..4096", channels = "1..65535", places = "1..65536" }
// tune    = { threads = [32, 256, 1024] }
// where   = ["batch * places >= 2"]
// scalars = { eps = 1e-5, momentum = 0.1 }
//
// [let]
// n = "batch * places"
//
// [arrays]
// x            = "f32[batch, channels, places] -> x"
// running_mean = "f32[channels] -> running_mean <- running_mean"
// running_var  = "f32[channels] -> running_var <- running_var"
// w            = "f32[channels] -> w"
// b            = "f32[channels] -> b"
// y            = "f32[batch, channels, places] <- y"
//
// [accuracy]
// form      = "two pass"
// adds      = "ceil_div(n, threads) - 1 + ceil_log2(min(n, threads))"  # a share, then the halvings
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
//
// [[launch]]
// grid  = "channels"
// block = "threads"
// args  = ["y", "running_mean", "running_var", "x", "w", "b", "batch", "places", "eps", "momentum"]
// ///

#include "../warp_and_block.cuh"

__global__ void batch_norm_train(float *y, float *running_mean, float *running_var, const float *x, const float *w,
                                 const float *b, int batch, int places, float eps, float momentum) {
    // y and x are (batch, channels, places), the others (channels); a block a channel
    __shared__ float of_warp[2][32];
    const int channel = blockIdx.x, n = batch * places;
    const auto place = [=](int i) {
        return (static_cast<size_t>(i / places) * gridDim.x + channel) * places + i % places;
    };

    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        sum += x[place(i)];
    }
    const float mean = block_sum(sum, of_warp[0]) / n;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const float off = x[place(i)] - mean;
        squares += off * off;
    }
    const float var = block_sum(squares, of_warp[1]) / n;
    const float scale = rsqrtf(var + eps);

    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        y[place(i)] = (x[place(i)] - mean) * scale * w[channel] + b[channel];
    }
    if (threadIdx.x == 0) {
        running_mean[channel] = (1.0f - momentum) * running_mean[channel] + momentum * mean;
        running_var[channel] = (1.0f - momentum) * running_var[channel] + momentum * (var * n / (n - 1));
    }
}
