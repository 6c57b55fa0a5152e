// A picture in two dimensions, as text.
// bug: out-of-bounds
#include <cstdio>
#include <cuda_runtime.h>

struct Complex {
  float re, im;
  __host__ __device__ float norm() const { return re * re + im * im; }
};
__device__ Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
__device__ Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }

__global__ void draw(unsigned char *image, int width, int height) {
  int x = blockDim.x * blockIdx.x + threadIdx.x, y = blockDim.y * blockIdx.y + threadIdx.y;
#ifdef BUG
  if (x >= width && y >= height) return;
#else
  if (x >= width || y >= height) return;
#endif
  Complex c{3.0f * x / width - 2, 2.0f * y / height - 1}, z{0, 0};
  int steps = 0;
  while (steps < 30 && z.norm() < 4) z = z * z + c, steps++;
  image[y * width + x] = steps;
}

int main() {
  const int width = 50, height = 20;
  static unsigned char image[width * height];
  unsigned char *device;
  cudaMalloc(&device, sizeof image);
  draw<<<dim3((width + 15) / 16, (height + 7) / 8), dim3(16, 8)>>>(device, width, height);
  cudaMemcpy(image, device, sizeof image, cudaMemcpyDeviceToHost);
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) std::putchar(" .:-=+*#%@"[image[y * width + x] / 4]);
    std::putchar('\n');
  }
}
