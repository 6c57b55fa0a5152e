// Three kernels, of which the second and third may begin before the one before has ended. Arguments: ways and cases.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(x) if (cudaError_t e = (x); e != cudaSuccess) { printf("line %d: %s\n", __LINE__, cudaGetErrorName(e)); exit(1); }

constexpr int n = 128;
enum : unsigned {
  reads_early = 1, reads_older_early = 2, writes_early = 4, triggers_first = 8, waits = 16, one_waits = 32, meets = 64,
  triggers_late = 128, by_ptx = 256, reads_weights_early = 512, ignores_before = 1024
};

__device__ void wait_for_grids(unsigned does) {
  if (does & by_ptx) asm volatile("griddepcontrol.wait;" ::: "memory");
  else cudaGridDependencySynchronize();
}
__device__ void trigger(unsigned does) {
  if (does & by_ptx) asm volatile("griddepcontrol.launch_dependents;");
  else cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void first(const int *weights, int *made, int *scratch, unsigned does) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (does & triggers_first) trigger(does);
  made[i] = 2 * weights[i] + scratch[i];
}

// Reads what the kernel before made, and `older`, of the one before that; writes `made` and, early, `scratch`.
__global__ void later(const int *before, const int *older, const int *weights, int *made, int *scratch, unsigned does) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  if (does & triggers_first) trigger(does);
  if (does & reads_weights_early) sum += weights[i];
  if (does & reads_early) sum += before[i];  //~ error: race if reads_early
  if (does & reads_older_early) sum += older[i];  //~ error: race if reads_older_early
  if (does & writes_early) scratch[i] += i + 1;  //~ error: race if writes_early
  if (does & waits || (does & one_waits && threadIdx.x == 0)) wait_for_grids(does);
  if (does & meets) __syncthreads();
  if (does & triggers_late) trigger(does);
  sum += (does & ignores_before ? weights : before)[i];  //~ error: race if reads_late
  made[i] = sum + older[i];  //~ warning: race if reads_unwaited
}

struct Case {
  const char *name;
  unsigned first, second, third;
  const char *between;  // the first and the second
};
const Case cases[] = {
    {"waits", triggers_first, waits, waits, ""},
    {"waits_by_ptx", triggers_first | by_ptx, waits | by_ptx, waits | by_ptx, ""},
    {"reads_weights_early", triggers_first, waits | reads_weights_early, waits, ""},
    {"one_waits_and_all_meet", triggers_first, one_waits | meets, waits, ""},
    {"third_reads_the_first_after_the_second_waited", triggers_first, waits | triggers_late, waits | reads_older_early, ""},
    {"third_reads_the_first_and_the_second_never_triggers", triggers_first, waits, waits | reads_older_early, ""},
    {"third_reads_the_first_and_the_second_only_waits", triggers_first, triggers_first | ignores_before | waits, waits, ""},
    {"third_reads_the_first_by_a_full_launch", triggers_first, triggers_first | ignores_before, waits, "full third"},
    {"writes_what_an_ended_kernel_read", 0, waits | writes_early, waits, ""},
    {"no_wait_after_a_copy", triggers_first, 0, waits, "copy"},
    {"no_wait_after_an_event", triggers_first, 0, waits, "event"},
    {"no_wait_without_the_attribute", triggers_first, 0, waits, "full"},
    {"reads_before_the_wait", triggers_first, waits | reads_early, waits, ""},
    {"never_waits", triggers_first, 0, waits, ""},
    {"never_waits_and_nothing_triggers", 0, 0, waits, ""},
    {"third_reads_the_first_before_the_second_waited", triggers_first, triggers_first | waits, waits | reads_older_early, ""},
    {"third_reads_the_first_that_the_second_never_waits_for", triggers_first, triggers_first | ignores_before, waits, ""},
    {"writes_before_the_wait", triggers_first, waits | writes_early, waits, ""},
    {"one_waits_and_nothing_tells_the_others", triggers_first, one_waits, waits, ""},
};

int *arrays[5];  // weights, what each kernel made, scratch
cudaStream_t stream;

