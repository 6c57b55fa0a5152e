// Blocks take turns by a counter in PTX, as matrix products that split k do. With the bug, what moves it on is relaxed.
// class: fences and flags; finds: race; grid: 4
// y: f32[T] = 0; x: in f32[4 * T]; turn: i32[1] = 0
__global__ void k(float *y, const float *x, int *turn) {
    const int t = threadIdx.x;
    if (t == 0) {
        int seen = -1;
        while (seen != static_cast<int>(blockIdx.x)) {
            asm volatile("ld.global.acquire.gpu.b32 %0, [%1];\n" : "=r"(seen) : "l"(turn));
        }
    }
    __syncthreads();
    y[t] += x[blockIdx.x * blockDim.x + t];
    __syncthreads();
    if (t == 0) {
#ifdef BUG
        asm volatile("red.relaxed.gpu.global.add.s32 [%0], %1;\n" ::"l"(turn), "r"(1) : "memory");
#else
        asm volatile("red.release.gpu.global.add.s32 [%0], %1;\n" ::"l"(turn), "r"(1) : "memory");
#endif
    }
}
