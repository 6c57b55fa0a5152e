// The softmax of each segment of a vector: a warp a segment.
//
// /// kernel
// op     = "segment_softmax"
// axes   = { total = "0..65536", batch = "1..65535" }
// arrays = { x = "f32[total] -> x", offsets = "i64[batch + 1] -> offsets", y = "f32[total] <- y" }
// launch = [{ entry = "segment_softmax", grid = "batch", block = 32 }]
// ///

__global__ void segment_softmax(float *y, const float *x, const long long *offsets) {
    // y and x are (total), offsets is (batch + 1)
    const long long first = offsets[blockIdx.x], last = offsets[blockIdx.x + 1];
    float top = -INFINITY, sum = 0.0f;
    for (long long i = first + threadIdx.x; i < last; i += 32) {
        top = fmaxf(top, x[i]);
    }
    for (int mask = 16; mask > 0; mask /= 2) {
        top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, mask));
    }
    for (long long i = first + threadIdx.x; i < last; i += 32) {
        sum += expf(x[i] - top);
    }
    for (int mask = 16; mask > 0; mask /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    }
    for (long long i = first + threadIdx.x; i < last; i += 32) {
        y[i] = expf(x[i] - top) / sum;
    }
}
