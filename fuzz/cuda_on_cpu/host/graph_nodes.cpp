// Graphs made node by node. A node is what one call asks of a stream that is captured for it alone (captures.cpp), so that
// it is taken or refused, and reported, as that call is.
#include "graph.h"

#include <cstdio>

#include "include/cuda_on_cpu_host/launching_attributes.h"

using namespace cuda_on_cpu;

namespace {

const char *const names_of_types[] = {"kernel", "memcpy", "memset", "host", "graph", "empty", "wait", "record", "", "", "allocation", "free", "", "conditional"};

// A node as one asks for it: nowhere yet, or in a graph after others.
struct Wanted {
  cudaGraphNode_t *node;
  cudaGraph_t graph;
  const cudaGraphNode_t *before;
  size_t count;
};

cudaError_t nothing_again(void *) { return cudaSuccess; }
void forget_nothing(void *) {}
constexpr Again nothing_to_do = {cudaGraphNodeTypeEmpty, nothing_again, nullptr, forget_nothing};

bool is_in(const Graph *graph, const Node *node) { return node && node->graph == graph; }

template <class Call>
cudaError_t added(const Wanted &at, Call call) {
  if (!at.graph || !at.node || (at.count && !at.before)) return returns(cudaErrorInvalidValue);
  for (size_t i = 0; i < at.count; i++)
    if (!is_in(at.graph, at.before[i])) return returns(cudaErrorInvalidValue);
  size_t count_before = at.graph->count;
  begin_node(at.graph, at.before, at.count);
  cudaError_t error = call(stream_of_nodes());
  if (error == cudaSuccess && at.graph->count == count_before) capture(stream_of_nodes(), nothing_to_do);  // a copy of no bytes
  Node *made = end_node(count_before);
  if (error != cudaSuccess) return error;
  *at.node = made;
  return cudaSuccess;
}

// The same work as a node is, asked for again, takes its place.
template <class Call>
cudaError_t exchanged(cudaGraphExec_t exec, Node *node, Call call) {
  if (!node) return returns(cudaErrorInvalidValue);
  Graph *alone = made<Graph>();
  Node *other = nullptr;
  cudaError_t error = call(Wanted{&other, alone, nullptr, 0});
  if (error == cudaSuccess && exec) error = replace_work_in(exec, node, other->work);
  if (error == cudaSuccess && !exec && node->work->again.type != other->work->again.type) error = returns(cudaErrorInvalidValue);
  if (error == cudaSuccess && !exec) replace_work(node, other->work);
  destroy(alone);
  return error;
}

const Said *said_of(const Node *node, cudaGraphNodeType type) {
  if (!node || node->work->again.type != type) return nullptr;
  if (!node->work->is_said) host_refuses("kfuzz does not record the parameters of a node that stream capture made");
  return &node->work->said;
}

Said &say(const Wanted &at) {
  (*at.node)->work->is_said = true;
  return (*at.node)->work->said;
}

cudaError_t add_kernel(const Wanted &at, const cudaKernelNodeParams &asked, int line, const void *frame) {
  if (asked.extra) host_refuses("kfuzz: a kernel node takes its arguments by kernelParams, not by extra");
  cudaError_t error = added(at, [&](cudaStream_t stream) {
    return launch_by_address(asked.func, asked.kernelParams,
                             {asked.gridDim, asked.blockDim, asked.sharedMemBytes, stream, line, 0, {}, frame});
  });
  if (error != cudaSuccess) return error;
  say(at).kernel = asked;
  say(at).kernel.kernelParams = arguments_of((*at.node)->work->again);
  return cudaSuccess;
}

cudaError_t add_copy(const Wanted &at, const cudaMemcpy3DParms &asked, int line, const void *back) {
  cudaError_t error = added(at, [&](cudaStream_t stream) { return copy_on(stream, asked, line, back); });
  if (error == cudaSuccess) say(at).copy = asked;
  return error;
}

cudaError_t add_set(const Wanted &at, const cudaMemsetParams &asked, int line, const void *back) {
  cudaError_t error = added(at, [&](cudaStream_t stream) { return set_on(stream, asked, line, back); });
  if (error == cudaSuccess) say(at).set = asked;
  return error;
}

cudaError_t add_host(const Wanted &at, const cudaHostNodeParams &asked) {
  cudaError_t error = added(at, [&](cudaStream_t stream) { return cudaLaunchHostFunc(stream, asked.fn, asked.userData); });
  if (error == cudaSuccess) say(at).host = asked;
  return error;
}

cudaError_t add_child(const Wanted &at, const Graph *child) {
  Again again;
  cudaError_t error = child ? child_of(child, again) : returns(cudaErrorInvalidValue);
  if (error != cudaSuccess) return error;
  error = added(at, [&](cudaStream_t stream) { return capture(stream, again); });
  if (error == cudaSuccess) say(at).child = graph_of_child((*at.node)->work->again);
  return error;
}

}  // namespace

