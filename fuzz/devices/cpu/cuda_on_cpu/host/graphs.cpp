// CUDA graphs: work that is written down by capturing streams, and done when its graph is launched.
//
// A node waits for those that it depends on and for nothing else: two that a graph leaves unordered are as concurrent as
// work on two streams. A chain of nodes shares a lane, which is a timeline (work.h).
#include <cstdlib>
#include <cstring>

#include "../runtime/checker.h"
#include "host.h"

using namespace cuda_on_cpu;

namespace {

// A piece of work, for the graph that it was captured in and for all that were made of that.
struct Shared {
  Again again;
  int graphs;
};

struct Node {
  Shared *work;
  Node **before;  // what it depends on
  size_t before_count;
  uint32_t number, lane;  // in its graph; the lane is found when it is instantiated
  bool lane_goes_on;      // another node has taken the lane over
  Done done;
};

}  // namespace

struct CudaOnCpuGraph {
  Node **nodes;  // none before one that it depends on
  size_t count;
};

struct CudaOnCpuGraphExec {
  CudaOnCpuGraph *graph;
  Timeline *lanes;
  size_t lane_count;
  Done done;  // the launch before
};

namespace {

using Graph = CudaOnCpuGraph;

template <class T>
void append(T *&to, size_t &count, T value) {
  to = static_cast<T *>(realloc(to, (count + 1) * sizeof(T)));
  to[count++] = value;
}

template <class T>
T *made() {
  return static_cast<T *>(calloc(1, sizeof(T)));
}

void depend(Node *node, Node *on) {
  for (size_t i = 0; i < node->before_count; i++)
    if (node->before[i] == on) return;
  append(node->before, node->before_count, on);
}

Node *add(Graph *graph, Shared *work) {
  Node *node = made<Node>();
  node->work = work;
  node->number = static_cast<uint32_t>(graph->count);
  work->graphs++;
  append(graph->nodes, graph->count, node);
  return node;
}

void destroy(Graph *graph) {
  for (size_t i = 0; i < graph->count; i++) {
    Node *node = graph->nodes[i];
    if (--node->work->graphs == 0) {
      node->work->again.forget(node->work->again.arguments);
      free(node->work);
    }
    free(node->before);
    free(node);
  }
  free(graph->nodes);
  free(graph);
}

Graph *copy_of(const Graph *graph) {
  Graph *copy = made<Graph>();
  for (size_t i = 0; i < graph->count; i++) {
    const Node *from = graph->nodes[i];
    Node *node = add(copy, from->work);
    for (size_t b = 0; b < from->before_count; b++) depend(node, copy->nodes[from->before[b]->number]);
  }
  return copy;
}

// A node goes on in the lane of one that it waits for, unless another does already.
void find_lanes(CudaOnCpuGraphExec *exec) {
  uint32_t lanes = 0;
  for (size_t i = 0; i < exec->graph->count; i++) {
    Node *node = exec->graph->nodes[i];
    node->lane = lanes;
    for (size_t b = 0; b < node->before_count && node->lane == lanes; b++)
      if (!node->before[b]->lane_goes_on) node->lane = node->before[b]->lane, node->before[b]->lane_goes_on = true;
    if (node->lane == lanes) lanes++;
  }
  while (exec->lane_count < lanes) append(exec->lanes, exec->lane_count, make_timeline(false));
}

// What a stream that is being captured has come to.
struct Capture {
  cudaStream_t stream;
  Graph *graph;  // of the capture that it takes part in
  Node **last;
  size_t last_count;
  bool is_origin;
};
constexpr int most_captures = 64;
Capture captures[most_captures];
Timeline replayed_in;  // the lane of the node that is being done

Capture *capture_of(cudaStream_t stream) {
  for (Capture &one : captures)
    if (one.graph && one.stream == stream) return &one;
  return nullptr;
}

bool is_under_way(const void *graph) {
  for (const Capture &one : captures)
    if (one.graph && one.graph == graph) return true;
  return false;
}

Capture *begin_capture(cudaStream_t stream, Graph *graph, bool is_origin) {
  for (Capture &one : captures) {
    if (one.graph) continue;
    one = {stream, graph, nullptr, 0, is_origin};
    return &one;
  }
  return nullptr;
}

}  // namespace

