// One level of a search over a graph. With the bug, a vertex is marked by plain writes of differing parents.
// class: graphs; finds: race; grid: 4
// y: inout i32[4 * T]; start: csr start; to: csr to; n: 4 * T
__global__ void k(int *y, const int *start, const int *to, int n) {
    // y: the parent of each vertex, or a large number
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) {
        for (int e = start[v]; e < start[v + 1]; e++) {
#ifdef BUG
            y[to[e]] = v;
#else
            atomicMin(&y[to[e]], v);
#endif
        }
    }
}
