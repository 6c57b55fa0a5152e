// Blocks draw work until there is none. With the bug, the drawn number is shared too early.
// class: worklists; finds: race; grid: 3
// y: inout i32[24]; next: i32[1] = 0
__global__ void k(int *y, int *next) {
    __shared__ int drawn;
    for (;;) {
        if (threadIdx.x == 0) {
            drawn = atomicAdd(next, 1);
        }
        __syncthreads();
        const int mine = drawn;
#ifndef BUG
        __syncthreads();
#endif
        if (mine >= 24) {
            break;
        }
        if (threadIdx.x == 40) {
            y[mine] = mine;
        }
    }
}
