// A lock by compare-and-swap in PTX. With the bug, it is of block scope.
// class: locks; finds: race; grid: 4
// y: i32[1] = 0; lock: u32[1] = 0
__global__ void k(int *y, unsigned *lock) {
    if (threadIdx.x != 0) {
        return;
    }
    unsigned old = 1;
    while (old != 0) {
#ifdef BUG
        asm volatile("atom.acquire.cta.cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "l"(lock), "r"(0), "r"(1) : "memory");
#else
        asm volatile("atom.acquire.gpu.cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "l"(lock), "r"(0), "r"(1) : "memory");
#endif
    }
    y[0] += blockIdx.x + 1;
    asm volatile("atom.release.gpu.exch.b32 %0, [%1], %2;" : "=r"(old) : "l"(lock), "r"(0) : "memory");
}