cudaError_t cuda_on_cpu::add_work(cudaGraphNode_t *node, Graph *graph, const cudaGraphNode_t *before, size_t count, const Again &again) {
  return added({node, graph, before, count}, [&](cudaStream_t stream) { return capture(stream, again); });
}

namespace {

// Of a list that is asked for twice: how long it is, and then what is in it.
template <class Each>
cudaError_t listed(size_t *count, size_t room, Each each) {
  size_t found = 0;
  each([&](auto put) {
    if (found++ < room) put(found - 1);
  });
  if (!room || found < *count) *count = found;
  return cudaSuccess;
}

template <class IsWanted>
cudaError_t nodes_that(const Graph *graph, cudaGraphNode_t *nodes, size_t *count, IsWanted is_wanted) {
  if (!graph || !count) return returns(cudaErrorInvalidValue);
  return listed(count, nodes ? *count : 0, [&](auto list) {
    for (size_t i = 0; i < graph->count; i++)
      if (is_wanted(graph->nodes[i])) list([&](size_t at) { nodes[at] = graph->nodes[i]; });
  });
}

// An edge is full, or begins at the trigger or at the start of a kernel.
Edge edge_of(const cudaGraphEdgeData &data) {
  if (data.from_port == cudaGraphKernelNodePortProgrammatic) return Edge::from_trigger;
  return data.from_port == cudaGraphKernelNodePortLaunchCompletion ? Edge::from_start : Edge::full;
}
cudaGraphEdgeData data_of(Edge edge) {
  if (edge == Edge::full) return {};
  auto port = edge == Edge::from_trigger ? cudaGraphKernelNodePortProgrammatic : cudaGraphKernelNodePortLaunchCompletion;
  return {static_cast<unsigned char>(port), 0, cudaGraphDependencyTypeProgrammatic, {}};
}
bool is_edge(const cudaGraphEdgeData &data, const Node *from, const Node *to) {
  if (data.to_port || data.from_port > cudaGraphKernelNodePortLaunchCompletion) return false;
  bool is_programmatic = data.type == cudaGraphDependencyTypeProgrammatic, from_kernel = from->work->again.type == cudaGraphNodeTypeKernel;
  if (data.type > cudaGraphDependencyTypeProgrammatic || (data.from_port && !from_kernel)) return false;
  if (!is_programmatic) return data.from_port != cudaGraphKernelNodePortProgrammatic;
  return data.from_port && to->work->again.type == cudaGraphNodeTypeKernel;
}

}  // namespace

