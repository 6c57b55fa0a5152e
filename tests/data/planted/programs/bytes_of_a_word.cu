// Four threads share a word, each a byte of it. With the bug, each writes two bytes.
// class: tiles; finds: race; grid: 1
// y: u32[T]; x: in u32[T]
__global__ void k(unsigned *y, const unsigned *x) {
    __shared__ __align__(4) unsigned char bytes[1028];
    const int t = threadIdx.x;
#ifdef BUG
    bytes[t + 1] = x[t] / 256;
#endif
    bytes[t] = x[t];
    __syncthreads();
    y[t] = bytes[t];
}
