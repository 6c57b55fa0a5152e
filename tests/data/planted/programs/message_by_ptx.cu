// A message by st.release and ld.acquire. With the bug, by st.relaxed.
// class: fences and flags; finds: race; grid: 2
// y: i32[1]; data: i32[1]; flag: i32[1] = 0
__device__ int acquired(const int *from) {
    int value;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}

__device__ void release(int *to, int value) {
#ifdef BUG
    asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" : : "l"(to), "r"(value) : "memory");
#else
    asm volatile("st.release.gpu.global.s32 [%0], %1;" : : "l"(to), "r"(value) : "memory");
#endif
}

__global__ void k(int *y, int *data, int *flag) {
    if (threadIdx.x != 0) {
        return;
    }
    if (blockIdx.x == 0) {
        data[0] = 42;
        release(flag, 1);
    } else {
        while (acquired(flag) == 0) {
        }
        y[0] = data[0];
    }
}
