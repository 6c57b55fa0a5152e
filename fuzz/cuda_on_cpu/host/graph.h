// A CUDA graph as it is stored: pieces of work, and which of them wait for which.
#pragma once
#include "host.h"
#include "include/cuda_on_cpu_host/graphs.h"

namespace cuda_on_cpu {

// The host's parameters of a node, for queries; the arguments of a kernel lie in the record of its launch.
union Said {
  cudaKernelNodeParams kernel;
  cudaMemcpy3DParms copy;
  cudaMemsetParams set;
  cudaHostNodeParams host;
  CudaOnCpuGraph *child;
  cudaEvent_t event;
  Said() {}
};

// A piece of work, for the graph that it was made for and all graphs made from that.
struct Shared {
  Again again;
  int graphs;
  bool is_said;  // from an explicit node; otherwise from a captured stream
  Said said;
};

}  // namespace cuda_on_cpu

namespace cuda_on_cpu {

// When a node that depends on another may begin: when that is over, or has triggered in all blocks, or has begun.
enum class Edge : unsigned char { full, from_trigger, from_start };

struct Dependency {
  CudaOnCpuGraphNode *on;
  Edge edge;
};

}  // namespace cuda_on_cpu

struct CudaOnCpuGraphNode {
  cuda_on_cpu::Shared *work;
  cuda_on_cpu::Dependency *before;  // what it depends on
  size_t before_count;
  const CudaOnCpuGraphNode *original;  // the node that it is a copy of
  CudaOnCpuGraph *graph;
  uint32_t number, lane;  // in its graph; the lane is chosen at instantiation
  bool lane_goes_on;      // another node has taken over the lane
  bool is_off;
  cuda_on_cpu::Done done;
  cuda_on_cpu::Beginning at_start, at_trigger;  // what its dependents know, depending on the edge
};

struct CudaOnCpuGraph {
  CudaOnCpuGraphNode **nodes;
  size_t count;
};

namespace cuda_on_cpu {

using Graph = CudaOnCpuGraph;
using Node = CudaOnCpuGraphNode;

template <class T>
void append(T *&to, size_t &count, T value) {
  to = static_cast<T *>(realloc(to, (count + 1) * sizeof(T)));
  to[count++] = value;
}

template <class T>
T *made() { return static_cast<T *>(calloc(1, sizeof(T))); }

// From graphs.cpp.
Node *add(Graph *graph, Shared *work);
Shared *work_of(const Again &again);
void replace_work(Node *node, Shared *work);
void depend(Node *node, Node *on, Edge edge = Edge::full);
bool depends_on(const Node *node, const Node *on);
void remove_dependency(Node *node, const Node *on);
void remove(Node *node);
Graph *copy_of(const Graph *graph);  // each after those that it depends on; null if they wait for each other
void destroy(Graph *graph);

cudaError_t replace_work_in(CudaOnCpuGraphExec *exec, const Node *node, Shared *work);
cudaError_t child_of(const Graph *graph, Again &again);
Graph *graph_of_child(const Again &child);
Graph *graph_of(const CudaOnCpuGraphExec *exec);

// An instance, also of what a node does. `done_in_node` is called while the node is being done.
CudaOnCpuGraphExec *instantiated(const Graph *graph);
void destroy_exec(CudaOnCpuGraphExec *exec);
cudaError_t done_in_node(CudaOnCpuGraphExec *exec);
bool frees_on_launch();  // the instance whose node is being done

// From graph_conditions.cpp: such a node as it is in an instance; and the values that a launch begins with.
Shared *instantiated_condition(const Again &condition);
void begin_conditions(const Graph *of_instance);
// From graph_memory.cpp: allocations and frees that are captured.
cudaError_t capture_allocation(cudaStream_t stream, void **to, size_t bytes, int line, uint64_t pc);
cudaError_t capture_free(cudaStream_t stream, void *memory, int line, uint64_t pc);

// From graph_nodes.cpp: a node as one asks for it, after others.
cudaError_t add_work(cudaGraphNode_t *node, Graph *graph, const cudaGraphNode_t *before, size_t count, const Again &again);

// From captures.cpp: work on stream_of_nodes() between the two becomes a node of this graph.
void begin_node(Graph *graph, Node *const *before, size_t count);
Node *end_node(size_t count_before);  // null if there was none
cudaStream_t stream_of_nodes();       // from order.cpp

}  // namespace cuda_on_cpu
