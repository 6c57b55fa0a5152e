// y = gelu(x), the tanh form, four numbers at a time: cols is a multiple of 4.
__device__ __forceinline__ float one_gelu(float v) {
  return 0.5f * v * (1.0f + tanhf(0.7978845608028654f * (v + 0.044715f * v * v * v)));
}

__global__ void gelu_tanh(const float *__restrict__ x, float *__restrict__ y, int rows, int cols) {
  int groups = cols / 4;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int row = i / groups;
  if (row >= rows) return;
  float4 v = reinterpret_cast<const float4 *>(x)[i];
  reinterpret_cast<float4 *>(y)[i] = make_float4(one_gelu(v.x), one_gelu(v.y), one_gelu(v.z), one_gelu(v.w));
}

void launch(const float *x, float *y, int rows, int cols) {
  gelu_tanh<<<(rows * (cols / 4) + 255) / 256, 256>>>(x, y, rows, cols);
}
