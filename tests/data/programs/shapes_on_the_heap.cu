// Objects with virtual functions in a list on the device heap, guarded by a ticket lock. With the bug, by none.
// bug: race
#include <cstdio>
struct Shape { __device__ virtual float area() const = 0; __device__ virtual ~Shape() {} };
struct Square : Shape { float s; __device__ Square(float s) : s(s) {} __device__ float area() const override { return s * s; } };
struct Rect : Shape { float a, b; __device__ Rect(float a, float b) : a(a), b(b) {} __device__ float area() const override { return a * b; } };
struct Node { Shape *shape; Node *next; };
__device__ Node *head = nullptr;
__device__ unsigned ticket = 0, serving = 0;
__device__ void push(Shape *s) {
  Node *n = new Node;
  n->shape = s;
#ifdef BUG
  n->next = head;
  head = n;
#else
  unsigned mine = atomicAdd(&ticket, 1);
  while (atomicAdd(&serving, 0) != mine) {}
  __threadfence();
  n->next = head;
  head = n;
  __threadfence();
  atomicAdd(&serving, 1);
#endif
}
__global__ void fill() {
  if (threadIdx.x % 8 == 0) {
    if (blockIdx.x % 2) push(new Square(threadIdx.x)); else push(new Rect(threadIdx.x, 2));
  }
}
typedef float (*Op)(float, float);
__device__ float plus_(float a, float b) { return a + b; }
__device__ Op op = plus_;
__global__ void total(float *sum, int *count) {
  float t = 0; int n = 0;
  for (Node *one = head; one; ) { t = op(t, one->shape->area()); n++; Node *next = one->next; delete one->shape; delete one; one = next; }
  *sum = t; *count = n;
}
int main() {
  float *s; int *c; float hs; int hc;
  cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20);
  cudaMalloc(&s, 4); cudaMalloc(&c, 4);
  fill<<<6, 64>>>();
  total<<<1, 1>>>(s, c);
  cudaMemcpy(&hs, s, 4, cudaMemcpyDeviceToHost); cudaMemcpy(&hc, c, 4, cudaMemcpyDeviceToHost);
  printf("%g %d\n", hs, hc);
  return hc != 48;
}
