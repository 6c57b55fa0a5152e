// A block counts in shared memory, then adds its count to all. With the bug, by an atomic of the block alone.
// class: graphs; finds: race; grid: 4
// y: i32[1] = 0; start: csr start; to: csr to
__global__ void k(int *y, const int *start, const int *to) {
    __shared__ int count;
    if (threadIdx.x == 0) {
        count = 0;
    }
    __syncthreads();
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    for (int e = start[v]; e < start[v + 1]; e++) {
        const int n = to[e];
        if (n > v) {
            for (int f = start[n]; f < start[n + 1]; f++) {
                if (to[f] == v) {
                    atomicAdd_block(&count, 1);
                }
            }
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
#ifdef BUG
        atomicAdd_block(y, count + 1);
#else
        atomicAdd(y, count + 1);
#endif
    }
}
