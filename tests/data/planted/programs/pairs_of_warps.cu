// One warp makes, another takes, through shared memory and a flag of block scope. With the bug, without a fence.
// class: warps; finds: race; grid: 2
// y: i32[2]
__global__ void k(int *y) {
    __shared__ int item, told;
    const int t = threadIdx.x;
    if (t == 0) {
        told = 0;
    }
    __syncthreads();
    if (t == 32) {
        item = blockIdx.x + 5;
#ifndef BUG
        __threadfence_block();
#endif
        atomicExch_block(&told, 1);
    }
    if (t == 0) {
        while (atomicAdd_block(&told, 0) == 0) {
        }
        __threadfence_block();
        y[blockIdx.x] = item;
    }
}
