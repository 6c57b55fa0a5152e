// A table of offsets. With the bug, one is far outside.
// class: bounds; finds: illegal-address; grid: 1
// y: inout i32[T]
__global__ void k(int *y) {
    const int t = threadIdx.x;
#ifdef BUG
    const long long offset = t == 5 ? 1ll << 40 : t;
#else
    const long long offset = t;
#endif
    y[offset] = t;
}
