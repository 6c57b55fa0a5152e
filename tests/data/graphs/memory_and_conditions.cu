// A graph whose nodes allocate and free, and graphs whose conditional nodes choose among bodies. The argument chooses a bug.
#include <cstdio>
#include <cstring>

__global__ void square(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * in[i];  // the square
}
__global__ void count_down(int *counter, int *turns, cudaGraphConditionalHandle handle) {
  *turns += 1;  // the turn
  cudaGraphSetConditional(handle, --*counter);
}
__global__ void choose(const int *what, cudaGraphConditionalHandle handle) { cudaGraphSetConditional(handle, *what); }
__global__ void add(int *to, int amount) { *to += amount; }  // the sum

static bool is(const char *word, const char *bug) { return !strcmp(word, bug); }

// Allocates, copies, squares, copies back and frees.
static int squares(const char *bug) {
  const int n = 300;
  float in[n], out[n];
  for (int i = 0; i < n; i++) in[i] = i;
  cudaGraph_t graph;
  cudaGraphNode_t a, b, copy, kernel, back, free_a, free_b;
  cudaMemAllocNodeParams wanted = {};
  wanted.poolProps.allocType = cudaMemAllocationTypePinned;
  wanted.poolProps.location = {cudaMemLocationTypeDevice, 0};
  wanted.bytesize = sizeof in;
  cudaGraphCreate(&graph, 0);
  cudaGraphAddMemAllocNode(&a, graph, nullptr, 0, &wanted);
  float *in_there = static_cast<float *>(wanted.dptr);
  cudaGraphAddMemAllocNode(&b, graph, &a, is("unordered", bug) ? 0 : 1, &wanted);  // the allocation
  float *out_there = static_cast<float *>(wanted.dptr);
  cudaGraphAddMemcpyNode1D(&copy, graph, is("unordered", bug) ? &a : &b, 1, in_there, in, sizeof in, cudaMemcpyHostToDevice);
  int count = is("unwritten", bug) ? n + 1 : n;
  const float *from = in_there;
  void *arguments[] = {&from, &out_there, &count};
  cudaKernelNodeParams launch = {};
  launch.func = (void *)square;
  launch.gridDim = 3, launch.blockDim = 128, launch.kernelParams = arguments;
  cudaGraphAddKernelNode(&kernel, graph, is("unwritten", bug) ? &b : &copy, 1, &launch);
  cudaGraphAddMemcpyNode1D(&back, graph, &kernel, 1, out, out_there, sizeof out, cudaMemcpyDeviceToHost);
  cudaGraphAddMemFreeNode(&free_a, graph, is("freed too early", bug) ? &copy : &back, 1, in_there);  // the free
  if (!is("not freed", bug)) cudaGraphAddMemFreeNode(&free_b, graph, &back, 1, out_there);
  cudaGraphExec_t instance;
  cudaGraphInstantiate(&instance, graph, is("not freed", bug) ? cudaGraphInstantiateFlagAutoFreeOnLaunch : 0);
  cudaGraphDestroy(graph);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  for (int turn = 0; turn < 2; turn++) {
    in[7] = turn;
    if (cudaGraphLaunch(instance, stream)) return 1;
    cudaStreamSynchronize(stream);
    if (is("after the launch", bug)) square<<<1, 32, 0, stream>>>(in_there, out_there, 32);
    for (int i = 0; i < n; i++)
      if (out[i] != in[i] * in[i]) return 2;
  }
  unsigned long long now = 1, most = 0;
  cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &now);
  cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &most);
  cudaGraphExecDestroy(instance);
  return now != (is("not freed", bug) ? sizeof out : 0) || most != 2 * sizeof in ? 3 : 0;
}

