// Running sums of each row in a single pass over memory: blocks scan tiles and look back at each other's sums.
//
// A block takes a ticket, which is its tile: so a block that waits for a tile waits for a block that already runs. It
// scans its tile, publishes the tile's sum, and goes back over the tiles before it until it meets one that knows the sum
// of everything up to its own end; from there it adds the tiles' sums on the way forward. Then it publishes the same sum
// for its own tile. A sum is stored before the flag that announces it, with a fence between them on both sides. How far
// back a block has to go depends on the run; the order of the additions, and with it every bit, does not.
//
// /// kernel
// op     = "prefix_sum"
// axes   = { rows = "1..65535", cols = "1..1048576" }
// tune   = { threads = [32, 64, 256] }
// let    = { tiles = "ceil_div(cols, threads)" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y", tickets = "u32[rows] = 0", flags = "u32[rows, tiles] = 0", of_tile = "f32[rows, tiles]", up_to = "f32[rows, tiles]" }
// launch = [{ grid = "tiles, rows", block = "threads" }]
//
// [accuracy]  # a tile's scan within and between warps; a tile's sum on the way to all before, and from there
// adds = "ceil_log2(min(cols, threads)) + 1 + tiles"
// ///

constexpr unsigned SUM_IS_KNOWN = 1, ALL_IS_KNOWN = 2;

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

__device__ void tell(float *sums, unsigned *flags, int tile, float sum, unsigned flag) {
    sums[tile] = sum;
    __threadfence();  // the sum is there for whoever sees the flag
    atomicExch(&flags[tile], flag);
}

__device__ unsigned flag_of(unsigned *flags, int tile) {
    // what is known of a tile, once anything is
    unsigned flag = 0;
    while (flag == 0) {
        flag = atomicAdd(&flags[tile], 0u);
    }
    __threadfence();  // nothing that the flag speaks of is read before it
    return flag;
}

__device__ float looked_back(unsigned *flags, float *of_tile, float *up_to, int tile) {
    // the sum of all tiles before this one: back to one that knows all before it, then forth, so that the order is one
    int other = tile - 1;
    while (other >= 0 && flag_of(flags, other) != ALL_IS_KNOWN) {
        --other;
    }
    float before = other >= 0 ? up_to[other] : 0.0f;
    for (int next = other + 1; next < tile; ++next) {
        before += of_tile[next];
    }
    return before;
}

__global__ void prefix_sum_look_back(float *y, const float *x, unsigned *tickets, unsigned *flags, float *of_tile,
                                     float *up_to, int cols) {
    // y and x are (rows, cols), tickets is (rows); flags, of_tile and up_to are (rows, tiles); a block a tile
    __shared__ float of_warp[32];
    __shared__ float before;
    __shared__ int ticket;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const size_t row = blockIdx.y;
    x += row * cols;
    y += row * cols;
    flags += row * gridDim.x;
    of_tile += row * gridDim.x;
    up_to += row * gridDim.x;
    if (threadIdx.x == 0) {
        ticket = static_cast<int>(atomicAdd(&tickets[row], 1u));
    }
    __syncthreads();
    const int tile = ticket;
    const int col = tile * blockDim.x + threadIdx.x;  // may pass cols - 1

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
    if (threadIdx.x == 0) {
        const float sum = of_warp[warps - 1];
        tell(of_tile, flags, tile, sum, SUM_IS_KNOWN);
        before = looked_back(flags, of_tile, up_to, tile);
        tell(up_to, flags, tile, before + sum, ALL_IS_KNOWN);
    }
    __syncthreads();
    if (col < cols) {
        y[col] = before + (warp > 0 ? of_warp[warp - 1] + value : value);
    }
}
