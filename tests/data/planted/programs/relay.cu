// A message that goes through a third block. With the bug, the one in the middle does not fence.
// class: fences and flags; finds: race; grid: 3
// y: i32[1]; data: i32[1]; flag: i32[2] = 0
__global__ void k(int *y, int *data, int *flag) {
    if (threadIdx.x != 0) {
        return;
    }
    if (blockIdx.x == 2) {
        data[0] = 42;
        __threadfence();
        atomicExch(&flag[0], 1);
    } else if (blockIdx.x == 1) {
        while (atomicAdd(&flag[0], 0) == 0) {
        }
#ifndef BUG
        __threadfence();
#endif
        atomicExch(&flag[1], 1);
    } else {
        while (atomicAdd(&flag[1], 0) == 0) {
        }
        __threadfence();
        y[0] = data[0];
    }
}
