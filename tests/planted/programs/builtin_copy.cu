// Each thread copies its own element. With the bug, its neighbour's as well.
// finds: race
// grid: 1
// y: i32[T * 2]
// x: in i32[T * 2]
struct Pair {
    short first;
    int second;
};

__global__ void k(int *y, const int *x) {
    const int t = threadIdx.x;
#ifdef BUG
    const int count = t + 1 < blockDim.x ? 2 : 1;
#else
    const int count = 1;
#endif
    if (count == 2) {
        __builtin_memcpy(reinterpret_cast<Pair *>(y) + t, reinterpret_cast<const Pair *>(x) + t, 2 * sizeof(Pair));
    } else {
        __builtin_memcpy(reinterpret_cast<Pair *>(y) + t, reinterpret_cast<const Pair *>(x) + t, sizeof(Pair));
    }
}
