// Each vertex gives its rank away. With the bug, what is given to one vertex at once is lost.
// class: graphs; finds: race; grid: 4
// y: u32[4 * T] = 0; start: csr start; to: csr to; n: 4 * T
__global__ void k(unsigned *y, const int *start, const int *to, int n) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) {
        const unsigned share = 4096u / (start[v + 1] - start[v]);
        for (int e = start[v]; e < start[v + 1]; e++) {
#ifdef BUG
            y[to[e]] += share;
#else
            atomicAdd(&y[to[e]], share);
#endif
        }
    }
}
