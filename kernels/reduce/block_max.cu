// Maximum of each row, one block a row: by shuffles within the warps, by shared memory between them.
//
// Each thread folds its share of the row, each warp folds its threads, and then *every* warp folds the
// warps' results, so that all threads of the block know the maximum after a single barrier. The block's
// size is a template parameter, so the compiler knows the number of warps. The identity is -inf.
//
// /// kernel
// op     = "row_max"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
//
// [[launch]]
// entry = "block_max_rows<{threads}>"
// grid  = "rows"
// block = "threads"
// ///

__device__ float warp_max(float value) {
    // all 32 lanes take part; every lane ends with the result
    for (int mask = 16; mask > 0; mask /= 2) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, mask));
    }
    return value;
}

template <int NUM_THREADS = 256>
__device__ float block_max(float value) {
    // all NUM_THREADS threads take part; every thread ends with the result. Called once a launch:
    // a second call would need a barrier before it may overwrite `of_warp`.
    static_assert(NUM_THREADS % 32 == 0 && NUM_THREADS <= 1024,
                  "whole warps, and no more than one warp can fold");
    constexpr int warps = NUM_THREADS / 32;
    __shared__ float of_warp[warps];
    const int warp = threadIdx.x / 32;  // ranges [0, warps)
    const int lane = threadIdx.x % 32;  // ranges [0, 32)

    value = warp_max(value);
    if (lane == 0) {
        of_warp[warp] = value;
    }
    __syncthreads();
    return warp_max(lane < warps ? of_warp[lane] : -INFINITY);
}

template <int NUM_THREADS>
__global__ void block_max_rows(float *y, const float *x, int cols) {
    // y is (rows), x is (rows, cols); a block a row
    const float *row = x + static_cast<size_t>(blockIdx.x) * cols;
    float value = -INFINITY;
    for (int col = threadIdx.x; col < cols; col += NUM_THREADS) {  // col + 1024 < 2^31: an int is enough
        value = fmaxf(value, row[col]);
    }
    value = block_max<NUM_THREADS>(value);
    if (threadIdx.x == 0) {
        y[blockIdx.x] = value;
    }
}
