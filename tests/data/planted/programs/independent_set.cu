// Every second vertex comes in, and puts its neighbours out. With the bug, by plain writes.
// class: graphs; finds: race; grid: 2
// y: i32[2 * T] = 0; start: csr start; to: csr to
__global__ void k(int *y, const int *start, const int *to) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v % 2 == 0) {
        return;
    }
    atomicOr(&y[v], 1);
    for (int e = start[v]; e < start[v + 1]; e++) {
#ifdef BUG
        y[to[e]] = y[to[e]] | 2;
#else
        atomicOr(&y[to[e]], 2);
#endif
    }
}
