// Data that is volatile is ordered by what orders any other. With the bug, the fence is of block scope.
// class: fences and flags; finds: race; grid: 2
// y: u32[1] = 0; data: u32[1]; flag: i32[1] = 0
__global__ void k(unsigned *y, volatile unsigned *data, int *flag) {
    if (threadIdx.x != 0) {
        return;
    }
    if (blockIdx.x == 0) {
        data[0] = 7;
#ifdef BUG
        __threadfence_block();
#else
        __threadfence();
#endif
        atomicExch(flag, 1);
    } else {
        while (atomicExch(flag, 0) == 0) {
        }
        y[0] = data[0];
    }
}
