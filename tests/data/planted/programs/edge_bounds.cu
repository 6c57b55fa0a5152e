// The edges of a vertex. With the bug, one too many.
// class: guards; finds: out-of-bounds; grid: 4
// y: inout i32[4 * T]; start: csr start; to: csr to; n: 4 * T
__global__ void k(int *y, const int *start, const int *to, int n) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) {
        int sum = 0;
#ifdef BUG
        for (int e = start[v]; e <= start[v + 1]; e++) {
#else
        for (int e = start[v]; e < start[v + 1]; e++) {
#endif
            sum += to[e];
        }
        y[v] = sum;
    }
}
