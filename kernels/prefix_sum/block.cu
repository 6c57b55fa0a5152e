// Running sums of each row, one block a row, as many elements at a time as there are threads.
//
// Each warp scans its 32 elements by shuffles; the first warp scans the warps' totals; then
// every thread adds what precedes its warp, and what preceded this part of the row. All
// threads read `of_warp` before it is written again: hence a barrier at the end of each part.
//
// /// kernel
// op     = "prefix_sum"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 64, 256, 1024] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// launch = [{ grid = "rows", block = "threads" }]
//
// [accuracy]  # within a warp and between the warps, those two together, then once for each part that follows
// adds = "ceil_log2(min(cols, threads)) + ceil_div(cols, threads)"
// ///

__device__ float warp_scan(float value) {
    // all 32 lanes take part; lane l ends with the sum of lanes 0 to l
    for (int step = 1; step < 32; step *= 2) {
        const float other = __shfl_up_sync(0xffffffffu, value, step);
        if (threadIdx.x % 32 >= step) {
            value += other;
        }
    }
    return value;
}

__global__ void prefix_sum_block(float *y, const float *x, int cols) {
    // y and x are (rows, cols); a block a row
    __shared__ float of_warp[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    x += static_cast<size_t>(blockIdx.x) * cols;
    y += static_cast<size_t>(blockIdx.x) * cols;

    float before = 0.0f;  // the sum of all elements before `start`
    for (int start = 0; start < cols; start += blockDim.x) {
        const int col = start + threadIdx.x;  // may pass cols - 1
        const float value = warp_scan(col < cols ? x[col] : 0.0f);
        if (lane == 31) {
            of_warp[warp] = value;
        }
        __syncthreads();
        if (warp == 0) {
            const float total = warp_scan(lane < warps ? of_warp[lane] : 0.0f);
            __syncwarp();
            of_warp[lane] = total;
        }
        __syncthreads();
        if (col < cols) {
            y[col] = before + (warp > 0 ? of_warp[warp - 1] + value : value);
        }
        before += of_warp[warps - 1];
        __syncthreads();
    }
}
