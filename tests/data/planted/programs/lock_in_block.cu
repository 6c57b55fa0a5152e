// A lock among the threads of a block, of block scope. With the bug, one thread does without.
// class: locks; finds: race; grid: 1
// y: inout i32[1]; lock: i32[1] = 0
__global__ void k(int *y, int *lock) {
    bool done = false;
#ifdef BUG
    if (threadIdx.x == 33) {
        y[0] = y[0] + 1;
        done = true;
    }
#endif
    while (!done) {
        if (atomicCAS_block(lock, 0, 1) == 0) {
            __threadfence_block();
            y[0] = y[0] + 1;
            __threadfence_block();
            atomicExch_block(lock, 0);
            done = true;
        }
    }
}
