// Nodes are pushed onto a list, and nobody follows it yet. With the bug, who pushes also looks at what is below.
// class: worklists; finds: race; grid: 2
// y: i32[2 * T]; value: i32[2 * T]; head: i32[1] = 0
__global__ void k(int *y, int *value, int *head) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    value[i] = 3 * i;
    const int below = atomicExch(head, i + 1);
#ifdef BUG
    y[i] = below ? value[below - 1] : 0;
#else
    y[i] = below != i + 1;
#endif
}
