// One round of relaxing all edges. With the bug, the smaller distance is written without an atomic.
// class: graphs; finds: race; grid: 4
// y: inout u32[4 * T]; d: in u32[4 * T]; start: csr start; to: csr to; n: 4 * T
__global__ void k(unsigned *y, const unsigned *d, const int *start, const int *to, int n) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) {
        for (int e = start[v]; e < start[v + 1]; e++) {
            const unsigned far = d[v] + 1 + e % 7;
#ifdef BUG
            y[to[e]] = min(y[to[e]], far);
#else
            atomicMin(&y[to[e]], far);
#endif
        }
    }
}