// The same by a captured stream, which is gone when the graph is launched.
static int captured() {
  const int n = 64;
  float in[n], out[n], *there;
  for (int i = 0; i < n; i++) in[i] = i;
  cudaStream_t stream, other;
  cudaStreamCreate(&stream);
  cudaStreamCreate(&other);
  cudaGraph_t graph;
  cudaStreamBeginCapture(other, cudaStreamCaptureModeGlobal);
  if (cudaMallocAsync(&there, sizeof in, other)) return 4;
  cudaMemcpyAsync(there, in, sizeof in, cudaMemcpyHostToDevice, other);
  square<<<1, n, 0, other>>>(there, there, n);
  cudaMemcpyAsync(out, there, sizeof in, cudaMemcpyDeviceToHost, other);
  if (cudaFreeAsync(there, other)) return 5;
  cudaStreamEndCapture(other, &graph);
  cudaStreamDestroy(other);
  cudaGraphExec_t instance;
  cudaGraphInstantiate(&instance, graph);
  for (int turn = 0; turn < 2; turn++)
    if (cudaGraphLaunch(instance, stream)) return 6;
  cudaStreamSynchronize(stream);
  return out[9] != 81 ? 7 : 0;
}

static cudaGraphNode_t node_of(cudaGraph_t graph, cudaGraphNode_t *before, cudaGraphNodeParams params) {
  cudaGraphNode_t node = nullptr;
  cudaGraphAddNode(&node, graph, before, nullptr, before ? 1 : 0, &params);
  return node;
}
static cudaGraph_t *bodies_of(cudaGraph_t graph, cudaGraphNode_t *before, cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type, int size) {
  cudaGraphNode_t node;
  cudaGraphNodeParams params = {cudaGraphNodeTypeConditional};
  params.conditional.handle = handle, params.conditional.type = type, params.conditional.size = size;
  return cudaGraphAddNode(&node, graph, before, nullptr, before ? 1 : 0, &params) ? nullptr : params.conditional.phGraph_out;
}

// `what` chooses: 0 nothing, 1 adds 1, 2 adds 10; a loop then counts down from 5.
static int conditions(const char *bug) {
  int *memory, start[4] = {0, 5, 0, 0}, end[4];  // what, the counter, turns of the loop, the sum
  cudaMalloc(&memory, sizeof start);
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphConditionalHandle switched, repeated;
  cudaGraphConditionalHandleCreate(&switched, graph);
  cudaGraphConditionalHandleCreate(&repeated, graph, 1, cudaGraphCondAssignDefault);
  const int *what = memory;
  int *sum = memory + 3, *counter = memory + 1, *turns = memory + 2, one = 1, ten = 10;
  cudaGraphNodeParams params = {cudaGraphNodeTypeKernel};
  params.kernel.gridDim.x = params.kernel.gridDim.y = params.kernel.gridDim.z = 1;
  params.kernel.blockDim = params.kernel.gridDim;
  void *of_choice[] = {&what, &switched};
  params.kernel.func = (void *)choose, params.kernel.kernelParams = of_choice;
  cudaGraphNode_t chosen = node_of(graph, nullptr, params);
  cudaGraph_t *cases = bodies_of(graph, &chosen, switched, cudaGraphCondTypeSwitch, 3);
  for (int i = 1; i < 3; i++) {
    void *of_sum[] = {&sum, i == 1 ? &one : &ten};
    params.kernel.func = (void *)add, params.kernel.kernelParams = of_sum;
    node_of(cases[i], nullptr, params);
  }
  cudaGraph_t *loop = bodies_of(graph, &chosen, repeated, cudaGraphCondTypeWhile, 1);
  if (is("both count", bug)) turns = sum;
  void *of_count[] = {&counter, &turns, &repeated};
  params.kernel.func = (void *)count_down, params.kernel.kernelParams = of_count;
  node_of(loop[0], nullptr, params);
  cudaGraphExec_t instance;
  if (cudaGraphInstantiate(&instance, graph)) return 8;
  for (int i = 0; i < 4; i++) {
    start[0] = i;
    cudaMemcpy(memory, start, sizeof start, cudaMemcpyHostToDevice);
    if (cudaGraphLaunch(instance, 0)) return 9;
    cudaMemcpy(end, memory, sizeof end, cudaMemcpyDeviceToHost);
    if (!is("both count", bug) && (end[1] || end[2] != 5 || end[3] != (i == 1 ? 1 : i == 2 ? 10 : 0))) return 10 + i;
  }
  return 0;
}

int main(int argc, char **argv) {
  const char *bug = argc > 1 ? argv[1] : "";
  int wrong = squares(bug);
  if (!wrong) wrong = captured();
  if (!wrong) wrong = conditions(bug);
  printf("wrong: %d\n", wrong);
}
