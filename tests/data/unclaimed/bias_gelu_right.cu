// y = gelu(x + bias), the tanh form, four numbers at a time: cols is a multiple of 4.
__device__ __forceinline__ float gelu_tanh(float v) {
  const float k = 0.7978845608028654f;
  return 0.5f * v * (1.0f + tanhf(k * (v + 0.044715f * v * v * v)));
}

__global__ void bias_gelu(const float *__restrict__ x, const float *__restrict__ bias, float *__restrict__ y, int rows,
                          int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int groups = cols / 4;
  if (i >= rows * groups) return;
  float4 v = reinterpret_cast<const float4 *>(x)[i];
  float4 b = reinterpret_cast<const float4 *>(bias)[i % groups];
  float4 r;
  r.x = gelu_tanh(v.x + b.x);
  r.y = gelu_tanh(v.y + b.y);
  r.z = gelu_tanh(v.z + b.z);
  r.w = gelu_tanh(v.w + b.w);
  reinterpret_cast<float4 *>(y)[i] = r;
}

void launch(const float *x, const float *bias, float *y, int rows, int cols) {
  int n = rows * (cols / 4);
  bias_gelu<<<(n + 255) / 256, 256>>>(x, bias, y, rows, cols);
}
