// What is done to each number is handed to one kernel: a functor, a lambda for the device, a pointer to a device function
// that the host reads from a symbol, a class with a virtual method made on the device. With the bug the kernel goes on by one.
// bug: out-of-bounds
#include <cstdio>
#include <type_traits>
#include <vector>

namespace functional {
template <class T>
struct Scale {
  T by;
  __host__ __device__ T operator()(T x) const { return x * by; }
};
template <class F, class G>
struct Composed {
  F f;
  G g;
  template <class T>
  __host__ __device__ auto operator()(T x) const -> decltype(f(g(x))) {
    return f(g(x));
  }
};
template <class F, class G>
__host__ __device__ constexpr Composed<F, G> composed(F f, G g) {
  return {f, g};
}
}  // namespace functional

template <class T, class Function>
__global__ void for_each(T *data, int n, Function function) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef BUG
  if (i <= n)
#else
  if (i < n)
#endif
    data[i] = function(data[i]);
}

template <class T, class Function>
void apply(T *data, int n, Function function, cudaStream_t stream = nullptr) {
  if (n == 0) return;
  for_each<T><<<(n + 127) / 128, 128, 0, stream>>>(data, n, function);
}

using Unary = float (*)(float);
__device__ float squared(float x) { return x * x; }
__device__ Unary chosen = squared;

struct Shape {
  __device__ virtual float area(float side) const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  __device__ float area(float side) const override { return side * side; }
};
struct Circle : Shape {
  float pi;
  __device__ explicit Circle(float pi) : pi(pi) {}
  __device__ float area(float side) const override { return pi * side * side; }
};

__global__ void areas(float *to, int n) {
  const Shape *shapes[2] = {new Square, new Circle(3.0f)};
  for (int i = threadIdx.x; i < n; i += blockDim.x) to[i] = shapes[i % 2]->area(2.0f);
  delete shapes[0];
  delete shapes[1];
}

int main() {
  const int n = 300;
  std::vector<float> host(n, 1.0f);
  float *data;
  cudaMalloc(&data, n * sizeof *data);
  cudaMemcpy(data, host.data(), n * sizeof *data, cudaMemcpyHostToDevice);
  apply(data, n, functional::Scale<float>{3.0f});
  apply(data, n, functional::composed(functional::Scale<float>{0.5f}, functional::Scale<float>{4.0f}));
  float shift = 1.0f;
  apply(data, n, [=] __device__(float x) { return x + shift; });
  Unary function;
  cudaMemcpyFromSymbol(&function, chosen, sizeof function);
  apply(data, n, function);
  cudaMemcpy(host.data(), data, n * sizeof *data, cudaMemcpyDeviceToHost);
  bool right = true;
  for (float x : host) right = right && x == 49.0f;
  areas<<<1, 64>>>(data, n);
  cudaMemcpy(host.data(), data, n * sizeof *data, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) right = right && host[i] == (i % 2 ? 12.0f : 4.0f);
  std::printf("%s\n", right ? "right" : "wrong");
  cudaFree(data);
  return !right;
}
