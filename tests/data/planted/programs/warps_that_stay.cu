// Warps take work until there is none. With the bug, lanes may see the number of the next turn.
// class: worklists; finds: race; grid: 2
// y: i32[1024 * 2]; next: i32[1] = 0
__global__ void k(int *y, int *next) {
    __shared__ int items[32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    while (true) {
        if (lane == 0) {
            items[warp] = atomicAdd(next, 1);
        }
        __syncwarp();
        const int item = items[warp];
#ifndef BUG
        __syncwarp();
#endif
        if (item >= 64) {
            return;
        }
        y[32 * item + lane] = item + lane;
    }
}
