// One block puts numbers into a ring, another takes them out. With the bug, a slot is given back before it is read.
// class: fences and flags; finds: race; grid: 2
// y: i32[1] = 0; slots: i32[4]; put: i32[1] = 0; taken: i32[1] = 0
__global__ void k(int *y, int *slots, int *put, int *taken) {
    if (threadIdx.x != 0) {
        return;
    }
    int sum = 0;
    for (int i = 0; i < 12; i++) {
        if (blockIdx.x == 0) {
            while (i - atomicAdd(taken, 0) >= 4) {
            }
            __threadfence();
            slots[i % 4] = i;
            __threadfence();
            atomicExch(put, i + 1);
        } else {
            while (atomicAdd(put, 0) <= i) {
            }
            __threadfence();
#ifdef BUG
            atomicExch(taken, i + 1);
            sum += slots[i % 4];
#else
            sum += slots[i % 4];
            __threadfence();
            atomicExch(taken, i + 1);
#endif
        }
    }
    if (blockIdx.x == 1) {
        y[0] = sum;
    }
}
