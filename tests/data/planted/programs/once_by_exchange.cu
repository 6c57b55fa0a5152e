// One thread of all fills a table. With the bug, whoever finds it empty by a plain look.
// class: atomics and scopes; finds: race; grid: 3
// y: i32[1]; state: i32[1] = 0
__global__ void k(int *y, int *state) {
    if (threadIdx.x != 0) {
        return;
    }
#ifdef BUG
    if (state[0] == 0) {
        state[0] = 1;
        y[0] = blockIdx.x;
    }
#else
    if (atomicExch(state, 1) == 0) {
        y[0] = blockIdx.x;
    }
#endif
}
