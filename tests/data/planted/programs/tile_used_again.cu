// A tile that is loaded in a loop. With the bug, it is overwritten while others still read it.
// class: tiles; finds: race; grid: 1
// y: f32[T]; x: in f32[4 * T]
__global__ void k(float *y, const float *x) {
    __shared__ float tile[1024];
    const int t = threadIdx.x;
    float sum = 0.0f;
    for (int round = 0; round < 4; round++) {
        tile[t] = x[round * blockDim.x + t];
        __syncthreads();
        sum += tile[blockDim.x - 1 - t];
#ifndef BUG
        __syncthreads();
#endif
    }
    y[t] = sum;
}
