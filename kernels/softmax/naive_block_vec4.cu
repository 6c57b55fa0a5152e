// Softmax of each row as in naive_block, four elements at a time.
//
// A float4 must be aligned to 16 bytes, and most rows of 257 floats do not begin there. So the row
// has three parts: the head up to the first such address (at most 3 elements), the body in float4,
// and the tail (at most 3). If y's row is not aligned like x's, the body is written float by float.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..6000" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// align  = 4
// values = { range = [-80, 80] }
// launch = [{ grid = "rows", block = "threads" }]
//
// [accuracy]  # a thread's vectors, two adds within one, the tail; then the halvings that meet more than zeros
// adds   = "ceil_div(cols, 4 * threads) + 3 + ceil_log2(min(cols, threads))"
// shift  = "zero"
// exp    = "expf"
// divide = "ieee"
// ///

__device__ float warp_sum(float value) {
    // all 32 lanes take part; every lane ends with the result
    for (int mask = 16; mask > 0; mask /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, mask);
    }
    return value;
}

__device__ float block_sum(float value) {
    // all threads of the block, whole warps, take part; every thread ends with the same bits
    __shared__ float of_warp[32];
    const int warp = threadIdx.x / 32;  // ranges [0, warps)
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const int warps = blockDim.x / 32;  // ranges [1, 32]
    value = warp_sum(value);
    if (lane == 0) {
        of_warp[warp] = value;
    }
    __syncthreads();
    return warp_sum(lane < warps ? of_warp[lane] : 0.0f);
}

__device__ int head_of(const float *row, int cols) {
    // how many floats precede the first 16-byte boundary: ranges [0, min(3, cols)]
    const int misplaced = static_cast<int>(reinterpret_cast<size_t>(row) % 16 / 4);
    return min((4 - misplaced) % 4, cols);
}

__device__ float4 exp4(float4 v) {
    return make_float4(expf(v.x), expf(v.y), expf(v.z), expf(v.w));
}

__global__ void softmax_naive_block_vec4(float *y, const float *x, int cols) {
    // y and x are (rows, cols); a block a row
    const size_t start = static_cast<size_t>(blockIdx.x) * cols;
    y += start;
    x += start;
    const int tid = threadIdx.x;
    const int head = head_of(x, cols);
    const int vectors = (cols - head) / 4;
    const int tail = head + 4 * vectors;  // ranges [cols - 3, cols]: where the tail begins
    const float4 *body = reinterpret_cast<const float4 *>(x + head);

    float sum = 0.0f;
    if (tid < head) {
        sum += expf(x[tid]);  // a block has more threads than a head or a tail has elements
    }
    for (int i = tid; i < vectors; i += blockDim.x) {
        const float4 e = exp4(body[i]);
        sum += (e.x + e.y) + (e.z + e.w);
    }
    if (tail + tid < cols) {
        sum += expf(x[tail + tid]);
    }
    sum = block_sum(sum);

    const bool together = head_of(y, cols) == head;  // y's boundaries are where x's are
    if (tid < head) {
        y[tid] = expf(x[tid]) / sum;
    }
    for (int i = tid; i < vectors; i += blockDim.x) {
        const float4 e = exp4(body[i]);
        const float4 out = make_float4(e.x / sum, e.y / sum, e.z / sum, e.w / sum);
        float *to = y + head + 4 * i;
        if (together) {
            *reinterpret_cast<float4 *>(to) = out;
        } else {
            to[0] = out.x;
            to[1] = out.y;
            to[2] = out.z;
            to[3] = out.w;
        }
    }
    if (tail + tid < cols) {
        y[tail + tid] = expf(x[tail + tid]) / sum;
    }
}