CUDA_ON_CPU_API cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int) {
  Alone alone;
  *graph = made<Graph>();
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph) {
  Alone alone;
  for (size_t i = 0; graph && i < graph->count; i++)
    if (graph->nodes[i]->work->again.type == cudaGraphNodeTypeConditional) host_refuses("kfuzz: a graph with conditional nodes is cloned");
  *clone = graph ? copy_of(graph) : nullptr;
  return *clone ? cudaSuccess : returns(cudaErrorInvalidValue);
}
CUDA_ON_CPU_API cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  Alone alone;
  if (!graph) return returns(cudaErrorInvalidValue);
  destroy(graph);
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  Alone alone;
  if (!node) return returns(cudaErrorInvalidValue);
  remove(node);
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *found, cudaGraphNode_t original, cudaGraph_t clone) {
  Alone alone;
  *found = nullptr;
  for (size_t i = 0; clone && i < clone->count; i++)
    if (clone->nodes[i]->original == original) *found = clone->nodes[i];
  return *found ? cudaSuccess : returns(cudaErrorInvalidValue);
}
CUDA_ON_CPU_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *type) {
  Alone alone;
  if (!node) return returns(cudaErrorInvalidValue);
  *type = node->work->again.type;
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
  Alone alone;
  return nodes_that(graph, nodes, count, [](const Node *) { return true; });
}
CUDA_ON_CPU_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
  Alone alone;
  return nodes_that(graph, nodes, count, [](const Node *node) { return !node->before_count; });
}
CUDA_ON_CPU_API cudaError_t cuda_on_cpu_nodes_before(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count) {
  Alone alone;
  return node ? nodes_that(node->graph, nodes, count, [&](const Node *other) { return depends_on(node, other); })
              : returns(cudaErrorInvalidValue);
}
CUDA_ON_CPU_API cudaError_t cuda_on_cpu_nodes_behind(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count) {
  Alone alone;
  return node ? nodes_that(node->graph, nodes, count, [&](const Node *other) { return depends_on(other, node); })
              : returns(cudaErrorInvalidValue);
}
CUDA_ON_CPU_API cudaError_t cuda_on_cpu_graph_edges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                                    cudaGraphEdgeData *edges, size_t *count) {
  Alone alone;
  if (!graph || !count) return returns(cudaErrorInvalidValue);
  return listed(count, from && to ? *count : 0, [&](auto list) {
    for (size_t i = 0; i < graph->count; i++)
      for (size_t b = 0; b < graph->nodes[i]->before_count; b++)
        list([&](size_t at) {
          const Dependency &one = graph->nodes[i]->before[b];
          from[at] = one.on, to[at] = graph->nodes[i];
          if (edges) edges[at] = data_of(one.edge);
        });
  });
}
CUDA_ON_CPU_API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned int) {
  Alone alone;
  FILE *file = graph ? fopen(path, "w") : nullptr;
  if (!file) return returns(cudaErrorInvalidValue);
  fputs("digraph {\n", file);
  for (size_t i = 0; i < graph->count; i++) {
    fprintf(file, "  %zu [label=\"%s\"];\n", i, names_of_types[graph->nodes[i]->work->again.type]);
    for (size_t b = 0; b < graph->nodes[i]->before_count; b++) fprintf(file, "  %u -> %zu;\n", graph->nodes[i]->before[b].on->number, i);
  }
  fputs("}\n", file);
  return fclose(file) ? returns(cudaErrorUnknown) : cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cuda_on_cpu_add_dependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                                         const cudaGraphEdgeData *edges, size_t count) {
  Alone alone;
  for (size_t i = 0; i < count; i++)
    if (!graph || !is_in(graph, from[i]) || !is_in(graph, to[i]) || from[i] == to[i] || (edges && !is_edge(edges[i], from[i], to[i])))
      return returns(cudaErrorInvalidValue);
  for (size_t i = 0; i < count; i++) depend(to[i], from[i], edges ? edge_of(edges[i]) : Edge::full);
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cuda_on_cpu_remove_dependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                                            const cudaGraphEdgeData *, size_t count) {
  Alone alone;
  for (size_t i = 0; i < count; i++)
    if (!graph || !is_in(graph, to[i]) || !depends_on(to[i], from[i])) return returns(cudaErrorInvalidValue);
  for (size_t i = 0; i < count; i++) remove_dependency(to[i], from[i]);
  return cudaSuccess;
}

#define NODE(what, ...)                                                                                                            \
  CUDA_ON_CPU_API cudaError_t cudaGraphAdd##what(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count, \
                                                 ##__VA_ARGS__)
#define WANTED (Wanted{node, graph, before, count})

