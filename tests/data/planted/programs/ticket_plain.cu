// Each block draws a number. With the bug, it is drawn without an atomic.
// class: atomics and scopes; finds: race; grid: 6
// y: i32[6] = 0; next: i32[1] = 0
__global__ void k(int *y, int *next) {
    if (threadIdx.x == 0) {
#ifdef BUG
        y[next[0]++ % 6] = blockIdx.x;
#else
        atomicAdd(&y[atomicAdd(next, 1)], blockIdx.x);
#endif
    }
}
