// The collectives of NCCL with one rank. The argument names a bug, or what is not there.
#include <cstdio>
#include <cstring>

#include <nccl.h>

const int count = 1000;

__global__ void fill(float *x, float value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[i] = value * i;
}

int main(int argc, char **argv) {
  auto is = [&](const char *name) { return argc > 1 && !strcmp(argv[1], name); };
  float *x, *sum, *here = new float[count];
  cudaMalloc(&x, count * sizeof *x);
  cudaMalloc(&sum, count * sizeof *sum);
  cudaStream_t stream, other;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);

  ncclUniqueId id;
  ncclComm_t ranks;
  int bad = ncclGetUniqueId(&id) + ncclCommInitRank(&ranks, is("two ranks") ? 2 : 1, id, 0);
  int rank = 7, size = 0;
  bad += ncclCommUserRank(ranks, &rank) + ncclCommCount(ranks, &size) + rank + size - 1;
  bad += ncclAllReduce(x, sum, count, ncclNumTypes, ncclSum, ranks, stream) != ncclInvalidArgument;
  bad += ncclBroadcast(x, sum, count, ncclFloat, 1, ranks, stream) != ncclInvalidArgument;

  if (!is("unwritten")) fill<<<4, 256, 0, is("other stream") ? other : stream>>>(x, 1.0f);
  bad += ncclAllReduce(x, sum, count + is("too many"), ncclFloat, ncclAvg, ranks, stream);  // the sum
  cudaMemcpyAsync(here, sum, count * sizeof *here, cudaMemcpyDeviceToHost, is("not waited for") ? other : stream);  // the copy
  cudaStreamSynchronize(stream);
  cudaStreamSynchronize(other);
  double total = 0;
  for (int i = 0; i < count; i++) {
    bad += here[i] != i;
    total += here[i];
  }

  fill<<<4, 256, 0, stream>>>(x, 2.0f);
  bad += ncclGroupStart();
  bad += ncclBcast(x, count, ncclFloat, 0, ranks, stream);
  bad += ncclAllGather(x, sum, count, ncclFloat, ranks, stream);
  if (is("before the group ends")) cudaMemcpyAsync(x, here, count * sizeof *x, cudaMemcpyHostToDevice, stream);
  bad += ncclGroupEnd() + (ncclGroupEnd() != ncclInvalidUsage);
  cudaMemcpyAsync(here, sum, count * sizeof *here, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  for (int i = 0; i < count; i++) bad += here[i] != 2 * i;
  bad += ncclCommDestroy(ranks) + (ncclCommDestroy(ranks) != ncclInvalidArgument);
  printf("wrong: %d, the sum: %g\n", bad, total);
}
