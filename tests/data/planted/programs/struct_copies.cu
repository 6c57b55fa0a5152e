// Structs of 24 bytes are handed to the neighbour. With the bug, while they are written.
// class: copies; finds: race; grid: 1
// y: f32[T]; x: in f32[T]
struct Item {
    double weight;
    float value[4];
};

__global__ void k(float *y, const float *x) {
    __shared__ Item s[1024];
    const int t = threadIdx.x;
    Item mine = {x[t], {x[t], x[t], x[t], x[t]}};
    s[t] = mine;
#ifndef BUG
    __syncthreads();
#endif
    mine = s[(t + 1) % blockDim.x];
    y[t] = mine.value[2] + mine.weight;
}
