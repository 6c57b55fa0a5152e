// CUDA graphs: work that is recorded, by capturing streams or node by node, and done when its graph is launched.
//
// A node waits only for those that it depends on: two that a graph leaves unordered are as concurrent as work on two
// streams. A chain of nodes shares a lane, which is a timeline (work.h).
#include "graph.h"

#include "../runtime/checker.h"
#include "../runtime/state.h"
#include "nested_launches.h"

using namespace cuda_on_cpu;

struct CudaOnCpuGraphExec {
  Graph *graph;
  Timeline *lanes;
  size_t lane_count;
  Done done;  // the launch before
  bool frees_on_launch;
};

namespace cuda_on_cpu {

namespace {

struct Replay {
  Timeline lane;      // of the current node
  const Node *node;
  uint32_t launches;  // of graphs
  bool frees_on_launch;
  int line;  // that launched the graph
};
PerRun<Replay> replay;

}  // namespace

Timeline lane_of_graph() { return replay.lane; }
bool is_in_graph() { return replay.lane != of_host; }
int line_of_graph() { return is_in_graph() ? replay.line : 0; }

bool node_may_begin_early() {
  for (size_t b = 0; b < replay.node->before_count; b++)
    if (replay.node->before[b].edge != Edge::full) return true;
  return false;
}

Shared *work_of(const Again &again) {
  Shared *work = made<Shared>();
  work->again = again;
  return work;
}

static void let_go(Shared *work) {
  if (--work->graphs) return;
  work->again.forget(work->again.arguments);
  free(work);
}

void replace_work(Node *node, Shared *work) {
  work->graphs++;
  let_go(node->work);
  node->work = work;
}

// Of two edges between the same nodes the full one counts.
void depend(Node *node, Node *on, Edge edge) {
  for (size_t i = 0; i < node->before_count; i++) {
    if (node->before[i].on != on) continue;
    if (edge == Edge::full) node->before[i].edge = edge;
    return;
  }
  append(node->before, node->before_count, Dependency{on, edge});
}

bool depends_on(const Node *node, const Node *on) {
  for (size_t i = 0; i < node->before_count; i++)
    if (node->before[i].on == on) return true;
  return false;
}

void remove_dependency(Node *node, const Node *on) {
  size_t kept = 0;
  for (size_t i = 0; i < node->before_count; i++)
    if (node->before[i].on != on) node->before[kept++] = node->before[i];
  node->before_count = kept;
}

Node *add(Graph *graph, Shared *work) {
  Node *node = made<Node>();
  node->work = work;
  node->graph = graph;
  node->number = static_cast<uint32_t>(graph->count);
  work->graphs++;
  append(graph->nodes, graph->count, node);
  return node;
}

static void free_node(Node *node) {
  let_go(node->work);
  free(node->before);
  free(node);
}

void remove(Node *node) {
  Graph *graph = node->graph;
  for (size_t i = node->number; i + 1 < graph->count; i++) (graph->nodes[i] = graph->nodes[i + 1])->number--;
  graph->count--;
  for (size_t i = 0; i < graph->count; i++) remove_dependency(graph->nodes[i], node);
  free_node(node);
}

void destroy(Graph *graph) {
  for (size_t i = 0; i < graph->count; i++) free_node(graph->nodes[i]);
  free(graph->nodes);
  free(graph);
}

Graph *copy_of(const Graph *graph) {
  Graph *copy = made<Graph>();
  auto **copies = static_cast<Node **>(calloc(graph->count + 1, sizeof(Node *)));
  auto is_copied = [&](const Node *node) { return copies[node->number] != nullptr; };
  auto waits = [&](const Node *node) {
    for (size_t b = 0; b < node->before_count; b++)
      if (!is_copied(node->before[b].on)) return true;
    return false;
  };
  for (size_t before = ~size_t{0}; copy->count != before && copy->count < graph->count;) {
    before = copy->count;
    for (size_t i = 0; i < graph->count; i++) {
      const Node *from = graph->nodes[i];
      if (is_copied(from) || waits(from)) continue;
      Node *node = copies[i] = add(copy, from->work);
      node->original = from;
      node->is_off = from->is_off;
      for (size_t b = 0; b < from->before_count; b++) depend(node, copies[from->before[b].on->number], from->before[b].edge);
    }
  }
  free(copies);
  if (copy->count == graph->count) return copy;
  destroy(copy);
  return nullptr;
}

namespace {

// A node uses the lane of one that it waits for, unless another node already does.
void find_lanes(CudaOnCpuGraphExec *exec) {
  uint32_t lanes = 0;
  for (size_t i = 0; i < exec->graph->count; i++) {
    Node *node = exec->graph->nodes[i];
    node->lane = lanes;
    for (size_t b = 0; b < node->before_count && node->lane == lanes; b++)
      if (Node *on = node->before[b].on; !on->lane_goes_on) node->lane = on->lane, on->lane_goes_on = true;
    if (node->lane == lanes) lanes++;
  }
  while (exec->lane_count < lanes) append(exec->lanes, exec->lane_count, make_timeline(false));
}

}  // namespace

CudaOnCpuGraphExec *instantiated(const Graph *graph) {
  Graph *copy = copy_of(graph);
  if (!copy) return nullptr;
  for (size_t i = 0; i < copy->count; i++)
    if (Node *node = copy->nodes[i]; node->work->again.type == cudaGraphNodeTypeConditional) {
      Shared *work = instantiated_condition(node->work->again);
      if (!work) return destroy(copy), nullptr;
      replace_work(node, work);
    }
  auto *exec = made<CudaOnCpuGraphExec>();
  exec->graph = copy;
  find_lanes(exec);
  return exec;
}

void destroy_exec(CudaOnCpuGraphExec *exec) {
  for (size_t i = 0; i < exec->lane_count; i++) end_timeline(exec->lanes[i]);
  destroy(exec->graph);
  free(exec->lanes);
  free(exec);
}

bool frees_on_launch() { return replay.frees_on_launch; }

namespace {

// What comes before the first instruction of a kernel that some edge lets begin early.
Beginning beginning_of(const Node &node, const Done &start) {
  Beginning made = {start, start};
  for (size_t b = 0; b < node.before_count; b++) {
    const Node &on = *node.before[b].on;
    switch (node.before[b].edge) {
      case Edge::full: join(made, {on.done, on.done}); break;
      case Edge::from_trigger: join(made, on.at_trigger); break;
      case Edge::from_start: join(made, on.at_start); break;
    }
  }
  return made;
}

void note_what_dependents_know(Node &node, Timeline lane) {
  record(lane, node.done);
  bool is_kernel = node.work->again.type == cudaGraphNodeTypeKernel && !node.is_off;
  node.at_start = is_kernel ? beginning_of_last(lane) : Beginning{node.done, node.done};
  node.at_trigger = is_kernel ? beginning_at_trigger(lane) : node.at_start;
}

cudaError_t done_on(Timeline own, CudaOnCpuGraphExec *exec) {
  Timeline outer = replay.lane;
  const Node *outer_node = replay.node;
  wait_for(own, exec->done);  // launches of one graph follow each other
  uint32_t number = ++replay.launches;
  Done start;
  record(own, start);
  for (size_t i = 0; i < exec->graph->count; i++) {
    Node &node = *exec->graph->nodes[i];
    Timeline lane = exec->lanes[node.lane];
    begin_lane(lane, start, number);
    for (size_t b = 0; b < node.before_count; b++) wait_for(lane, node.before[b].on->done);
    let_begin_early(lane, beginning_of(node, start));
    replay.lane = lane, replay.node = &node;
    cudaError_t error = node.is_off ? cudaSuccess : node.work->again.does(node.work->again.arguments);
    replay.lane = outer, replay.node = outer_node;
    if (error != cudaSuccess) return error;
    note_what_dependents_know(node, lane);
    wait_for(own, node.done);
  }
  record(own, exec->done);
  return cudaSuccess;
}

cudaError_t do_child(void *arguments) {
  begin_conditions(static_cast<CudaOnCpuGraphExec *>(arguments)->graph);
  return done_on(replay.lane, static_cast<CudaOnCpuGraphExec *>(arguments));
}
void forget_child(void *arguments) { destroy_exec(static_cast<CudaOnCpuGraphExec *>(arguments)); }

// The instance's node that corresponds to a node of the graph that it was made from.
Node *node_in(const CudaOnCpuGraphExec *exec, const Node *node) {
  for (size_t i = 0; exec && i < exec->graph->count; i++)
    if (exec->graph->nodes[i]->original == node) return exec->graph->nodes[i];
  return nullptr;
}

bool are_alike(const Graph &one, const Graph &other) {
  bool alike = one.count == other.count;
  for (size_t i = 0; alike && i < one.count; i++) {
    const Node &a = *one.nodes[i], &b = *other.nodes[i];
    alike = a.work->again.does == b.work->again.does && a.before_count == b.before_count;
    for (size_t k = 0; alike && k < a.before_count; k++) alike = a.before[k].on->number == b.before[k].on->number && a.before[k].edge == b.before[k].edge;
  }
  return alike;
}

cudaError_t updated(CudaOnCpuGraphExec *exec, cudaGraph_t graph, cudaGraphExecUpdateResult &result) {
  Graph *other = exec && graph ? copy_of(graph) : nullptr;
  for (size_t i = 0; other && i < other->count; i++)
    if (other->nodes[i]->work->again.type == cudaGraphNodeTypeConditional) host_refuses("kfuzz: an instance of a graph with conditional nodes is updated");
  bool alike = other && are_alike(*exec->graph, *other);
  for (size_t i = 0; alike && i < other->count; i++) replace_work(exec->graph->nodes[i], other->nodes[i]->work);
  if (other) destroy(other);
  result = alike ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged;
  return alike ? cudaSuccess : returns(cudaErrorGraphExecUpdateFailure);
}

}  // namespace

cudaError_t done_in_node(CudaOnCpuGraphExec *exec) { return done_on(replay.lane, exec); }

cudaError_t child_of(const Graph *graph, Again &again) {
  CudaOnCpuGraphExec *exec = instantiated(graph);
  again = {cudaGraphNodeTypeGraph, do_child, exec, forget_child};
  return exec ? cudaSuccess : returns(cudaErrorInvalidValue);
}

Graph *graph_of(const CudaOnCpuGraphExec *exec) { return exec->graph; }
Graph *graph_of_child(const Again &child) { return graph_of(static_cast<CudaOnCpuGraphExec *>(child.arguments)); }

cudaError_t replace_work_in(CudaOnCpuGraphExec *exec, const Node *node, Shared *work) {
  Node *own = node_in(exec, node);
  if (!own || own->work->again.type != work->again.type) return returns(cudaErrorInvalidValue);
  replace_work(own, work);
  return cudaSuccess;
}

}  // namespace cuda_on_cpu

