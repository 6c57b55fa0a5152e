// A list whose nodes threads allocate by themselves, and another launch counts and frees.
// bug: use-after-free out-of-bounds
#include <cstdio>

struct Node {
  int value;
  Node *next;
};

__device__ Node *first;

__global__ void push(int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  Node *node = (Node *)malloc(sizeof(Node));
  node->value = i;
  unsigned long long *head = (unsigned long long *)&first, seen, old = atomicAdd(head, 0ull);
  do {
    seen = old;
    node->next = (Node *)seen;
    old = atomicCAS(head, seen, (unsigned long long)node);
  } while (old != seen);
}

__global__ void sum_and_free(int *out) {
  int sum = 0;
  for (Node *node = first; node;) {
    sum += node->value;
#ifdef BUG
    free(node);
    node = node->next;
#else
    Node *next = node->next;
    free(node);
    node = next;
#endif
  }
  *out = sum;
}

int main() {
  int *out, sum;
  cudaMalloc(&out, sizeof(int));
  push<<<1, 40>>>(33);
  sum_and_free<<<1, 1>>>(out);
  cudaMemcpy(&sum, out, sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d\n", sum);
}
