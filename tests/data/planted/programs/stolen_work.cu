// Every block takes from any list by an atomic on its head. With the bug, the owner takes without one.
// class: worklists; finds: race; grid: 3
// y: i32[3 * 8] = 0; head: i32[3] = 0
__global__ void k(int *y, int *head) {
    if (threadIdx.x != 0) {
        return;
    }
    for (int away = 0; away < gridDim.x; away++) {
        const int list = (blockIdx.x + away) % gridDim.x;
        while (true) {
#ifdef BUG
            const int place = away == 0 ? head[list]++ : atomicAdd(&head[list], 1);
#else
            const int place = atomicAdd(&head[list], 1);
#endif
            if (place >= 8) {
                break;
            }
            atomicAdd(&y[8 * list + place], 1);
        }
    }
}
