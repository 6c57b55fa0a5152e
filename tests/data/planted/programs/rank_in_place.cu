// A round of ranks, drawn from the neighbours. With the bug, into the array that is read.
// class: graphs; finds: race; grid: 2
// y: f32[2 * T] = 0; old: inout f32[2 * T]; start: csr start; to: csr to
__global__ void k(float *y, float *old, const int *start, const int *to) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.15f;
    for (int e = start[v]; e < start[v + 1]; e++) {
        sum += 0.85f * old[to[e]];
    }
#ifdef BUG
    old[v] = sum;
#else
    y[v] = sum;
#endif
}
