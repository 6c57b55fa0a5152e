// A block waits by an update of nothing for what another has released. With the bug, it never acquires.
// class: fences and flags; finds: race; grid: 2
// y: i32[T]; x: in i32[T]; made: i32[T]; ready: i32[1] = 0
__global__ void k(int *y, const int *x, int *made, int *ready) {
    const int t = threadIdx.x, last = blockDim.x - 1;
    if (blockIdx.x == gridDim.x - 1) {
        made[t] = x[t] + 1;
        __threadfence();
        __syncthreads();
        if (t == 0) atomicExch(ready, 1);
    } else {
        if (t == 0) {
            while (atomicAdd(ready, 0) == 0) {
            }
#ifndef BUG
            __threadfence();
#endif
        }
        __syncthreads();
        y[t] = made[last - t];
    }
}
