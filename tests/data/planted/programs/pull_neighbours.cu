// Every vertex takes the largest number of its neighbours. With the bug, from the array that is written.
// class: graphs; finds: race; grid: 4
// y: inout i32[4 * T]; start: csr start; to: csr to; n: 4 * T; old: in i32[4 * T]
__global__ void k(int *y, const int *start, const int *to, int n, const int *old) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) {
#ifdef BUG
        const int *from = y;
#else
        const int *from = old;
#endif
        int best = from[v];
        for (int e = start[v]; e < start[v + 1]; e++) {
            best = max(best, from[to[e]]);
        }
        y[v] = best;
    }
}
