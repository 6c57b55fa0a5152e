// Two numbers in one word of 64 bits, added to at once. With the bug, the lower one is cleared by itself.
// class: atomics and scopes; finds: race; grid: 2
// y: u32[2] = 0
__global__ void k(unsigned *y) {
    auto *wide = reinterpret_cast<unsigned long long *>(y);
    atomicAdd(wide, 1ull << 32 | threadIdx.x);
    if (blockIdx.x == 1 && threadIdx.x == 5) {
#ifdef BUG
        y[0] = 0;
#else
        atomicAnd(wide, ~0xffffffffull);
#endif
    }
}
