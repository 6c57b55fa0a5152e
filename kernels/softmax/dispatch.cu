// Softmax of each row by the method that suits its length: a warp, a block with the row cached, a block without.
//
// Up to 1024 columns a warp takes a row, in float4: no barrier, and a block holds several rows. Up to 4096
// a block takes a row and keeps it in shared memory (16 KB), so that it is read once. Above that, a block
// reads the row twice in float4, as in online_block_shuffle. A library would call this kernel. In place.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x <- y" }
// align  = 4
//
// [let]
// cached  = "1024 < cols <= 4096"
// workers = "32 if cols <= 1024 else threads"
// vectors = "ceil_div(cols, 4 * workers)"
//
// [accuracy]  # cached as cached_block says it, the others as online_block_shuffle
// adds     = "(ceil_div(cols, threads) - 1 if cached else vectors + 3) + ceil_log2(min(cols, workers))"
// rescales = "0 if cached else vectors + 2"
// shift    = "running max"
// exp      = "expf"
// divide   = "ieee"
//
// [[launch]]
// when  = "cols <= 1024"
// entry = "softmax_warp"
// grid  = "ceil_div(rows, threads / 32)"
// block = "threads"
// args  = ["x", "rows", "cols"]
//
// [[launch]]
// when   = "cached"
// entry  = "softmax_block_cached"
// grid   = "rows"
// block  = "threads"
// shared = "4 * cols"
// args   = ["x", "cols"]
//
// [[launch]]
// when  = "cols > 4096"
// entry = "softmax_block"
// grid  = "rows"
// block = "threads"
// args  = ["x", "cols"]
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

__global__ void softmax_warp(float *x, int rows, int cols) {
    // x is (rows, cols); a warp a row
    const size_t index =
        (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;  // may pass rows - 1
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    if (index >= rows) {
        return;  // a whole warp returns at once, so the shuffles below see all 32 lanes
    }
    const Row row = row_of(x, index, cols);
    float max, sum;
    fold_share(max, sum, row, lane, 32);
    const float max_of_row = warp_max(max);
    const float sum_of_row = warp_sum(sum * expf(max - max_of_row));
    write_share(row, max_of_row, sum_of_row, lane, 32);
}

__global__ void softmax_block_cached(float *x, int cols) {
    // x is (rows, cols); a block a row
    extern __shared__ float cache[];  // (cols): a thread reads back only what it wrote itself
    x += static_cast<size_t>(blockIdx.x) * cols;
    float max = -INFINITY;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        max = fmaxf(max, cache[col] = x[col]);
    }
    max = block_max(max);

    float sum = 0.0f;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        sum += cache[col] = expf(cache[col] - max);
    }
    sum = block_sum(sum);

    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        x[col] = cache[col] / sum;
    }
}

__global__ void softmax_block(float *x, int cols) {
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
