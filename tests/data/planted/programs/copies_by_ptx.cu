// The same by cp.async itself. With the bug, the last group is not waited for.
// class: asynchronous copies; finds: uninitialised; grid: 1
// y: f32[8 * T]; x: in f32[8 * T]
__global__ void k(float *y, const float *x) {
    __shared__ __align__(16) float tile[8192];
    const int t = threadIdx.x;
    for (int part = 0; part < 2; part++) {
        const unsigned into = static_cast<unsigned>(__cvta_generic_to_shared(&tile[4 * (part * blockDim.x + t)]));
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(into), "l"(&x[4 * (part * blockDim.x + t)]));
        asm volatile("cp.async.commit_group;\n" ::);
    }
#ifdef BUG
    asm volatile("cp.async.wait_group %0;\n" ::"n"(1));
#else
    asm volatile("cp.async.wait_group %0;\n" ::"n"(0));
#endif
    __syncthreads();
    for (int i = t; i < 8 * blockDim.x; i += blockDim.x) {
        y[i] = 1.0f + tile[8 * blockDim.x - 1 - i];
    }
}