CUDA_ON_CPU_API cudaError_t cuda_on_cpu_instantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) {
  Alone alone;
  *exec = graph ? instantiated(graph) : nullptr;
  if (*exec) (*exec)->frees_on_launch = flags & cudaGraphInstantiateFlagAutoFreeOnLaunch;
  return *exec ? cudaSuccess : returns(cudaErrorInvalidValue);
}
CUDA_ON_CPU_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info) {
  Alone alone;
  cudaGraphExecUpdateResultInfo about = {};
  cudaError_t error = updated(exec, graph, about.result);
  if (info) *info = about;
  return error;
}
CUDA_ON_CPU_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  Alone alone;
  if (!exec) return returns(cudaErrorInvalidValue);
  destroy_exec(exec);
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t) {
  Alone alone;
  return exec ? cudaSuccess : returns(cudaErrorInvalidValue);
}
CUDA_ON_CPU_API cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream, int line) {
  Alone alone;
  refuse_to_kernels("cudaGraphLaunch()");
  if (!exec || !is_stream(stream)) return returns(cudaErrorInvalidValue);
  if (!is_captured(stream)) {
    begin_conditions(exec->graph);
    replay.frees_on_launch = exec->frees_on_launch;
    replay.line = line;
    return done_on(timeline_of(stream), exec);
  }
  Again again;
  cudaError_t error = child_of(exec->graph, again);
  return error == cudaSuccess ? capture(stream, again) : error;
}

CUDA_ON_CPU_API cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int is_enabled) {
  Alone alone;
  Node *own = node_in(exec, node);
  if (!own) return returns(cudaErrorInvalidValue);
  own->is_off = !is_enabled;
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int *is_enabled) {
  Alone alone;
  const Node *own = node_in(exec, node);
  if (!own) return returns(cudaErrorInvalidValue);
  *is_enabled = !own->is_off;
  return cudaSuccess;
}
