// A bilinear form of two rows, y[b, o] = sum over i and j of x[b, i] w[o, i, j] z[b, j]; one warp an answer.
//
// The lanes of a warp share a row of w, so they read it side by side. Each term is a product of three: x[b, i] times the sum
// over j would save a multiplication, but it is another function of infinities.
//
// /// kernel
// op     = "einsum(bi,oij,bj->bo)"
// axes   = { batch = "1..65535", outs = "1..65535", ins = "1..4096", width = "1..4096" }
// arrays = { x = "f32[batch, ins] -> a", w = "f32[outs, ins, width] -> b", z = "f32[batch, width] -> c", y = "f32[batch, outs] <- y" }
// launch = [{ grid = "outs, batch", block = "32" }]
//
// [accuracy]  # a lane's share of all rows, then the halvings of the warp
// adds = { sum = "ins * ceil_div(width, 32) - 1 + 5" }
// form = "at once"
// ///

__global__ void bilinear(float *y, const float *x, const float *w, const float *z, int ins, int width) {
    // y is (batch, outs), x is (batch, ins), w is (outs, ins, width), z is (batch, width)
    const size_t out = blockIdx.x, row = blockIdx.y;
    const int lane = threadIdx.x;
    x += row * ins;
    z += row * width;
    w += out * ins * width;

    float sum = 0.0f;
    for (int i = 0; i < ins; ++i) {
        for (int j = lane; j < width; j += 32) {
            sum += x[i] * w[static_cast<size_t>(i) * width + j] * z[j];
        }
    }
    for (int mask = 16; mask > 0; mask /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    }
    if (lane == 0) {
        y[row * gridDim.x + out] = sum;
    }
}
