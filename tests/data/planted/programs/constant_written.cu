// A table in constant memory is read. With the bug, it is written as well.
// class: bounds; finds: illegal-address; grid: 1
// y: f32[T]
__constant__ float table[4] = {1, 2, 3, 4};

__global__ void k(float *y) {
#ifdef BUG
    if (threadIdx.x == 0) {
        const_cast<float &>(table[1]) = 7.0f;
    }
    __syncthreads();
#endif
    y[threadIdx.x] = table[threadIdx.x % 4];
}
