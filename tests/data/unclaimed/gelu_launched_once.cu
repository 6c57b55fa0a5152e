// y = gelu(x), the tanh form, a number a thread; the program has 512 rows of 512.
__global__ void gelu_tanh(const float *x, float *y, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols) return;
  float v = x[i];
  y[i] = 0.5f * v * (1.0f + tanhf(0.7978845608028654f * (v + 0.044715f * v * v * v)));
}

void launch(const float *x, float *y) { gelu_tanh<<<1024, 256>>>(x, y, 512, 512); }