void launch(int which, unsigned does, bool early) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = n / 64, config.blockDim = 64, config.stream = stream;
  config.attrs = &attribute, config.numAttrs = early;
  const int *weights = arrays[0];
  if (which == 1) {
    CHECK(cudaLaunchKernelEx(&config, first, weights, arrays[1], arrays[4], does));
    return;
  }
  const int *before = arrays[which - 1], *older = which == 3 ? arrays[1] : arrays[0];
  void *arguments[] = {&before, &older, &weights, &arrays[which], &arrays[4], &does};
  CHECK(cudaLaunchKernelExC(&config, (const void *)later, arguments));
}

void do_between(const char *what) {
  if (!strcmp(what, "copy")) CHECK(cudaMemsetAsync(arrays[3], 0, n * sizeof(int), stream));
  cudaEvent_t event;
  if (!strcmp(what, "event")) { CHECK(cudaEventCreate(&event)); CHECK(cudaEventRecord(event, stream)); }
}

void replay(cudaGraph_t graph) {
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 2; i++) CHECK(cudaGraphLaunch(exec, stream));
}

// The three as nodes, joined by programmatic edges from this port.
void add_nodes(const Case &one, unsigned char port) {
  cudaGraph_t graph;
  cudaGraphNode_t nodes[3];
  CHECK(cudaGraphCreate(&graph, 0));
  for (int which = 1; which <= 3; which++) {
    const int *before = arrays[which - 1], *older = which == 3 ? arrays[1] : arrays[0], *weights = arrays[0];
    unsigned does = which == 1 ? one.first : which == 2 ? one.second : one.third;
    void *of_first[] = {&weights, &arrays[1], &arrays[4], &does};
    void *of_later[] = {&before, &older, &weights, &arrays[which], &arrays[4], &does};
    cudaKernelNodeParams node = {};
    node.func = which == 1 ? (void *)first : (void *)later;
    node.gridDim = n / 64, node.blockDim = 64, node.kernelParams = which == 1 ? of_first : of_later;
    CHECK(cudaGraphAddKernelNode(&nodes[which - 1], graph, nullptr, 0, &node));
  }
  cudaGraphEdgeData edge = {};
  edge.from_port = port, edge.type = port ? cudaGraphDependencyTypeProgrammatic : cudaGraphDependencyTypeDefault;
  for (int i = 0; i < 2; i++) CHECK(cudaGraphAddDependencies(graph, &nodes[i], &nodes[i + 1], &edge, 1));
  cudaGraphEdgeData kept[2];
  cudaGraphNode_t from[2], to[2];
  size_t count = 2;
  CHECK(cudaGraphGetEdges(graph, from, to, kept, &count));
  if (count != 2 || kept[0].from_port != port || kept[1].type != edge.type) exit(2);
  replay(graph);
}

// One case: launched on a stream, captured from it, or as nodes with edges from a port.
void run(const char *way, const Case &one) {
  if (!strncmp(way, "port", 4)) return add_nodes(one, static_cast<unsigned char>(atoi(way + 4)));
  bool is_captured = !strcmp(way, "capture");
  if (is_captured) CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  launch(1, one.first, false);
  do_between(one.between);
  launch(2, one.second, strcmp(one.between, "full"));
  launch(3, one.third, strcmp(one.between, "full third"));
  cudaGraph_t graph;
  if (is_captured) { CHECK(cudaStreamEndCapture(stream, &graph)); replay(graph); }
}

int main(int count, char **given) {
  CHECK(cudaStreamCreate(&stream));
  for (int *&array : arrays) { CHECK(cudaMalloc(&array, n * sizeof(int))); CHECK(cudaMemset(array, 0, n * sizeof(int))); }
  for (int i = 1; i + 1 < count; i += 2) {
    CHECK(cudaDeviceSynchronize());
    for (const Case &one : cases)
      if (!strcmp(one.name, given[i + 1])) run(given[i], one), puts(one.name);
  }
  CHECK(cudaDeviceSynchronize());
}
