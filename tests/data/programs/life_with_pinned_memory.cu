// The game of life on a torus, from one array into another, with pinned memory on the host.
// bug: race
#include <cstdio>
#include <cstring>

const int size = 24;

__global__ void generation(const unsigned char *from, unsigned char *to) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= size || y >= size) return;
  int alive = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++)
      if (dx || dy) alive += from[(y + dy + size) % size * size + (x + dx + size) % size];
  to[y * size + x] = alive == 3 || (alive == 2 && from[y * size + x]);
}

int main() {
  unsigned char *host, *now, *next;
  cudaMallocHost(&host, size * size);
  memset(host, 0, size * size);
  const int glider[][2] = {{1, 0}, {2, 1}, {0, 2}, {1, 2}, {2, 2}};
  for (auto &cell : glider) host[cell[1] * size + cell[0]] = 1;
  cudaMalloc(&now, size * size);
  cudaMalloc(&next, size * size);
  cudaMemcpy(now, host, size * size, cudaMemcpyHostToDevice);
  for (int i = 0; i < 8; i++) {
#ifdef BUG
    generation<<<dim3(3, 3), dim3(8, 8)>>>(now, now);
#else
    generation<<<dim3(3, 3), dim3(8, 8)>>>(now, next);
    unsigned char *old = now;
    now = next;
    next = old;
#endif
  }
  cudaMemcpy(host, now, size * size, cudaMemcpyDeviceToHost);
  for (int y = 0; y < 8; y++) {
    for (int x = 0; x < 8; x++) putchar(host[y * size + x] ? '#' : '.');
    puts("");
  }
  cudaFreeHost(host);
}
