// Programs of one page: what the edges of a graph order, and what they leave open. The first argument says which.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                        \
  do {                                                                                     \
    cudaError_t error = (call);                                                            \
    if (error != cudaSuccess) {                                                            \
      printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));                \
      exit(1);                                                                             \
    }                                                                                      \
  } while (0)

constexpr int n = 1000, half = n / 2;
__constant__ int scale;

__global__ void fill(int *a, int count, int value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) a[i] = value + i;
}
template <int by>
__global__ void add(int *to, const int *from, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] += by * from[i];
}
namespace kernels {
__global__ void scaled(int *a, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) a[i] *= scale;
}
}  // namespace kernels

struct Args {
  int *a, *b, *c, *pinned;
  cudaStream_t s, t;
  cudaEvent_t e;
};

using Nodes = std::vector<cudaGraphNode_t>;

static cudaGraphNode_t fills(cudaGraph_t graph, const Nodes &before, int *a, int value = 1, int count = n) {
  void *args[] = {&a, &count, &value};
  cudaKernelNodeParams asked = {0};
  asked.func = (void *)fill;
  asked.gridDim = dim3(4);
  asked.blockDim = dim3(256, 1, 1);
  asked.kernelParams = args;
  cudaGraphNode_t node;
  CHECK(cudaGraphAddKernelNode(&node, graph, before.data(), before.size(), &asked));
  return node;
}

static cudaKernelNodeParams adding(void **args) {
  return {reinterpret_cast<void *>(&add<2>), 4, 256, 0, args, nullptr};
}

static cudaGraphNode_t adds(cudaGraph_t graph, const Nodes &before, int *to, const int *from, int count = n) {
  void *args[] = {&to, &from, &count};
  cudaKernelNodeParams asked = adding(args);
  cudaGraphNode_t node;
  CHECK(cudaGraphAddKernelNode(&node, graph, before.empty() ? nullptr : before.data(), before.size(), &asked));
  return node;
}

static cudaGraphNode_t clears(cudaGraph_t graph, const Nodes &before, int *a) {
  cudaMemsetParams asked = {};
  asked.dst = a;
  asked.value = 7;
  asked.elementSize = sizeof(int);
  asked.width = n;
  asked.height = 1;
  cudaGraphNode_t node;
  CHECK(cudaGraphAddMemsetNode(&node, graph, before.data(), before.size(), &asked));
  return node;
}

static cudaGraphNode_t copies(cudaGraph_t graph, const Nodes &before, int *to, const int *from, cudaMemcpyKind kind) {
  cudaGraphNode_t node;
  CHECK(cudaGraphAddMemcpyNode1D(&node, graph, before.data(), before.size(), to, from, n * sizeof(int), kind));
  return node;
}

static void add_on_host(void *data) {
  int *a = static_cast<int *>(data);
  for (int i = 0; i < n; i++) a[i] += 5;
}

static cudaGraphNode_t calls(cudaGraph_t graph, const Nodes &before, int *data) {
  cudaHostNodeParams asked = {add_on_host, data};
  cudaGraphNode_t node;
  CHECK(cudaGraphAddHostNode(&node, graph, before.data(), before.size(), &asked));
  return node;
}

static cudaGraphNode_t joins(cudaGraph_t graph, const Nodes &before) {
  cudaGraphNode_t node;
  CHECK(cudaGraphAddEmptyNode(&node, graph, before.data(), before.size()));
  return node;
}

static cudaGraphNode_t has_within(cudaGraph_t graph, const Nodes &before, cudaGraph_t child) {
  cudaGraphNode_t node;
  CHECK(cudaGraphAddChildGraphNode(&node, graph, before.data(), before.size(), child));
  return node;
}

static cudaGraphExec_t instance(cudaGraph_t graph) {
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, NULL, NULL, 0));
  return exec;
}

static void run(cudaGraph_t graph, const Args &x, int times = 3) {
  cudaGraphExec_t exec = instance(graph);
  for (int i = 0; i < times; i++) CHECK(cudaGraphLaunch(exec, x.s));
  CHECK(cudaStreamSynchronize(x.s));
  CHECK(cudaGraphExecDestroy(exec));
}

