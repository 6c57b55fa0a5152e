// Memory of a pool in the order of streams, managed memory that is advised and prefetched as CUDA 13 and 12 have it, ranges
// for a profiler, and launchers whose names a macro pastes.
// bug: race
#include <nvtx3/nvToolsExt.h>
#include <thrust/device_vector.h>
#include <thrust/sort.h>

#include <cstdint>
#include <cstdio>

#define DEFINE(name, expression)                                                    \
  __global__ void name##_kernel(float *to, const float *from, int count) {          \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) { \
      float x = from[i];                                                            \
      to[i] = (expression);                                                         \
    }                                                                               \
  }                                                                                 \
  static void name(float *to, const float *from, int count, cudaStream_t stream) {  \
    name##_kernel<<<(count + 127) / 128, 128, 0, stream>>>(to, from, count);        \
  }
DEFINE(halved, x / 2 + 1)
DEFINE(negated, -x)

int main() {
  constexpr int n = 2000;
  nvtxRangePushA("all");
  cudaMemPool_t pool;
  uint64_t threshold = UINT64_MAX;
  cudaDeviceGetDefaultMemPool(&pool, 0);
  cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
  cudaStream_t s, t;
  cudaEvent_t done;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);

  float *x, *y, *managed;
  cudaMallocManaged(&managed, n * sizeof(float));
  cudaMemLocation where = {cudaMemLocationTypeDevice, 0};
  cudaMemAdvise(managed, n * sizeof(float), cudaMemAdviseSetPreferredLocation, where);
  cudaMemPrefetchAsync(managed, n * sizeof(float), where, 0, s);
  cudaMemPrefetchAsync(managed, n * sizeof(float), 0, s);
  cudaMallocAsync((void **)&x, n * sizeof(float), s);
  cudaMallocFromPoolAsync(&y, n * sizeof(float), pool, s);
  cudaMemsetAsync(x, 0, n * sizeof(float), s);
  halved(y, x, n, s);
  negated(x, y, n, s);
  cudaEventRecord(done, s);
#ifndef BUG
  cudaStreamWaitEvent(t, done);
#endif
  halved(managed, x, n, t);
  cudaEventRecord(done, t);
  cudaStreamWaitEvent(s, done);
  cudaFreeAsync(x, s);
  cudaFreeAsync(y, s);
  cudaStreamSynchronize(s);
  nvtxRangePop();

  thrust::device_vector<float> sorted(managed, managed + n);
  sorted[7] = -5;
  thrust::sort(sorted.begin(), sorted.end());
  float first = sorted[0];
  printf("%g %g\n", managed[3], first);
  return managed[3] == .5f && first == -5 ? 0 : 1;
}
