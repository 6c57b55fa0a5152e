// The last warp of a sum. With the bug, its lanes are taken to go in step.
// class: warps; finds: race; grid: 1
// y: f32[1]; x: in f32[T]
__global__ void k(float *y, const float *x) {
    __shared__ volatile float s[1024];
    const int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    if (t < 32) {
        for (int step = 16; step > 0; step /= 2) {
#ifdef BUG
            if (t < step) {
                s[t] += s[t + step];
            }
#else
            const float other = t < step ? s[t + step] : 0.0f;
            __syncwarp();
            s[t] += other;
            __syncwarp();
#endif
        }
    }
    if (t == 0) {
        y[0] = s[0];
    }
}
