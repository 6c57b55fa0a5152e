// A scan in a warp through shared memory. With the bug, a barrier of the warp is missing between read and write.
// class: warps; finds: race; grid: 1
// y: f32[T]; x: in f32[T]
__global__ void k(float *y, const float *x) {
    __shared__ float s[1024];
    const int t = threadIdx.x, lane = t % 32;
    s[t] = x[t];
    __syncwarp();
    for (int step = 1; step < 32; step *= 2) {
        const float other = lane >= step ? s[t - step] : 0.0f;
#ifndef BUG
        __syncwarp();
#endif
        s[t] += other;
        __syncwarp();
    }
    y[t] = s[t];
}
