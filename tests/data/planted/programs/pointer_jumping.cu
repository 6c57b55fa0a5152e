// Every vertex takes its parent's parent. With the bug, in place.
// class: graphs; finds: race; grid: 2
// y: i32[2 * T]; parent: inout i32[2 * T]
__global__ void k(int *y, int *parent) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    const int up = parent[(v + parent[v]) % all];
#ifdef BUG
    parent[v] = up + 1;
#else
    y[v] = up + 1;
#endif
}
