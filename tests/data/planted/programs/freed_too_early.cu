// Memory from malloc is freed when all have read it. With the bug, before.
// class: freed memory; finds: out-of-bounds; grid: 2
// y: i32[2 * T]
__global__ void k(int *y) {
    __shared__ int *shared;
    const int t = threadIdx.x;
    if (t == 0) {
        shared = static_cast<int *>(malloc(blockDim.x * sizeof(int)));
    }
    __syncthreads();
    shared[t] = t;
    __syncthreads();
#ifdef BUG
    if (t == 0) {
        free(shared);
    }
    __syncthreads();
#endif
    y[blockIdx.x * blockDim.x + t] = shared[blockDim.x - 1 - t];
    __syncthreads();
#ifndef BUG
    if (t == 0) {
        free(shared);
    }
#endif
}
