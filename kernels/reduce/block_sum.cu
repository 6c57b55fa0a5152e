// Sum of each row, one block a row: by shuffles within the warps, by shared memory between them.
//
// Each thread adds up its share of the row, each warp its threads, and then the first
// lanes of *every* warp add up the warps' results and pass them to the other lanes, so
// that all threads of the block know the sum after a single barrier. The block's size is
// a template parameter, so the compiler knows the number of warps. The identity is 0.
//
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
// values = { nan = "ieee", pos_inf = "ieee" }
//
// [accuracy]
// adds = "ceil_div(cols, threads) - 1 + ceil_log2(min(cols, threads))"  # a share, then halvings; to add 0 is exact
//
// [[launch]]
// entry = "block_sum_rows<{threads}>"
// grid  = "rows"
// block = "threads"
// ///

template <int width = 32>
__device__ float warp_sum(float value) {
    // all 32 lanes take part, in groups of `width` neighbours; every lane ends with its group's result
    for (int mask = width / 2; mask > 0; mask /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, mask);
    }
    return value;
}

template <int NUM_THREADS = 256>
__device__ float block_sum(float value) {
    // all NUM_THREADS threads take part; every thread ends with the result. Called once a launch:
    // a second call would need a barrier before it may overwrite `of_warp`.
    static_assert(NUM_THREADS % 32 == 0 && NUM_THREADS <= 1024 && (NUM_THREADS & (NUM_THREADS - 1)) == 0,
                  "whole warps, no more than one warp can add up, and a power of two for the butterfly");
    constexpr int warps = NUM_THREADS / 32;
    __shared__ float of_warp[warps];
    const int warp = threadIdx.x / 32;  // ranges [0, warps)
    const int lane = threadIdx.x % 32;  // ranges [0, 32)

    value = warp_sum(value);
    if (lane == 0) {
        of_warp[warp] = value;
    }
    __syncthreads();
    value = warp_sum<warps>(lane < warps ? of_warp[lane] : 0.0f);
    return __shfl_sync(0xffffffffu, value, 0);  // the other groups of lanes have added up zeros
}

template <int NUM_THREADS>
__global__ void block_sum_rows(float *y, const float *x, int cols) {
    // y is (rows), x is (rows, cols); a block a row
    const float *row = x + static_cast<size_t>(blockIdx.x) * cols;
    float value = 0.0f;
    for (int col = threadIdx.x; col < cols; col += NUM_THREADS) {  // col + 1024 < 2^31: an int is enough
        value += row[col];
    }
    value = block_sum<NUM_THREADS>(value);

    // Any thread could write; that it is the last one shows that the sum is known to all of them.
    if (threadIdx.x == NUM_THREADS - 1) {
        y[blockIdx.x] = value;
    }
}
