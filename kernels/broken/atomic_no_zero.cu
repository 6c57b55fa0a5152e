// Sum of each row by several blocks, joined by atomicAdd into an output that was never set to 0.
//
// Each block sums its share of the row as in reduce/block_sum and adds the result to y.
// The launch that clears y beforehand is missing, so the sum starts from whatever is in
// memory: 0 after many allocations, the last call's answer when the buffer is reused.
// (The varying order of the atomics is not a defect: every order stays within the claim.)
//
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024], most_blocks = [1, 4, 64] }
// let    = { blocks = "min(most_blocks, ceil_div(cols, threads))" }  # of a row
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
//
// [accuracy]
// adds = "ceil_div(cols, threads * blocks) + ceil_log2(threads) + blocks"
//
// [broken]
// kind = "uninitialised"
// why  = "atomicAdd adds to an output that no launch has cleared."
//
// [[launch]]
// entry = "row_sum_atomic"
// grid  = "rows, blocks"
// block = "threads"
// args  = ["y", "x", "cols"]
// ///

__device__ float warp_sum(float value) {
    // all 32 lanes take part; every lane ends with the result
    for (int mask = 16; mask > 0; mask /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, mask);
    }
    return value;
}

__device__ float block_sum(float value) {
    // all threads of the block, whole warps, take part; every thread ends with the result. Called once a launch.
    __shared__ float of_warp[32];
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    value = warp_sum(value);
    if (lane == 0) {
        of_warp[threadIdx.x / 32] = value;
    }
    __syncthreads();
    return warp_sum(lane < blockDim.x / 32 ? of_warp[lane] : 0.0f);
}

__global__ void row_sum_atomic(float *y, const float *x, int cols) {
    // y is (rows), x is (rows, cols); gridDim.y blocks a row
    const float *row = x + static_cast<size_t>(blockIdx.x) * cols;
    const int stride = gridDim.y * blockDim.x;  // at most 64 * 1024: col + stride < 2^31, an int is enough
    float sum = 0.0f;
    for (int col = blockIdx.y * blockDim.x + threadIdx.x; col < cols; col += stride) {
        sum += row[col];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        atomicAdd(&y[blockIdx.x], sum);
    }
}
