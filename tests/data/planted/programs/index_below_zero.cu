// The first thread has no one on its left. With the bug, it reads there.
// class: bounds; finds: out-of-bounds; grid: 2
// y: f32[2 * T]; x: in f32[2 * T]
__global__ void k(float *y, const float *x) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef BUG
    y[i] = x[i] - x[i - 1];
#else
    y[i] = x[i] - (i > 0 ? x[i - 1] : 0.0f);
#endif
}
