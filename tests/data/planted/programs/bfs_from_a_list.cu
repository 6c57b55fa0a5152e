// A frontier's vertices claim their neighbours and list them. With the bug, a neighbour is looked at, then claimed.
// class: graphs; finds: race; grid: 3
// y: i32[3 * T] = 0; start: csr start; to: csr to; listed: i32[3 * T]; size: i32[1] = 0
__global__ void k(int *y, const int *start, const int *to, int *listed, int *size) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v % 3 == 0) {
        for (int e = start[v]; e < start[v + 1]; e++) {
            const int n = to[e];
#ifdef BUG
            if (y[n] == 0) {
                y[n] = v + 1;
#else
            if (atomicCAS(&y[n], 0, v + 1) == 0) {
#endif
                const int place = atomicAdd(size, 1);
                if (place < gridDim.x * blockDim.x) {
                    listed[place] = n;
                }
            }
        }
    }
}
