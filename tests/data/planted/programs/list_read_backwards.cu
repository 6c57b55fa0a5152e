// A list is gone through from its end. With the bug, it begins one behind the last.
// class: bounds; finds: out-of-bounds; grid: 2
// y: i32[2 * T]; list: in i32[2 * T]
__global__ void k(int *y, const int *list) {
    const int size = gridDim.x * blockDim.x;
#ifdef BUG
    const int last = size;
#else
    const int last = size - 1;
#endif
    for (int i = last - (blockIdx.x * blockDim.x + threadIdx.x); i >= 0; i -= size) {
        y[i % size] = list[i];
    }
}