// x.b = 2 * x.a, in two chains that an edge joins, or not.
static void two_chains(cudaGraph_t graph, const Args &x, bool has_edge) {
  cudaGraphNode_t one = fills(graph, {}, x.a), other = clears(graph, {}, x.b);
  cudaGraphNode_t sum = adds(graph, {other}, x.b, x.a);  //~ error: race if missing_edge
  if (has_edge) CHECK(cudaGraphAddDependencies(graph, &one, &sum, 1));
}

static int program(const char *which, const Args &x) {
  auto is = [which](const char *name) { return !strcmp(which, name); };
  cudaGraph_t graph, child;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphCreate(&child, 0));

  // Right.
  if (is("chain")) {
    cudaGraphNode_t last = copies(graph, {}, x.a, x.pinned, cudaMemcpyHostToDevice);
    last = adds(graph, {last}, x.a, x.b);
    last = copies(graph, {last}, x.pinned, x.a, cudaMemcpyDeviceToHost);
    last = calls(graph, {last}, x.pinned);
    run(graph, x);
    return x.pinned[3];
  }
  if (is("edge_added_later")) {
    two_chains(graph, x, true);
    run(graph, x);
  }
  if (is("made_in_another_order")) {
    cudaGraphNode_t last = adds(graph, {}, x.b, x.a), first = fills(graph, {}, x.a), between = joins(graph, {first});
    CHECK(cudaGraphAddDependencies(graph, &between, &last, 1));
    run(graph, x, 2);
    size_t nodes = 0, edges = 0, roots = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, &edges));
    CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
    cudaGraphNode_t root;
    CHECK(cudaGraphGetRootNodes(graph, &root, &roots));
    return nodes == 3 && edges == 2 && roots == 1 && root == first ? 0 : 1;
  }
  if (is("diamond")) {
    cudaGraphNode_t top = fills(graph, {}, x.a);
    cudaGraphNode_t left = adds(graph, {top}, x.a, x.b, half), right = adds(graph, {top}, x.a + half, x.b + half, half);
    adds(graph, {left, right}, x.c, x.a);
    run(graph, x);
  }
  if (is("joined_by_an_empty_node")) {
    cudaGraphNode_t both = joins(graph, {fills(graph, {}, x.a), fills(graph, {}, x.b)});
    adds(graph, {both}, x.c, x.a);
    adds(graph, {both}, x.a, x.b, 0);
    run(graph, x);
  }
  if (is("both_read")) {
    adds(graph, {}, x.a, x.c);
    adds(graph, {}, x.b, x.c);
    run(graph, x);
  }
  if (is("child")) {
    cudaGraphNode_t inner = fills(child, {}, x.a);
    adds(child, {inner}, x.b, x.a);
    cudaGraphNode_t first = clears(graph, {}, x.b), within = has_within(graph, {first}, child);
    adds(graph, {within}, x.c, x.b);
    adds(graph, {within}, x.a, x.b);
    run(graph, x);
  }
  if (is("child_twice")) {
    fills(child, {}, x.a);
    adds(child, {}, x.b, x.c);
    cudaGraphNode_t first = has_within(graph, {}, child);
    has_within(graph, {first}, child);
    run(graph, x);
  }
  if (is("event_nodes")) {
    cudaGraphNode_t first = fills(graph, {}, x.a), told;
    CHECK(cudaGraphAddEventRecordNode(&told, graph, &first, 1, x.e));
    adds(graph, {first}, x.c, x.b);
    cudaGraphNode_t waits;
    CHECK(cudaGraphAddEventWaitNode(&waits, child, nullptr, 0, x.e));
    adds(child, {waits}, x.b, x.a);
    cudaGraphExec_t one = instance(graph), other = instance(child);
    CHECK(cudaGraphLaunch(one, x.s));
    CHECK(cudaStreamWaitEvent(x.t, x.e));
    add<1><<<1, 256, 0, x.t>>>(x.a, x.pinned, 256);
    CHECK(cudaStreamSynchronize(x.s));
    CHECK(cudaGraphLaunch(other, x.t));
  }
  if (is("other_arguments")) {
    cudaGraphNode_t one = fills(graph, {}, x.a), other = adds(graph, {}, x.b, x.c);
    cudaGraphExec_t exec = instance(graph);
    CHECK(cudaGraphLaunch(exec, x.s));
    int *to = x.c, count = n, value = 9;
    void *args[] = {&to, &count, &value};
    cudaKernelNodeParams asked;
    CHECK(cudaGraphKernelNodeGetParams(one, &asked));
    if (*static_cast<int **>(asked.kernelParams[0]) != x.a || asked.gridDim.x != 4) return 1;
    asked.kernelParams = args;
    asked.gridDim = 4;
    CHECK(cudaGraphExecKernelNodeSetParams(exec, one, &asked));
    CHECK(cudaGraphNodeSetEnabled(exec, other, 0));
    CHECK(cudaGraphLaunch(exec, x.s));
    CHECK(cudaMemcpyAsync(x.pinned, x.c, n * sizeof(int), cudaMemcpyDeviceToHost, x.s));
    CHECK(cudaStreamSynchronize(x.s));
    return x.pinned[1] == 10 ? 0 : 1;
  }
  if (is("other_copies_and_host_functions")) {
    cudaGraphNode_t in = copies(graph, {}, x.a, x.b, cudaMemcpyDeviceToDevice), zero = clears(graph, {in}, x.b);
    cudaGraphNode_t host = calls(graph, {zero}, x.pinned);
    cudaGraphExec_t exec = instance(graph);
    CHECK(cudaGraphExecMemcpyNodeSetParams1D(exec, in, x.c, x.b, n * sizeof(int), cudaMemcpyDeviceToDevice));
    cudaMemsetParams set;
    CHECK(cudaGraphMemsetNodeGetParams(zero, &set));
    set.value = 0x01020304;
    CHECK(cudaGraphExecMemsetNodeSetParams(exec, zero, &set));
    cudaHostNodeParams called = {add_on_host, x.pinned + 0};
    CHECK(cudaGraphExecHostNodeSetParams(exec, host, &called));
    CHECK(cudaGraphLaunch(exec, x.s));
    CHECK(cudaMemcpyAsync(x.pinned, x.b, n * sizeof(int), cudaMemcpyDeviceToHost, x.s));
    CHECK(cudaStreamSynchronize(x.s));
    return x.pinned[n - 1] == 0x01020304 ? 0 : 1;
  }
  if (is("clone")) {
    cudaGraphNode_t first = fills(graph, {}, x.a), last = adds(graph, {first}, x.b, x.a), found;
    cudaGraph_t clone;
    CHECK(cudaGraphClone(&clone, graph));
    CHECK(cudaGraphNodeFindInClone(&found, last, clone));
    CHECK(cudaGraphDestroyNode(last));
    adds(clone, {found}, x.c, x.b);
    run(clone, x);
    run(graph, x);
  }
  if (is("no_circle")) {
    cudaGraphNode_t one = fills(graph, {}, x.a), other = fills(graph, {one}, x.a);
    CHECK(cudaGraphAddDependencies(graph, &other, &one, 1));
    cudaGraphExec_t exec;
    if (cudaGraphInstantiate(&exec, graph, 0) != cudaErrorInvalidValue) return 1;
    CHECK(cudaGraphRemoveDependencies(graph, &other, &one, 1));
    run(graph, x);
  }
  if (is("one_after_the_other")) {
    fills(graph, {}, x.a);
    cudaGraphExec_t exec = instance(graph);
    CHECK(cudaGraphLaunch(exec, x.s));
    CHECK(cudaGraphLaunch(exec, x.t));
  }
  if (is("many_branches")) {
    Nodes every;
    add<1><<<4, 256, 0, x.s>>>(x.a, x.b, n);
    for (int i = 0; i < 100; i++) every.push_back(fills(graph, {}, x.a + 10 * i, i, 10));
    adds(graph, every, x.b, x.a);
    for (int i = 0; i < 3; i++) {
      run(graph, x, 1);
      add<1><<<4, 256, 0, x.s>>>(x.a, x.b, n);
      add<1><<<4, 256, 0, x.s>>>(x.b, x.a, n);
    }
  }
  if (is("captured_behind_a_node")) {
    cudaGraphNode_t first = fills(graph, {}, x.a);
    CHECK(cudaStreamBeginCaptureToGraph(x.s, graph, &first, nullptr, 1, cudaStreamCaptureModeGlobal));
    add<1><<<4, 256, 0, x.s>>>(x.b, x.a, n);
    CHECK(cudaStreamEndCapture(x.s, &graph));
    run(graph, x);
  }
  if (is("launched_into_a_capture")) {
    fills(child, {}, x.a);
    cudaGraphExec_t exec = instance(child);
    CHECK(cudaStreamBeginCapture(x.s, cudaStreamCaptureModeGlobal));
    CHECK(cudaGraphLaunch(exec, x.s));
    int two = 2;
    CHECK(cudaMemcpyToSymbolAsync(scale, &two, sizeof two, 0, cudaMemcpyHostToDevice, x.s));
    kernels::scaled<<<4, 256, 0, x.s>>>(x.a, n);
    CHECK(cudaMemcpyAsync(x.pinned, x.a, n * sizeof(int), cudaMemcpyDeviceToHost, x.s));
    CHECK(cudaStreamEndCapture(x.s, &graph));
    run(graph, x);
    return x.pinned[4] == 10 ? 0 : 1;
  }
  if (is("addresses_in_a_table")) {
    const void *table[] = {(const void *)fill, (void *)&add<3>, (const void *)&kernels::scaled};
    int one = 1, count = n, three = 3;
    CHECK(cudaMemcpyToSymbol(scale, &three, sizeof three));
    int *a = x.a;
    void *args[][3] = {{&a, &count, &one}, {&a, (void *)&x.b, &count}, {&a, &count, nullptr}};
    for (int i = 0; i < 3; i++) CHECK(cudaLaunchKernel(table[i], dim3(4), dim3(256), args[i], 0, x.s));
    CHECK(cudaMemcpyAsync(x.pinned, x.a, n * sizeof(int), cudaMemcpyDeviceToHost, x.s));
    CHECK(cudaStreamSynchronize(x.s));
    return x.pinned[4] == 15 ? 0 : 1;
  }
  if (is("in_three_dimensions")) {
    cudaPitchedPtr box;
    CHECK(cudaMalloc3D(&box, make_cudaExtent(10 * sizeof(int), 10, 10)));
    CHECK(cudaMemset3DAsync(box, 0, make_cudaExtent(10 * sizeof(int), 10, 10), x.s));
    cudaMemcpy3DParms asked = {0};
    asked.srcPtr = make_cudaPitchedPtr(x.pinned, 10 * sizeof(int), 10, 10);
    asked.dstPtr = box;
    asked.extent = make_cudaExtent(10 * sizeof(int), 10, 10);
    asked.kind = cudaMemcpyHostToDevice;
    x.pinned[999] = 77;
    cudaGraphNode_t in, out;
    CHECK(cudaGraphAddMemcpyNode(&in, graph, nullptr, 0, &asked));
    asked.srcPtr = box;
    asked.srcPos = make_cudaPos(9 * sizeof(int), 9, 9);
    asked.dstPtr = make_cudaPitchedPtr(x.pinned, sizeof(int), 1, 1);
    asked.extent = make_cudaExtent(sizeof(int), 1, 1);
    asked.kind = cudaMemcpyDefault;
    CHECK(cudaGraphAddMemcpyNode(&out, graph, &in, 1, &asked));
    run(graph, x);
    return x.pinned[0] == 77 ? 0 : 1;
  }

  // Wrong.
  if (is("missing_edge")) {
    two_chains(graph, x, false);
    run(graph, x);
  }
  if (is("cleared_beside")) {
    fills(graph, {}, x.a);
    clears(graph, {}, x.a);  //~ error: race if cleared_beside
    run(graph, x);
  }
  if (is("copied_beside")) {
    fills(graph, {}, x.a);
    copies(graph, {}, x.pinned, x.a, cudaMemcpyDeviceToHost);  //~ error: race if copied_beside
    run(graph, x);
  }
  if (is("called_beside")) {
    copies(graph, {}, x.pinned, x.a, cudaMemcpyDeviceToHost);
    calls(graph, {}, x.pinned);  //~ error: race if called_beside
    run(graph, x);
  }
  if (is("edge_removed")) {
    cudaGraphNode_t one = fills(graph, {}, x.a), other = adds(graph, {one}, x.b, x.a);  //~ error: race if edge_removed
    CHECK(cudaGraphRemoveDependencies(graph, &one, &other, 1));
    run(graph, x);
  }
  if (is("half_of_a_diamond")) {
    cudaGraphNode_t top = fills(graph, {}, x.a);
    cudaGraphNode_t left = adds(graph, {top}, x.a, x.b, half);
    adds(graph, {top}, x.a + half, x.b + half, half);
    adds(graph, {left}, x.c, x.a);  //~ error: race if half_of_a_diamond
    run(graph, x);
  }
  if (is("joins_too_few")) {
    fills(graph, {}, x.b);
    cudaGraphNode_t both = joins(graph, {fills(graph, {}, x.a)});
    adds(graph, {both}, x.a, x.b);  //~ error: race if joins_too_few
    run(graph, x);
  }
  if (is("child_beside")) {
    fills(child, {}, x.a);
    has_within(graph, {}, child);
    adds(graph, {}, x.b, x.a);  //~ error: race if child_beside
    run(graph, x);
  }
  if (is("two_children")) {
    adds(child, {}, x.b, x.a);  //~ error: race if two_children
    has_within(graph, {}, child);
    has_within(graph, {}, child);
    run(graph, x);
  }
  if (is("within_a_child")) {
    fills(child, {}, x.a);
    adds(child, {}, x.b, x.a);  //~ error: race if within_a_child
    has_within(graph, {}, child);
    run(graph, x);
  }
  if (is("two_graphs")) {
    fills(graph, {}, x.a);
    adds(child, {}, x.b, x.a);  //~ error: race if two_graphs
    cudaGraphExec_t one = instance(graph), other = instance(child);
    CHECK(cudaGraphLaunch(one, x.s));
    CHECK(cudaGraphLaunch(other, x.t));
  }
  if (is("beside_a_stream")) {
    fills(graph, {}, x.a);
    cudaGraphExec_t exec = instance(graph);
    CHECK(cudaGraphLaunch(exec, x.s));
    add<1><<<4, 256, 0, x.t>>>(x.b, x.a, n);  //~ error: race if beside_a_stream
  }
  if (is("argument_set_to_another_array")) {
    fills(graph, {}, x.a);
    int *to = x.b, *from = x.a, count = n;
    cudaGraphNode_t other = adds(graph, {}, x.b, x.c);
    cudaGraphExec_t exec = instance(graph);
    CHECK(cudaGraphLaunch(exec, x.s));
    void *args[] = {&to, &from, &count};
    cudaKernelNodeParams asked = adding(args);
    CHECK(cudaGraphExecKernelNodeSetParams(exec, other, &asked));  //~ error: race if argument_set_to_another_array
    CHECK(cudaGraphLaunch(exec, x.s));
  }
  if (is("captured_behind_nothing")) {
    fills(graph, {}, x.a);
    CHECK(cudaStreamBeginCaptureToGraph(x.s, graph, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
    add<1><<<4, 256, 0, x.s>>>(x.b, x.a, n);  //~ error: race if captured_behind_nothing
    CHECK(cudaStreamEndCapture(x.s, &graph));
    run(graph, x);
  }
  if (is("read_before_it_ends")) {
    copies(graph, {}, x.pinned, x.a, cudaMemcpyDeviceToHost);
    CHECK(cudaGraphLaunch(instance(graph), x.s));
    return x.pinned[3];  //~ error: race if read_before_it_ends
  }
  return 0;
}

int main(int, char **argv) {
  Args x;
  CHECK(cudaMalloc(&x.a, n * sizeof(int)));
  CHECK(cudaMalloc(&x.b, n * sizeof(int)));
  CHECK(cudaMalloc(&x.c, n * sizeof(int)));
  CHECK(cudaMallocHost(&x.pinned, n * sizeof(int)));
  for (int *one : {x.a, x.b, x.c}) CHECK(cudaMemset(one, 0, n * sizeof(int)));
  for (int i = 0; i < n; i++) x.pinned[i] = 0;
  CHECK(cudaStreamCreateWithFlags(&x.s, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&x.t, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&x.e));
  CHECK(cudaDeviceSynchronize());
  int result = program(argv[1], x);
  CHECK(cudaDeviceSynchronize());
  printf("%d\n", result);
  return strcmp(argv[1], "chain") && strcmp(argv[1], "read_before_it_ends") ? result : 0;
}
