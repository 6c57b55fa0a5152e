// Softmax of each row, one block a row: float4 online, warps by shuffle, shared memory only between the warps.
//
// The fastest of the ladder for long rows. online_block_vec4 halves the block ten times through shared memory
// with a barrier each; here a warp folds itself in registers, one value a warp goes through shared memory, and
// a reduction costs one barrier. It does this twice, for the maximum and for the sums, each first rescaled to
// the row's maximum. A row that is not aligned to 16 bytes has a head and a tail of single elements. In place.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x <- y" }
// align  = 4
// launch = [{ grid = "rows", block = "threads" }]
//
// [accuracy]  # a thread's vectors, two adds within one, the tail; then the halvings that meet more than zeros
// adds     = "ceil_div(cols, 4 * threads) + 3 + ceil_log2(min(cols, threads))"
// rescales = "ceil_div(cols, 4 * threads) + 2"  # vectors, head and tail but the first; then the row's maximum
// shift    = "running max"
// exp      = "expf"
// divide   = "ieee"
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

__device__ float block_max(float value) {
    // all threads of the block, whole warps, take part; every thread ends with the result. Called once a launch.
    __shared__ float of_warp[32];
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    value = warp_max(value);
    if (lane == 0) {
        of_warp[threadIdx.x / 32] = value;
    }
    __syncthreads();
    return warp_max(lane < blockDim.x / 32 ? of_warp[lane] : -INFINITY);
}

__device__ float block_sum(float value) {
    // as block_max, with a shared array of its own, so that no barrier is needed between the two
    __shared__ float of_warp[32];
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    value = warp_sum(value);
    if (lane == 0) {
        of_warp[threadIdx.x / 32] = value;
    }
    __syncthreads();
    return warp_sum(lane < blockDim.x / 32 ? of_warp[lane] : 0.0f);
}

struct Row {
    // a row in three parts: a head up to the first 16-byte boundary, a body of float4, a tail
    float *start;
    int cols;
    int head;  // elements, ranges [0, min(3, cols)]
    int vectors;  // ranges [0, cols / 4]
    int tail;  // where the tail begins: at most 3 elements before cols
};

__device__ Row row_of(float *x, size_t row, int cols) {
    float *start = x + row * cols;
    const int misplaced = static_cast<int>(reinterpret_cast<size_t>(start) % 16 / 4);  // ranges [0, 4)
    const int head = min((4 - misplaced) % 4, cols);
    const int vectors = (cols - head) / 4;
    return {start, cols, head, vectors, head + 4 * vectors};
}

__device__ float4 *body_of(Row row) {
    return reinterpret_cast<float4 *>(row.start + row.head);
}

__device__ void fold(float &max, float &sum, float value) {
    if (value > max) {
        // the first finite value comes here: exp(-inf - value) = 0 leaves the sum of 0 as it is
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

__device__ void fold_share(float &max, float &sum, Row row, int worker, int workers) {
    // (max, sum) of what this one of `workers`, 32 or more, has of the row
    max = -INFINITY;
    sum = 0.0f;
    if (worker < row.head) {
        fold(max, sum, row.start[worker]);
    }
    for (int i = worker; i < row.vectors; i += workers) {
        fold4(max, sum, body_of(row)[i]);
    }
    if (row.tail + worker < row.cols) {
        fold(max, sum, row.start[row.tail + worker]);
    }
}

__device__ void write_share(Row row, float max, float sum, int worker, int workers) {
    // each worker overwrites what it alone has read
    if (worker < row.head) {
        row.start[worker] = expf(row.start[worker] - max) / sum;
    }
    for (int i = worker; i < row.vectors; i += workers) {
        const float4 v = body_of(row)[i];
        body_of(row)[i] = make_float4(expf(v.x - max) / sum, expf(v.y - max) / sum, expf(v.z - max) / sum,
                                      expf(v.w - max) / sum);
    }
    const int last = row.tail + worker;
    if (last < row.cols) {
        row.start[last] = expf(row.start[last] - max) / sum;
    }
}

__global__ void softmax_online_block_shuffle(float *x, int cols) {
    // x is (rows, cols); a block a row
    const Row row = row_of(x, blockIdx.x, cols);
    float max, sum;
    fold_share(max, sum, row, threadIdx.x, blockDim.x);
    const float max_of_row = block_max(max);
    // The thread's sum becomes one below the row's maximum. A thread without a finite element has 0 * 0, and in a
    // row of nothing but -inf 0 * exp(-inf - -inf) = NaN, as is right there.
    const float sum_of_row = block_sum(sum * expf(max - max_of_row));
    write_share(row, max_of_row, sum_of_row, threadIdx.x, blockDim.x);
}
