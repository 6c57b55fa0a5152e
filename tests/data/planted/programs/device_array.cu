// A table in a __device__ array. With the bug, read before all of it is written.
// class: variables and heap; finds: race; grid: 1
// y: i32[T]
__device__ int table[1024];

__global__ void k(int *y) {
    const int t = threadIdx.x;
    table[t] = t;
#ifndef BUG
    __syncthreads();
#endif
    y[t] = table[blockDim.x - 1 - t];
}
