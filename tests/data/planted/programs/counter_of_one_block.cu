// A count of each block's own by atomics of block scope. With the bug, two blocks share one.
// class: atomics and scopes; finds: race; grid: 4
// y: i32[4] = 0
__global__ void k(int *y) {
#ifdef BUG
    atomicAdd_block(&y[blockIdx.x / 2], 1);
#else
    atomicAdd_block(&y[blockIdx.x], 1);
#endif
}
