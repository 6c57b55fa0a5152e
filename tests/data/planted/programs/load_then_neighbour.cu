// Every thread reads its neighbour's element. With the bug, before it is there.
// class: tiles; finds: race; grid: 1
// y: f32[T]; x: in f32[T]
__global__ void k(float *y, const float *x) {
    __shared__ float s[1024];
    const int t = threadIdx.x;
    s[t] = x[t];
#ifndef BUG
    __syncthreads();
#endif
    y[t] = s[(t + 1) % blockDim.x];
}
