// What one block appends, another takes. With the bug, the size is raised before the item is there.
// class: worklists; finds: race; grid: 2
// y: i32[1]; list: i32[4]; size: i32[1] = 0
__global__ void k(int *y, int *list, int *size) {
    if (threadIdx.x != 0) {
        return;
    }
    if (blockIdx.x == 0) {
#ifdef BUG
        atomicAdd(size, 1);
        list[0] = 7;
#else
        list[0] = 7;
        __threadfence();
        atomicAdd(size, 1);
#endif
    } else {
        while (atomicAdd(size, 0) == 0) {
        }
        __threadfence();
        y[0] = list[0];
    }
}
