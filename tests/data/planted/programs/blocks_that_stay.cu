// Blocks take work until there is none. With the bug, the next number is fetched while others still read the last.
// class: worklists; finds: race; grid: 3
// y: i32[16 * T]; next: i32[1] = 0; x: in i32[16 * T]
__global__ void k(int *y, int *next, const int *x) {
    __shared__ int item;
    while (true) {
        if (threadIdx.x == 0) {
            item = atomicAdd(next, 1);
        }
        __syncthreads();
        if (item >= 16) {
            return;
        }
        const int i = item * blockDim.x + threadIdx.x;
        y[i] = 2 * x[i];
#ifndef BUG
        __syncthreads();
#endif
    }
}
