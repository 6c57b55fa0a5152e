// Softmax of each row, one block a row, the row read once into shared memory and normalised from there.
//
// online_block reads a row twice from global memory. If the row fits into shared memory, one read is
// enough, and since the second and third pass over it are then nearly free, this uses the plain three
// passes (maximum, sum, write): no rescaling, and one exp an element. 12224 columns and the 256 bytes
// of the reductions fill the 48 KB that every GPU provides without an extra request. In place.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..12224" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x <- y" }
// values = { nan = "row", pos_inf = "row" }
//
// [accuracy]  # a thread's share, then the halvings that meet more than zeros
// adds     = "ceil_div(cols, threads) - 1 + ceil_log2(min(cols, threads))"  # a share, then halvings; to add 0 is exact
// rescales = 0
// exp      = "expf"
// divide   = "ieee"
//
// [[launch]]
// grid   = "rows"
// block  = "threads"
// shared = "4 * cols"
// ///

__device__ float warp_max(float value) {
    // all 32 lanes take part; every lane ends with the result
    for (int mask = 16; mask > 0; mask /= 2) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, mask));
    }
    return value;
}

__device__ float warp_sum(float value) {
    // all 32 lanes take part; every lane ends with the result
    for (int mask = 16; mask > 0; mask /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, mask);
    }
    return value;
}

__global__ void softmax_cached_block(float *x, int cols) {
    // x is (rows, cols); a block a row
    extern __shared__ float cache[];  // (cols): a thread reads back only what it wrote itself
    __shared__ float max_of_warp[32];
    __shared__ float
        sum_of_warp[32];  // an array of its own, so that no barrier is needed before it is written
    const int warp = threadIdx.x / 32;  // ranges [0, warps)
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const int warps = blockDim.x / 32;  // ranges [1, 32]
    x += static_cast<size_t>(blockIdx.x) * cols;

    float max = -INFINITY;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        const float value = x[col];
        cache[col] = value;
        max = fmaxf(max, value);
    }
    max = warp_max(max);
    if (lane == 0) {
        max_of_warp[warp] = max;
    }
    __syncthreads();
    max = warp_max(lane < warps ? max_of_warp[lane] : -INFINITY);

    float sum = 0.0f;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        const float e = expf(cache[col] - max);
        cache[col] = e;
        sum += e;
    }
    sum = warp_sum(sum);
    if (lane == 0) {
        sum_of_warp[warp] = sum;
    }
    __syncthreads();
    sum = warp_sum(lane < warps ? sum_of_warp[lane] : 0.0f);

    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        x[col] = cache[col] / sum;
    }
}
