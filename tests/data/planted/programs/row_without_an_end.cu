// A row ends where the next one begins. With the bug, the last threads have no row, and theirs end anywhere.
// class: bounds; finds: out-of-bounds; grid: 4
// y: u32[4 * T]; start: csr start; to: csr to
__global__ void k(unsigned *y, const int *start, const int *to) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef BUG
    const int v = i + warpSize;
#else
    const int v = i;
#endif
    unsigned sum = 0;
    for (int e = start[v]; e < start[v + 1]; e++) {
        sum += to[e];
    }
    y[i] = sum;
}
