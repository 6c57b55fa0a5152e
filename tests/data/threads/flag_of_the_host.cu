// The host sets a flag that a kernel may still read: by a volatile write, or with an argument by a plain one.
#include <cstdio>
__global__ void waits(volatile int *flag, int *y) { for (int i = 0; i < 10 && !*flag; i++) {} *y = 1; }
int main(int argc, char **) {
  int *flag, *y;
  cudaMallocHost(&flag, 4);
  cudaMalloc(&y, 4);
  *flag = 0;
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  waits<<<1, 1, 0, stream>>>(flag, y);
  if (argc > 1)
    *flag = 1;
  else
    *(volatile int *)flag = 1;
  cudaStreamSynchronize(stream);
}
