// A captured graph that forks and joins, launched many times, updated, and launched again.
// bug: race
#include <cstdio>

constexpr int n = 4096, half = n / 2, rounds = 5;

__global__ void scale(float *x, int count, float by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[i] = x[i] * by + 1;
}
__global__ void add(float *to, const float *from, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] += from[i];
}

static void count_launches(void *data) { ++*static_cast<int *>(data); }

// x is copied in, its halves are scaled side by side, and their sum is copied out.
static cudaGraph_t captured(cudaStream_t s, cudaStream_t t, float *x, float *in, float *out, float by, int *launches) {
  cudaEvent_t forked, joined;
  cudaEventCreateWithFlags(&forked, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&joined, cudaEventDisableTiming);
  cudaGraph_t graph;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  cudaMemcpyAsync(x, in, n * sizeof(float), cudaMemcpyHostToDevice, s);
  cudaEventRecord(forked, s);
  cudaStreamWaitEvent(t, forked);
  scale<<<half / 256, 256, 0, t>>>(x + half, half, by);
  scale<<<half / 256, 256, 0, s>>>(x, half, by);
#ifdef BUG
  add<<<half / 256, 256, 0, s>>>(x, x + half, half);
  cudaEventRecord(joined, t);
  cudaStreamWaitEvent(s, joined);
#else
  cudaEventRecord(joined, t);
  cudaStreamWaitEvent(s, joined);
  add<<<half / 256, 256, 0, s>>>(x, x + half, half);
#endif
  cudaMemcpyAsync(out, x, half * sizeof(float), cudaMemcpyDeviceToHost, s);
  cudaLaunchHostFunc(s, count_launches, launches);
  cudaStreamEndCapture(s, &graph);
  cudaEventDestroy(forked);
  cudaEventDestroy(joined);
  return graph;
}

int main() {
  float *x, *in, *out;
  int launches = 0;
  cudaMalloc(&x, n * sizeof(float));
  cudaMallocHost(&in, n * sizeof(float));
  cudaMallocHost(&out, n * sizeof(float));
  for (int i = 0; i < n; i++) in[i] = static_cast<float>(i % 7);
  cudaStream_t s, t;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
  cudaGraph_t graph = captured(s, t, x, in, out, 2, &launches);
  cudaGraphExec_t exec;
  if (cudaGraphInstantiate(&exec, graph, 0) != cudaSuccess || launches) return 1;
  cudaGraphDestroy(graph);
  for (int round = 0; round < rounds; round++) cudaGraphLaunch(exec, s);
  cudaStreamSynchronize(s);
  float first = out[10];
  graph = captured(s, t, x, in, out, 3, &launches);
  cudaGraphExecUpdateResultInfo told;
  if (cudaGraphExecUpdate(exec, graph, &told) != cudaSuccess) return 2;
  cudaGraphDestroy(graph);
  cudaGraphLaunch(exec, s);
  if (cudaStreamSynchronize(s) != cudaSuccess) return 3;
  printf("%d launches: %g, then %g\n", launches, first, out[10]);
  float a = in[10], b = in[10 + half];
  return launches == rounds + 1 && first == 2 * (a + b) + 2 && out[10] == 3 * (a + b) + 2 ? 0 : 4;
}
