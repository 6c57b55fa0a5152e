// The borders of a tile are filled, too. With the bug, the right one is not.
// class: tiles; finds: uninitialised; grid: 2
// y: f32[2 * T]; x: in f32[2 * T]; n: 2 * T
__global__ void k(float *y, const float *x, int n) {
    __shared__ float tile[1026];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t + 1] = x[i];
    if (t == 0) {
        tile[0] = i > 0 ? x[i - 1] : 0.0f;
    }
#ifndef BUG
    if (t == blockDim.x - 1) {
        tile[t + 2] = i + 1 < n ? x[i + 1] : 0.0f;
    }
#endif
    __syncthreads();
    y[i] = tile[t] + tile[t + 1] + tile[t + 2];
}