namespace cuda_on_cpu {

bool is_captured(cudaStream_t stream) { return !replayed_in && capture_of(stream); }

Timeline lane_of_graph() { return replayed_in; }

cudaError_t capture(cudaStream_t stream, const Again &again) {
  Capture &own = *capture_of(stream);
  Shared *work = made<Shared>();
  work->again = again;
  Node *node = add(own.graph, work);
  for (size_t i = 0; i < own.last_count; i++) depend(node, own.last[i]);
  own.last_count = 0;
  append(own.last, own.last_count, node);
  return cudaSuccess;
}

void capture_event(cudaStream_t stream, CapturedEvent &event) {
  const Capture &own = *capture_of(stream);
  event.capture = own.graph;
  event.count = 0;
  for (size_t i = 0; i < own.last_count; i++) append(event.last, event.count, static_cast<void *>(own.last[i]));
}

cudaError_t capture_wait(cudaStream_t stream, const CapturedEvent &event) {
  Capture *own = capture_of(stream);
  if (!own && is_under_way(event.capture)) own = begin_capture(stream, static_cast<Graph *>(event.capture), false);
  if (!own || own->graph != event.capture) return returns(cudaErrorStreamCaptureIsolation);
  for (size_t i = 0; i < event.count; i++) append(own->last, own->last_count, static_cast<Node *>(event.last[i]));
  return cudaSuccess;
}

void forget_captures() {
  for (Capture &one : captures) one = {};
  replayed_in = of_host;
}

}  // namespace cuda_on_cpu

CUDA_ON_CPU_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (!is_stream(stream)) return returns(cudaErrorInvalidResourceHandle);
  if (timeline_of(stream) == legacy_stream) return returns(cudaErrorStreamCaptureUnsupported);
  if (capture_of(stream) || !begin_capture(stream, made<Graph>(), true)) return returns(cudaErrorIllegalState);
  return cudaSuccess;
}

CUDA_ON_CPU_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  Capture *own = capture_of(stream);
  *graph = nullptr;
  if (!own || !own->is_origin) return returns(own ? cudaErrorStreamCaptureUnmatched : cudaErrorIllegalState);
  Graph *captured = own->graph;
  // All that was forked has to be joined: what comes last on another stream is something that a node waits for.
  bool all_joined = true;
  for (Capture &other : captures) {
    if (other.graph != captured) continue;
    for (size_t i = 0; i < other.last_count && &other != own; i++) {
      bool joined = false;
      for (size_t k = 0; k < own->last_count; k++) joined |= own->last[k] == other.last[i];
      for (size_t n = 0; n < captured->count && !joined; n++)
        for (size_t b = 0; b < captured->nodes[n]->before_count; b++) joined |= captured->nodes[n]->before[b] == other.last[i];
      all_joined &= joined;
    }
  }
  for (Capture &other : captures) {
    if (other.graph != captured) continue;
    free(other.last);
    other = {};
  }
  if (!all_joined) {
    destroy(captured);
    return returns(cudaErrorStreamCaptureUnjoined);
  }
  *graph = captured;
  return cudaSuccess;
}

CUDA_ON_CPU_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
  *status = capture_of(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

CUDA_ON_CPU_API cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  if (!graph) return returns(cudaErrorInvalidValue);
  destroy(graph);
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
  for (size_t i = 0; nodes && i < *count && i < graph->count; i++) nodes[i] = reinterpret_cast<cudaGraphNode_t>(graph->nodes[i]);
  if (!nodes || graph->count < *count) *count = graph->count;
  return cudaSuccess;
}

CUDA_ON_CPU_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long) {
  if (!graph) return returns(cudaErrorInvalidValue);
  *exec = made<CudaOnCpuGraphExec>();
  (*exec)->graph = copy_of(graph);
  find_lanes(*exec);
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info) {
  bool is_alike = exec && graph && exec->graph->count == graph->count;
  for (size_t i = 0; is_alike && i < graph->count; i++) {
    const Node &own = *exec->graph->nodes[i], &other = *graph->nodes[i];
    is_alike = own.work->again.does == other.work->again.does && own.before_count == other.before_count;
    for (size_t b = 0; is_alike && b < own.before_count; b++) is_alike = own.before[b]->number == other.before[b]->number;
  }
  if (info) *info = {is_alike ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged, nullptr, nullptr};
  if (!is_alike) return returns(cudaErrorGraphExecUpdateFailure);
  destroy(exec->graph);
  exec->graph = copy_of(graph);
  find_lanes(exec);
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  if (!exec) return returns(cudaErrorInvalidValue);
  for (size_t i = 0; i < exec->lane_count; i++) end_timeline(exec->lanes[i]);
  destroy(exec->graph);
  free(exec->lanes);
  free(exec);
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t) {
  return exec ? cudaSuccess : returns(cudaErrorInvalidValue);
}

CUDA_ON_CPU_API cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  if (!exec || !is_stream(stream)) return returns(cudaErrorInvalidValue);
  Timeline own = timeline_of(stream);
  wait_for(own, exec->done);  // one launch of it after the other
  Done start;
  record(own, start);
  for (size_t i = 0; i < exec->graph->count; i++) {
    Node &node = *exec->graph->nodes[i];
    Timeline lane = exec->lanes[node.lane];
    begin_lane(lane, start);
    for (size_t b = 0; b < node.before_count; b++) wait_for(lane, node.before[b]->done);
    replayed_in = lane;
    cudaError_t error = node.work->again.does(node.work->again.arguments);
    replayed_in = of_host;
    if (error != cudaSuccess) return error;
    record(lane, node.done);
    wait_for(own, node.done);
  }
  record(own, exec->done);
  return cudaSuccess;
}
