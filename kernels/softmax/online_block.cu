// Softmax of each row, one block a row: threads online, then two trees in shared memory.
//
// For rows that are too long for a warp: up to 1024 threads read the row together. Each keeps a
// maximum and the sum that belongs to it. A tree in shared memory finds the row's maximum; each thread
// rescales its own sum to it, and a second tree, in the same array, adds the sums. Between the two is
// an extra barrier: the array must not be written before every thread has read the maximum from it.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
//
// [accuracy]
// adds     = "ceil_div(cols, threads) - 1 + ceil_log2(min(cols, threads))"  # a zero, at first or idle, changes nothing
// rescales = "ceil_div(cols, threads)"  # for each element of a share but the first, then to the row's maximum
// shift    = "running max"
// exp      = "expf"
// divide   = "ieee"
//
// [[launch]]
// grid   = "rows"
// block  = "threads"
// shared = "4 * threads"
// ///

__device__ float block_max(float *shared, float value) {
    // shared is (blockDim.x), a power of two; all threads take part and end with the result
    const int tid = threadIdx.x;  // ranges [0, blockDim.x)
    shared[tid] = value;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (tid < half) {
            shared[tid] = fmaxf(shared[tid], shared[tid + half]);
        }
        __syncthreads();
    }
    return shared[0];
}

__device__ float block_sum(float *shared, float value) {
    // shared is (blockDim.x), a power of two; all threads take part and end with the result
    const int tid = threadIdx.x;  // ranges [0, blockDim.x)
    shared[tid] = value;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (tid < half) {
            shared[tid] += shared[tid + half];
        }
        __syncthreads();
    }
    return shared[0];
}

__global__ void softmax_online_block(float *y, const float *x, int cols) {
    // y and x are (rows, cols); a block a row
    extern __shared__ float shared[];  // (blockDim.x)
    const size_t start = static_cast<size_t>(blockIdx.x) * cols;
    y += start;
    x += start;

    float max = -INFINITY, sum = 0.0f;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {  // col + 1024 < 2^31: an int is enough
        const float value = x[col];
        if (value > max) {
            // the first finite element comes here: exp(-inf - value) = 0 leaves the sum of 0 as it is
            sum = sum * expf(max - value) + 1.0f;
            max = value;
        } else if (value > -INFINITY) {  // so max is finite; a leading -inf would make exp(-inf - -inf) = NaN
            sum += expf(value - max);
        }
    }

    // A thread without a finite element has 0 * exp(-inf) = 0 here. In a row of nothing but -inf every thread has
    // 0 * exp(-inf - -inf) = NaN, as is right there.
    const float max_of_row = block_max(shared, max);
    __syncthreads();  // every thread has read the maximum before the sums take its place
    const float sum_of_row = block_sum(shared, sum * expf(max - max_of_row));

    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        y[col] = expf(x[col] - max_of_row) / sum_of_row;
    }
}
