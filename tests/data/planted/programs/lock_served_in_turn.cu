// A ticket lock that polls by atomicAdd of 0 and is passed on by atomicExch behind a fence. With the bug, the fence comes
// after it.
// class: locks; finds: race; grid: 6
// y: i32[3] = 0; next: u32[1] = 0; serving: u32[1] = 0
__global__ void k(int *y, unsigned *next, unsigned *serving) {
    if (threadIdx.x % 32 != 5) return;
    const unsigned mine = atomicAdd(next, 1u);
    bool done = false;
    while (!done) {
        if (atomicAdd(serving, 0u) == mine) {
            __threadfence();
            y[0] += 1;
            y[1] = y[0] * 2;
            y[2] ^= y[1];
#ifdef BUG
            atomicExch(serving, mine + 1);
            __threadfence();
#else
            __threadfence();
            atomicExch(serving, mine + 1);
#endif
            done = true;
        }
    }
}
