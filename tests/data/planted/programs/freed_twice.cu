// An array that is freed. With the bug, by every thread.
// class: freed memory; finds: illegal-address; grid: 1
// y: i32[T]
__global__ void k(int *y) {
    __shared__ int *list;
    const int t = threadIdx.x;
    if (t == 0) {
        list = static_cast<int *>(malloc(64));
    }
    __syncthreads();
    y[t] = t;
#ifdef BUG
    free(list);
#else
    if (t == 0) {
        free(list);
    }
#endif
}
