// A kernel that counts its launches in a variable of its own: a right one may, as long as each trial starts afresh.

__device__ int launches = 0;

extern "C" __global__ void counts_launches(float *y, const float *x, int n) {
    if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x] + launches;
    __syncthreads();
    if (threadIdx.x == 0) launches++;
}
