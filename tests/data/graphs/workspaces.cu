// Graphs that keep the address of a workspace. The argument chooses what becomes of the workspace between two replays.
#include <cstdio>
#include <cstring>

__global__ void square(const float *in, float *work, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) work[i] = in[i] * in[i];  // the square
}
__global__ void half(const float *work, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = work[i] / 2;  // the half
}

static bool is(const char *word, const char *bug) { return !strcmp(word, bug); }

struct Captured {
  cudaGraph_t graph;
  cudaGraphExec_t instance;
};

// out = in * in / 2 by way of the workspace; `clears`: a node sets the workspace to zeros first.
static Captured capture(const float *in, float *work, float *out, int n, bool clears = false) {
  cudaStream_t stream;
  Captured made;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  if (clears) cudaMemsetAsync(work, 0, n * sizeof *work, stream);  // the clearing
  square<<<(n + 63) / 64, 64, 0, stream>>>(in, work, n);  // the first node
  half<<<(n + 63) / 64, 64, 0, stream>>>(work, out, n);
  cudaStreamEndCapture(stream, &made.graph);
  cudaGraphInstantiate(&made.instance, made.graph, 0);
  cudaStreamDestroy(stream);
  return made;
}

static int wrong(const float *out, float in, int n) {
  float first, last;
  cudaMemcpy(&first, out, sizeof first, cudaMemcpyDeviceToHost);
  cudaMemcpy(&last, out + n - 1, sizeof last, cudaMemcpyDeviceToHost);
  return (first != in * in / 2) + (last != in * in / 2);
}

static void fill(float *in, float value, int n) {
  float given[512];
  for (int i = 0; i < n; i++) given[i] = value;
  cudaMemcpy(in, given, n * sizeof *in, cudaMemcpyHostToDevice);
}

int main(int argc, char **argv) {
  const char *bug = argc > 1 ? argv[1] : "";
  const int n = 300;
  float *in, *other_in, *out, *work, *other_out;
  cudaMalloc(&in, n * sizeof *in);
  cudaMalloc(&other_in, n * sizeof *in);
  cudaMalloc(&out, n * sizeof *out);
  cudaMalloc(&other_out, n * sizeof *out);
  cudaMalloc(&work, n * sizeof *work);
  cudaStream_t one, other;
  cudaStreamCreate(&one);
  cudaStreamCreate(&other);
  fill(in, 3, n);
  fill(other_in, 7, n);
  Captured first = capture(in, work, out, n, is("cleared by a node", bug)), second = capture(other_in, work, other_out, n);
  cudaGraphLaunch(first.instance, one);
  cudaStreamSynchronize(one);
  int errors = wrong(out, 3, n);

  // Right: the input changes in place.
  fill(in, 5, n);
  cudaGraphLaunch(first.instance, one);
  cudaStreamSynchronize(one);
  errors += wrong(out, 5, n);

  float *larger = work;
  if (is("freed", bug) || is("cleared by a node", bug)) cudaFree(work);  // the free
  if (is("freed in stream order", bug)) cudaFreeAsync(work, one);  // the free in order
  if (is("moved", bug)) cudaFree(work), cudaMalloc(&larger, n * sizeof *work);  // the move
  if (is("grown", bug) || is("captured again", bug) || is("parameters set", bug)) {
    cudaMalloc(&larger, 2 * n * sizeof *work);
    cudaFree(work);  // the growth
  }
  if (is("captured again", bug)) {  // right: a new graph has the new address
    cudaGraphExecDestroy(first.instance);
    first = capture(in, larger, out, n);
  }
  if (is("parameters set", bug)) {  // right: so has the old one, once it is updated
    Captured again = capture(in, larger, out, n);
    cudaGraphExecUpdateResultInfo info;
    if (cudaGraphExecUpdate(first.instance, again.graph, &info)) errors += 100;
  }

  cudaGraphLaunch(first.instance, one);  // the replay
  // Right if they are on one stream, or the second waits for an event after the first.
  if (is("one stream", bug)) cudaGraphLaunch(second.instance, one);
  if (is("two streams", bug)) cudaGraphLaunch(second.instance, other);
  if (is("ordered by an event", bug)) {
    cudaEvent_t done;
    cudaEventCreate(&done);
    cudaEventRecord(done, one);
    cudaStreamWaitEvent(other, done, 0);
    cudaGraphLaunch(second.instance, other);
  }
  if (is("a kernel beside it", bug)) square<<<5, 64, 0, other>>>(other_in, work, n);  // beside it
  cudaDeviceSynchronize();
  errors += wrong(out, 5, n);
  if (is("copied too much", bug)) {
    float given[512] = {};
    cudaMemcpy(in, given, (n + 5) * sizeof *in, cudaMemcpyHostToDevice);  // too much
  }
  cudaFree(in);
  printf("wrong: %d\n", errors);
  return 0;
}
