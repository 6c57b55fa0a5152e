// An array from malloc for the whole block. With the bug, nobody waits until it is filled.
// class: variables and heap; finds: race; grid: 1
// y: i32[T]
__global__ void k(int *y) {
    __shared__ int *list;
    const int t = threadIdx.x;
    if (t == 0) {
        list = static_cast<int *>(malloc(sizeof(int) * blockDim.x));
    }
    __syncthreads();
    list[t] = t;
#ifndef BUG
    __syncthreads();
#endif
    y[t] = list[blockDim.x - 1 - t];
}
