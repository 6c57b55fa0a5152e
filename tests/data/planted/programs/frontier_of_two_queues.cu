// The next level goes into another queue. With the bug, into the one that is being read.
// class: worklists; finds: race; grid: 1
// y: u32[T * 4] = 0; start: csr start; to: csr to; n: T
__global__ void k(unsigned *y, const int *start, const int *to, int n) {
    __shared__ int queue[2][1024], count[2];
    const int t = threadIdx.x;
    if (t == 0) {
        queue[0][0] = 0;
        count[0] = 1;
        count[1] = 0;
        y[0] = 1;
    }
    __syncthreads();
    for (int level = 0; level < 3; level++) {
        const int in = level % 2;
#ifdef BUG
        const int out = in;
#else
        const int out = 1 - in;
#endif
        for (int i = t; i < count[in]; i += blockDim.x) {
            const int v = queue[in][i];
            for (int e = start[v]; e < start[v + 1]; e++) {
                if (to[e] < n && atomicExch(&y[to[e]], 1u) == 0) {
                    queue[out][atomicAdd(&count[out], 1)] = to[e];
                }
            }
        }
        __syncthreads();
        if (t == 0) {
            count[in] = 0;
        }
        __syncthreads();
    }
}
