// Batch norm of evaluation, one thread an element: all that a channel has in common is one factor and one term.
//
// /// kernel
// op       = "batch_norm"
// axes     = { batch = "1..65535", channels = "1..65535", places = "1..1048576" }
// tune     = { threads = [64, 256] }
// arrays   = { x = "f32[batch, channels, places] -> x", mean = "f32[channels] -> mean", var = "f32[channels] -> var", w = "f32[channels] -> w", b = "f32[channels] -> b", y = "f32[batch, channels, places] <- y" }
// accuracy = { form = "folded", functions = { rsqrt = "rsqrtf" } }
// launch   = [{ grid = "ceil_div(places, threads), channels, batch", block = "threads" }]
// ///

__global__ void batch_norm_folded(float *y, const float *x, const float *mean, const float *var, const float *w,
                                  const float *b, int places) {
    // y and x are (batch, channels, places), the others (channels)
    const int place = blockIdx.x * blockDim.x + threadIdx.x;  // may pass places - 1
    if (place >= places) {
        return;
    }
    const int channel = blockIdx.y;
    const size_t i = (static_cast<size_t>(blockIdx.z) * gridDim.y + channel) * places + place;
    const float factor = rsqrtf(var[channel] + 1e-5f) * w[channel];
    const float term = b[channel] - mean[channel] * factor;
    y[i] = x[i] * factor + term;
}
