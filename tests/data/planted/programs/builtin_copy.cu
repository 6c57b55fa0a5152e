// Each thread copies its own three numbers. With the bug, the first of its neighbour's as well.
// class: copies; finds: race; grid: 1
// y: inout i32[6 * T]; x: in i32[6 * T]
struct Three {
    short first, second;
    char third;
};

__global__ void k(int *y, const int *x) {
    Three *into = reinterpret_cast<Three *>(y) + 2 * threadIdx.x;
    const Three *from = reinterpret_cast<const Three *>(x) + 2 * threadIdx.x;
#ifdef BUG
    __builtin_memcpy(into, from, 3 * sizeof(Three));
#else
    __builtin_memcpy(into, from, 2 * sizeof(Three));
#endif
}
