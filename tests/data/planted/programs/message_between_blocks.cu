// The last block writes and tells, the first waits and reads. With the bug, without a fence before telling.
// class: fences and flags; finds: race; grid: 3
// y: i32[1]; data: i32[1]; flag: i32[1] = 0
__global__ void k(int *y, int *data, int *flag) {
    if (threadIdx.x != 0) {
        return;
    }
    if (blockIdx.x == gridDim.x - 1) {
        data[0] = 42;
#ifndef BUG
        __threadfence();
#endif
        atomicExch(flag, 1);
    } else if (blockIdx.x == 0) {
        while (atomicAdd(flag, 0) == 0) {
        }
        __threadfence();
        y[0] = data[0];
    }
}
