// Blocks wait for a later one, which comes. With the bug, for one that there is not.
// class: fences and flags; finds: hang; grid: 3
// y: i32[1]; flag: i32[4] = 0
__global__ void k(int *y, int *flag) {
    if (threadIdx.x != 0) {
        return;
    }
    __threadfence();
    atomicExch(&flag[blockIdx.x], 1);
#ifdef BUG
    const int other = 3;
#else
    const int other = (blockIdx.x + 1) % gridDim.x;
#endif
    while (atomicAdd(&flag[other], 0) == 0) {
    }
    if (blockIdx.x == 0) {
        y[0] = 1;
    }
}
