// Items are pushed, then popped behind a barrier. With the bug, they are popped while others push.
// class: worklists; finds: race; grid: 1
// y: i32[T]
__global__ void k(int *y) {
    __shared__ int items[1024], count;
    const int t = threadIdx.x;
    if (t == 0) {
        count = 0;
    }
    y[t] = -1;
    __syncthreads();
    items[atomicAdd(&count, 1)] = t;
#ifndef BUG
    __syncthreads();
#endif
    const int at = atomicSub(&count, 1) - 1;
    y[t] = at >= 0 ? items[at] : -1;
}
