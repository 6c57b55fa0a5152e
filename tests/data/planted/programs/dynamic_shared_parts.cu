// Two parts of dynamic shared memory. With the bug, the second begins too early.
// class: tiles; finds: race; grid: 1; shared: 8 * T
// y: f32[T]; x: in f32[T]
extern __shared__ float parts[];

__global__ void k(float *y, const float *x) {
    const int t = threadIdx.x;
    float *first = parts;
#ifdef BUG
    float *second = parts + blockDim.x / 2;
#else
    float *second = parts + blockDim.x;
#endif
    first[t] = x[t];
    second[t] = 2.0f * x[t];
    __syncthreads();
    y[t] = first[t] + second[t];
}
