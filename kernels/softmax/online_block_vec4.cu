// Softmax of each row, one block a row, four elements at a time: float4 online, two trees in shared memory.
//
// online_block with wide loads and stores, a quarter of the memory instructions. A float4
// must be aligned to 16 bytes, but a row is aligned only by chance: with 5 columns the
// second row begins at byte 20. So a row has a head of up to three single elements, a
// body of float4 from the first boundary on, and a tail of up to three. In place.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x <- y" }
// align  = 4
//
// [accuracy]  # a thread's vectors, two adds within one, the tail; then the halvings that meet more than zeros
// adds     = "ceil_div(cols, 4 * threads) + 3 + ceil_log2(min(cols, threads))"
// rescales = "ceil_div(cols, 4 * threads) + 2"  # vectors, head and tail but the first; then the row's maximum
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

__device__ void fold(float &max, float &sum, float value) {
    if (value > max) {
        // the first finite element comes here: exp(-inf - value) = 0 leaves the sum of 0 as it is
        sum = sum * expf(max - value) + 1.0f;
        max = value;
    } else if (value > -INFINITY) {  // so max is finite; -inf - -inf would be NaN
        sum += expf(value - max);
    }
}

__device__ void fold4(float &max, float &sum, float4 v) {
    const float top = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
    if (top > max) {  // one rescaling for four elements
        sum *= expf(max - top);
        max = top;
    }
    if (max == -INFINITY) {
        return;  // nothing but -inf so far
    }
    sum += (expf(v.x - max) + expf(v.y - max)) + (expf(v.z - max) + expf(v.w - max));
}

__global__ void softmax_online_block_vec4(float *x, int cols) {
    // x is (rows, cols); a block a row
    extern __shared__ float shared[];  // (blockDim.x)
    x += static_cast<size_t>(blockIdx.x) * cols;
    const int tid = threadIdx.x;  // ranges [0, blockDim.x)

    // [0, head) and [tail, cols) are single elements, at most three each; between them lies the body of float4
    const int misplaced = static_cast<int>(reinterpret_cast<size_t>(x) % 16 / 4);  // ranges [0, 4)
    const int head = min((4 - misplaced) % 4, cols);
    const int vectors = (cols - head) / 4;
    const int tail = head + 4 * vectors;
    float4 *body = reinterpret_cast<float4 *>(x + head);  // (vectors)

    float max = -INFINITY, sum = 0.0f;
    if (tid < head) {
        fold(max, sum, x[tid]);
    }
    for (int i = tid; i < vectors; i += blockDim.x) {  // i + 1024 < 2^31: an int is enough
        fold4(max, sum, body[i]);
    }
    if (tail + tid < cols) {
        fold(max, sum, x[tail + tid]);
    }

    // A thread without a finite element has 0 * exp(-inf) = 0 here. In a row of nothing but -inf every thread has
    // 0 * exp(-inf - -inf) = NaN, as is right there.
    const float max_of_row = block_max(shared, max);
    __syncthreads();  // every thread has read the maximum before the sums take its place
    const float sum_of_row = block_sum(shared, sum * expf(max - max_of_row));

    // Each thread overwrites what it alone has read.
    if (tid < head) {
        x[tid] = expf(x[tid] - max_of_row) / sum_of_row;
    }
    for (int i = tid; i < vectors; i += blockDim.x) {
        const float4 v = body[i];
        body[i] = make_float4(expf(v.x - max_of_row) / sum_of_row, expf(v.y - max_of_row) / sum_of_row,
                              expf(v.z - max_of_row) / sum_of_row, expf(v.w - max_of_row) / sum_of_row);
    }
    if (tail + tid < cols) {
        x[tail + tid] = expf(x[tail + tid] - max_of_row) / sum_of_row;
    }
}