NODE(KernelNode, const cudaKernelNodeParams *asked, int line) { return add_kernel(WANTED, *asked, line, __builtin_frame_address(0)); }
NODE(MemcpyNode, const cudaMemcpy3DParms *asked, int line) { return add_copy(WANTED, *asked, line, __builtin_return_address(0)); }
NODE(MemcpyNode1D, void *to, const void *from, size_t bytes, cudaMemcpyKind kind, int line) {
  return add_copy(WANTED, plain_copy(to, from, bytes, kind), line, __builtin_return_address(0));
}
NODE(MemsetNode, const cudaMemsetParams *asked, int line) { return add_set(WANTED, *asked, line, __builtin_return_address(0)); }
NODE(HostNode, const cudaHostNodeParams *asked) { return add_host(WANTED, *asked); }
NODE(ChildGraphNode, cudaGraph_t child) { return add_child(WANTED, child); }
NODE(EmptyNode) {
  return added(WANTED, [](cudaStream_t) { return cudaSuccess; });
}
NODE(EventRecordNode, cudaEvent_t event) {
  return added(WANTED, [&](cudaStream_t stream) { return cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal); });
}
NODE(EventWaitNode, cudaEvent_t event) {
  return added(WANTED, [&](cudaStream_t stream) { return cudaStreamWaitEvent(stream, event, cudaEventWaitExternal); });
}

CUDA_ON_CPU_API cudaError_t cuda_on_cpu_set_kernel_node(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaKernelNodeParams *asked,
                                                        int line) {
  Alone alone;
  const void *frame = __builtin_frame_address(0);
  return exchanged(exec, node, [&](const Wanted &at) { return add_kernel(at, *asked, line, frame); });
}
CUDA_ON_CPU_API cudaError_t cuda_on_cpu_set_copy_node(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemcpy3DParms *asked, int line) {
  Alone alone;
  const void *back = __builtin_return_address(0);
  return exchanged(exec, node, [&](const Wanted &at) { return add_copy(at, *asked, line, back); });
}
CUDA_ON_CPU_API cudaError_t cuda_on_cpu_set_memset_node(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemsetParams *asked, int line) {
  Alone alone;
  const void *back = __builtin_return_address(0);
  return exchanged(exec, node, [&](const Wanted &at) { return add_set(at, *asked, line, back); });
}
CUDA_ON_CPU_API cudaError_t cuda_on_cpu_set_host_node(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaHostNodeParams *asked) {
  Alone alone;
  return exchanged(exec, node, [&](const Wanted &at) { return add_host(at, *asked); });
}
CUDA_ON_CPU_API cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child) {
  Alone alone;
  return exec ? exchanged(exec, node, [&](const Wanted &at) { return add_child(at, child); }) : returns(cudaErrorInvalidValue);
}

#define GETTER(name, node_type, part, to)                                                 \
  CUDA_ON_CPU_API cudaError_t name(cudaGraphNode_t node, decltype(Said::part) *to) {      \
    const Said *said = said_of(node, node_type);                                          \
    if (!said) return returns(cudaErrorInvalidValue);                                     \
    *to = said->part;                                                                     \
    return cudaSuccess;                                                                   \
  }
GETTER(cudaGraphKernelNodeGetParams, cudaGraphNodeTypeKernel, kernel, asked)
GETTER(cudaGraphMemcpyNodeGetParams, cudaGraphNodeTypeMemcpy, copy, asked)
GETTER(cudaGraphMemsetNodeGetParams, cudaGraphNodeTypeMemset, set, asked)
GETTER(cudaGraphHostNodeGetParams, cudaGraphNodeTypeHost, host, asked)
GETTER(cudaGraphChildGraphNodeGetGraph, cudaGraphNodeTypeGraph, child, graph)

// Of what may be said of a launch, clusters alone are seen here.
CUDA_ON_CPU_API cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attribute,
                                                            const cudaLaunchAttributeValue *value) {
  Alone alone;
  if (!node || node->work->again.type != cudaGraphNodeTypeKernel) return returns(cudaErrorInvalidValue);
  if (attribute != cudaLaunchAttributeClusterDimension) return cudaSuccess;
  ClusterSides cluster = {{value->clusterDim.x, value->clusterDim.y, value->clusterDim.z}};
  return set_clusters(node->work->again, cluster) ? cudaSuccess : returns(cudaErrorInvalidClusterSize);
}
