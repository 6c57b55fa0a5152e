// Threads beyond the end do nothing. With the bug, they are as many as are launched.
// class: guards; finds: out-of-bounds; grid: 5
// y: f32[4 * T]; x: in f32[4 * T]; n: 4 * T
__global__ void k(float *y, const float *x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef BUG
    if (i < n + warpSize) {
#else
    if (i < n) {
#endif
        y[i] = 2 * x[i];
    }
}
