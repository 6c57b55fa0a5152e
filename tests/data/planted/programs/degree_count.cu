// In-degrees of a graph. With the bug, without atomics.
// class: graphs; finds: race; grid: 4
// y: inout i32[4 * T]; start: csr start; to: csr to; n: 4 * T
__global__ void k(int *y, const int *start, const int *to, int n) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) {
        for (int e = start[v]; e < start[v + 1]; e++) {
#ifdef BUG
            y[to[e]]++;
#else
            atomicAdd(&y[to[e]], 1);
#endif
        }
    }
}
