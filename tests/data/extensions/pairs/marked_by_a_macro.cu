// class: functions that a kernel may call
// op: row_sum
// bug: out-of-bounds
//
// What a kernel calls is marked by a macro of the file's own, as libraries do: its accesses are looked at as the kernel's.
#include <torch/extension.h>
#define FOR_BOTH __host__ __device__
#define HD FOR_BOTH inline
#ifdef BUG
#define SHIFT 1
#else
#define SHIFT 0
#endif

HD float number(const float *x, int i) { return x[i + SHIFT]; }
static float rounds(float n) { return n < 1 ? 1.0f : n; }

__global__ void row_sums(float *y, const float *x, int cols, int rows) {
  auto rounds = [](float n) { return n; };
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = 0; i < cols; i++) sum += rounds(number(x, row * cols + i));
  y[row] = sum;
}

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty({x.size(0)}, x.options());
  int blocks = rounds((x.size(0) + 63) / 64);
  row_sums<<<blocks, 64>>>(y.data_ptr<float>(), x.data_ptr<float>(), x.size(1), x.size(0));
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
