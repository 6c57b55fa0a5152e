// A __managed__ flag that every thread may set. With the bug, to numbers that differ.
// class: variables and heap; finds: race; grid: 2
// y: i32[1]
__managed__ int winner = -1;

__global__ void k(int *y) {
#ifdef BUG
    winner = blockIdx.x * blockDim.x + threadIdx.x;
#else
    atomicMax(&winner, (int)(blockIdx.x * blockDim.x + threadIdx.x));
#endif
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        y[0] = 1;
    }
}
