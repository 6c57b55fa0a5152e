// Neighbours are read and replaced. With the bug, in place.
// class: guards; finds: race; grid: 3
// y: inout f32[3 * T]; x: in f32[3 * T]
__global__ void k(float *y, const float *x) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
#ifdef BUG
    y[i] = 0.5f * (y[i] + y[(i + 1) % n]);
#else
    y[i] = 0.5f * (x[i] + x[(i + 1) % n]);
#endif
}
