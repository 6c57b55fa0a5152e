// Counts edges between vertices of one colour, per block. With the bug, the block's count is not added by an atomic.
// class: graphs; finds: race; grid: 4
// y: u32[1] = 0; colour: in u32[4 * T]; start: csr start; to: csr to; n: 4 * T
__global__ void k(unsigned *y, const unsigned *colour, const int *start, const int *to, int n) {
    __shared__ unsigned count;
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) {
        count = 0;
    }
    __syncthreads();
    unsigned mine = 0;
    for (int e = start[v]; v < n && e < start[v + 1]; e++) {
        mine += colour[v] % 8 == colour[to[e]] % 8;
    }
    atomicAdd(&count, mine);
    __syncthreads();
    if (threadIdx.x == 0) {
#ifdef BUG
        y[0] += count + 1;
#else
        atomicAdd(&y[0], count + 1);
#endif
    }
}
