// Whose degree runs out is listed by whoever took the last. With the bug, the degree is read once more.
// class: worklists; finds: race; grid: 2
// y: i32[2 * T] = 0; degree: i32[2 * T] = 0; start: csr start; to: csr to; listed: i32[1] = 0
__global__ void k(int *y, int *degree, const int *start, const int *to, int *listed) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    for (int e = start[v]; e < start[v + 1]; e++) {
        const int n = to[e];
#ifdef BUG
        atomicAdd(&degree[n], 1);
        const bool is_second = degree[n] == 2;
#else
        const bool is_second = atomicAdd(&degree[n], 1) == 1;
#endif
        if (is_second) {
            atomicAdd(listed, 1);
            atomicExch(&y[n], 1);
        }
    }
}
