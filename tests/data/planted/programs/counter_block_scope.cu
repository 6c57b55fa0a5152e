// A count over all blocks. With the bug, its atomic is of block scope.
// class: atomics and scopes; finds: race; grid: 4
// y: i32[1] = 0
__global__ void k(int *y) {
#ifdef BUG
    atomicAdd_block(y, 1);
#else
    atomicAdd(y, 1);
#endif
}
