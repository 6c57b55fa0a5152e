// Captured streams: their work becomes nodes of a graph. A node that is added by itself is made in the same way, from a
// stream that has no other purpose.
#include "../runtime/state.h"
#include "graph.h"

using namespace cuda_on_cpu;

namespace {

// The state of a stream that is being captured.
struct Capture {
  cudaStream_t stream;
  Graph *graph;  // of the capture that it belongs to
  Node **last;
  size_t last_count;
  bool is_origin;
};
constexpr int most_captures = 64;
struct Captures {
  Capture at[most_captures];
  ~Captures() {
    for (const Capture &one : at) free(one.last);
  }
};
PerRun<Captures> captures;

Capture *capture_of(cudaStream_t stream) {
  for (Capture &one : captures.at)
    if (one.graph && one.stream == stream) return &one;
  return nullptr;
}

bool is_under_way(const void *graph) {
  for (const Capture &one : captures.at)
    if (one.graph && one.graph == graph) return true;
  return false;
}

Capture *begin_capture(cudaStream_t stream, Graph *graph, bool is_origin) {
  for (Capture &one : captures.at) {
    if (one.graph) continue;
    one = {stream, graph, nullptr, 0, is_origin};
    return &one;
  }
  return nullptr;
}

void end_capture(Capture &one) {
  free(one.last);
  one = {};
}

bool is_among(const Node *node, Node *const *nodes, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (nodes[i] == node) return true;
  return false;
}

// Everything that was forked has to be joined: a node waits for the last work on another stream.
bool is_joined(const Capture &origin) {
  for (const Capture &other : captures.at) {
    if (other.graph != origin.graph || &other == &origin) continue;
    for (size_t i = 0; i < other.last_count; i++) {
      bool joined = is_among(other.last[i], origin.last, origin.last_count);
      for (size_t n = 0; n < origin.graph->count && !joined; n++)
        joined = depends_on(origin.graph->nodes[n], other.last[i]);
      if (!joined) return false;
    }
  }
  return true;
}

}  // namespace

namespace cuda_on_cpu {

bool is_captured(cudaStream_t stream) { return !lane_of_graph() && capture_of(stream); }

cudaError_t capture(cudaStream_t stream, const Again &again, bool may_begin_early) {
  Capture &own = *capture_of(stream);
  Node *node = add(own.graph, work_of(again));
  bool is_early = may_begin_early && own.last_count == 1 && own.last[0]->work->again.type == cudaGraphNodeTypeKernel;
  for (size_t i = 0; i < own.last_count; i++) depend(node, own.last[i], is_early ? Edge::from_trigger : Edge::full);
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

void begin_node(Graph *graph, Node *const *before, size_t count) {
  Capture *own = begin_capture(stream_of_nodes(), graph, false);
  for (size_t i = 0; i < count; i++) append(own->last, own->last_count, before[i]);
}

Node *end_node(size_t count_before) {
  Capture &own = *capture_of(stream_of_nodes());
  Node *made = own.graph->count > count_before ? own.graph->nodes[count_before] : nullptr;
  end_capture(own);
  return made;
}

}  // namespace cuda_on_cpu

static cudaError_t begun(cudaStream_t stream, Graph *graph, const cudaGraphNode_t *before, size_t count) {
  if (!is_stream(stream)) return returns(cudaErrorInvalidResourceHandle);
  if (timeline_of(stream) == legacy_stream) return returns(cudaErrorStreamCaptureUnsupported);
  Capture *own = capture_of(stream) ? nullptr : begin_capture(stream, graph ? graph : made<Graph>(), true);
  if (!own) return returns(cudaErrorIllegalState);
  for (size_t i = 0; i < count; i++) append(own->last, own->last_count, before[i]);
  return cudaSuccess;
}

CUDA_ON_CPU_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  Alone alone;
  return begun(stream, nullptr, nullptr, 0);
}
CUDA_ON_CPU_API cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *before,
                                                          const cudaGraphEdgeData *, size_t count, cudaStreamCaptureMode) {
  Alone alone;
  return graph ? begun(stream, graph, before, count) : returns(cudaErrorInvalidValue);
}

CUDA_ON_CPU_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  Alone alone;
  Capture *own = capture_of(stream);
  if (graph) *graph = nullptr;
  if (!own || !own->is_origin) return returns(own ? cudaErrorStreamCaptureUnmatched : cudaErrorIllegalState);
  Graph *captured = own->graph;
  bool all_joined = is_joined(*own);
  for (Capture &other : captures.at)
    if (other.graph == captured) end_capture(other);
  if (!all_joined) {
    destroy(captured);
    return returns(cudaErrorStreamCaptureUnjoined);
  }
  if (graph) *graph = captured;
  return cudaSuccess;
}

static cudaStreamCaptureStatus status_of(const Capture *own) {
  return own ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
}

CUDA_ON_CPU_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
  Alone alone;
  *status = status_of(capture_of(stream));
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cuda_on_cpu_capture_info(cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id,
                                                     cudaGraph_t *graph, const cudaGraphNode_t **last, size_t *count) {
  Alone alone;
  const Capture *own = capture_of(stream);
  *status = status_of(own);
  if (id) *id = own ? static_cast<unsigned long long>(own - captures.at) + 1 : 0;
  if (graph) *graph = own ? own->graph : nullptr;
  if (last) *last = own ? own->last : nullptr;
  if (count) *count = own ? own->last_count : 0;
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cuda_on_cpu_set_captured(cudaStream_t stream, cudaGraphNode_t *nodes, size_t count, unsigned int flags) {
  Alone alone;
  Capture *own = capture_of(stream);
  if (!own) return returns(cudaErrorIllegalState);
  if (flags & cudaStreamSetCaptureDependencies) own->last_count = 0;
  for (size_t i = 0; i < count; i++) append(own->last, own->last_count, nodes[i]);
  return cudaSuccess;
}
