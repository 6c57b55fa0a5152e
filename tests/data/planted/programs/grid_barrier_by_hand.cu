// All blocks wait for each other by a counter. With the bug, only thread 0's stores are ordered.
// class: grids; finds: race; grid: 6
// y: f32[6 * T]; part: f32[6 * T]; count: u32[1] = 0
__global__ void k(float *y, float *part, unsigned *count) {
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, all = gridDim.x * blockDim.x;
    part[i] = i;
#ifndef BUG
    __syncthreads();
#endif
    if (t == 0) {
        __threadfence();
        atomicAdd(count, 1u);
        while (atomicAdd(count, 0u) < gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
    y[i] = part[all - 1 - i];
}
