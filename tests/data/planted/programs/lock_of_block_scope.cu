// A lock over blocks. With the bug, it is taken by an atomic of block scope.
// class: atomics and scopes; finds: race; grid: 5
// y: inout i32[1]; lock: i32[1] = 0
#ifdef BUG
#define TAKE atomicCAS_block
#define GIVE atomicExch_block
#else
#define TAKE atomicCAS
#define GIVE atomicExch
#endif
__global__ void k(int *y, int *lock) {
    if (threadIdx.x != 0) {
        return;
    }
    while (TAKE(lock, 0, 1) != 0) {
    }
    __threadfence();
    y[0] = y[0] + 1;
    __threadfence();
    GIVE(lock, 0);
}
