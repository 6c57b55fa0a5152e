// A vertex takes the largest of its neighbours' values. With the bug, each tells all of them, and looks before it writes.
// class: guards; finds: race; grid: 4
// y: i32[4 * T] = 0; start: csr start; to: csr to; n: 4 * T
__global__ void k(int *y, const int *start, const int *to, int n) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) {
        for (int e = start[v]; e < start[v + 1]; e++) {
#ifdef BUG
            if (y[to[e]] < v + 1) {
                y[to[e]] = v + 1;
            }
#else
            y[v] = max(y[v], to[e] + 1);
#endif
        }
    }
}
