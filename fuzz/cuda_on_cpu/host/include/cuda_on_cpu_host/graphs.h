// CUDA graphs of the runtime API: captured, or made node by node. The functions are in ../../{graph*,captures}.cpp.
//
// Where CUDA 11, 12 and 13 take different parameters, all variants are accepted.
#pragma once
#include "api.h"

enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed };
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive, cudaStreamCaptureStatusInvalidated };
enum cudaStreamUpdateCaptureDependenciesFlags { cudaStreamAddCaptureDependencies, cudaStreamSetCaptureDependencies };
enum cudaGraphInstantiateFlags {
  cudaGraphInstantiateFlagAutoFreeOnLaunch = 1,
  cudaGraphInstantiateFlagUpload = 2,
  cudaGraphInstantiateFlagDeviceLaunch = 4,
  cudaGraphInstantiateFlagUseNodePriority = 8
};
enum cudaGraphExecUpdateResult { cudaGraphExecUpdateSuccess = 0, cudaGraphExecUpdateError = 1, cudaGraphExecUpdateErrorTopologyChanged = 2 };
struct cudaGraphExecUpdateResultInfo {
  cudaGraphExecUpdateResult result;
  cudaGraphNode_t errorNode, errorFromNode;
};
struct cudaKernelNodeParams {
  void *func;
  dim3 gridDim, blockDim;
  unsigned int sharedMemBytes;
  void **kernelParams, **extra;
};
struct cudaMemsetParams {
  void *dst;
  size_t pitch;
  unsigned int value, elementSize;
  size_t width, height;
};
struct cudaHostNodeParams {
  cudaHostFn_t fn;
  void *userData;
};
struct cudaMemAllocNodeParams {
  cudaMemPoolProps poolProps;
  const cudaMemAccessDesc *accessDescs;
  size_t accessDescCount, bytesize;
  void *dptr;  // the answer
};
typedef unsigned long long cudaGraphConditionalHandle;
#define cudaGraphCondAssignDefault 1
enum cudaGraphConditionalNodeType { cudaGraphCondTypeIf, cudaGraphCondTypeWhile, cudaGraphCondTypeSwitch };
struct cudaConditionalNodeParams {
  cudaGraphConditionalHandle handle;
  cudaGraphConditionalNodeType type;
  unsigned int size;
  cudaGraph_t *phGraph_out;  // the answer
  void *ctx;
};
struct cudaGraphNodeParams {
  cudaGraphNodeType type;
  int reserved0[3];
  union {
    long long reserved1[29];
    cudaKernelNodeParams kernel;
    struct {
      int flags, reserved;
      cudaMemcpy3DParms copyParams;
    } memcpy;
    cudaMemsetParams memset;
    cudaHostNodeParams host;
    struct {
      cudaGraph_t graph;
    } graph;
    struct {
      cudaEvent_t event;
    } eventWait, eventRecord;
    cudaMemAllocNodeParams alloc;
    struct {
      void *dptr;
    } free;
    cudaConditionalNodeParams conditional;
  };
};
enum cudaGraphMemAttributeType {
  cudaGraphMemAttrUsedMemCurrent,
  cudaGraphMemAttrUsedMemHigh,
  cudaGraphMemAttrReservedMemCurrent,
  cudaGraphMemAttrReservedMemHigh
};
enum cudaGraphDependencyType { cudaGraphDependencyTypeDefault = 0, cudaGraphDependencyTypeProgrammatic = 1 };
#define cudaGraphKernelNodePortDefault 0
#define cudaGraphKernelNodePortProgrammatic 1
#define cudaGraphKernelNodePortLaunchCompletion 2
struct cudaGraphEdgeData {
  unsigned char from_port, to_port, type, reserved[5];
};

CUDA_ON_CPU_RUNTIME cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
CUDA_ON_CPU_RUNTIME cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *before,
                                                  const cudaGraphEdgeData *edges, size_t count, cudaStreamCaptureMode mode);
CUDA_ON_CPU_RUNTIME cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
CUDA_ON_CPU_RUNTIME cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status);
CUDA_ON_CPU_RUNTIME cuda_on_cpu_capture_info(cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id,
                                             cudaGraph_t *graph, const cudaGraphNode_t **last, size_t *count);
CUDA_ON_CPU_RUNTIME cuda_on_cpu_set_captured(cudaStream_t stream, cudaGraphNode_t *nodes, size_t count, unsigned int flags);

CUDA_ON_CPU_RUNTIME cudaGraphCreate(cudaGraph_t *graph, unsigned int flags);
CUDA_ON_CPU_RUNTIME cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph);
CUDA_ON_CPU_RUNTIME cudaGraphDestroy(cudaGraph_t graph);
CUDA_ON_CPU_RUNTIME cudaGraphDestroyNode(cudaGraphNode_t node);
CUDA_ON_CPU_RUNTIME cudaGraphNodeFindInClone(cudaGraphNode_t *found, cudaGraphNode_t original, cudaGraph_t clone);
CUDA_ON_CPU_RUNTIME cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *type);
CUDA_ON_CPU_RUNTIME cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count);
enum cudaGraphDebugDotFlags { cudaGraphDebugDotFlagsVerbose = 1 };
CUDA_ON_CPU_RUNTIME cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned int flags);
CUDA_ON_CPU_RUNTIME cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count);
CUDA_ON_CPU_RUNTIME cuda_on_cpu_graph_edges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *edges,
                                            size_t *count);
CUDA_ON_CPU_RUNTIME cuda_on_cpu_nodes_before(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count);
CUDA_ON_CPU_RUNTIME cuda_on_cpu_nodes_behind(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count);
CUDA_ON_CPU_RUNTIME cuda_on_cpu_add_dependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                                 const cudaGraphEdgeData *edges, size_t count);
CUDA_ON_CPU_RUNTIME cuda_on_cpu_remove_dependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                                    const cudaGraphEdgeData *edges, size_t count);

#define CUDA_ON_CPU_NODE(what) \
  CUDA_ON_CPU_RUNTIME cudaGraphAdd##what(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count
CUDA_ON_CPU_NODE(KernelNode), const cudaKernelNodeParams *asked, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_NODE(MemcpyNode), const cudaMemcpy3DParms *asked, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_NODE(MemcpyNode1D), void *to, const void *from, size_t bytes, cudaMemcpyKind kind, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_NODE(MemsetNode), const cudaMemsetParams *asked, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_NODE(HostNode), const cudaHostNodeParams *asked);
CUDA_ON_CPU_NODE(ChildGraphNode), cudaGraph_t child);
CUDA_ON_CPU_NODE(EmptyNode));
CUDA_ON_CPU_NODE(EventRecordNode), cudaEvent_t event);
CUDA_ON_CPU_NODE(EventWaitNode), cudaEvent_t event);
CUDA_ON_CPU_NODE(MemAllocNode), cudaMemAllocNodeParams *asked, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_NODE(MemFreeNode), void *memory, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cuda_on_cpu_add_conditional_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count,
                                                     cudaConditionalNodeParams *asked);
CUDA_ON_CPU_RUNTIME cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t graph, unsigned int value = 0,
                                                     unsigned int flags = 0);
CUDA_ON_CPU_IMPORT void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);  // by kernels
CUDA_ON_CPU_RUNTIME cudaDeviceGraphMemTrim(int device);
CUDA_ON_CPU_RUNTIME cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void *value);
CUDA_ON_CPU_RUNTIME cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void *value);

// A node of a graph, or, if `exec` is not null, its counterpart in that instance.
CUDA_ON_CPU_RUNTIME cuda_on_cpu_set_kernel_node(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaKernelNodeParams *asked, int line);
CUDA_ON_CPU_RUNTIME cuda_on_cpu_set_copy_node(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemcpy3DParms *asked, int line);
CUDA_ON_CPU_RUNTIME cuda_on_cpu_set_memset_node(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemsetParams *asked, int line);
CUDA_ON_CPU_RUNTIME cuda_on_cpu_set_host_node(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaHostNodeParams *asked);
CUDA_ON_CPU_RUNTIME cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child);
CUDA_ON_CPU_RUNTIME cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *said);
CUDA_ON_CPU_RUNTIME cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms *said);
CUDA_ON_CPU_RUNTIME cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams *said);
CUDA_ON_CPU_RUNTIME cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams *said);
CUDA_ON_CPU_RUNTIME cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *child);

CUDA_ON_CPU_RUNTIME cuda_on_cpu_instantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags);
CUDA_ON_CPU_RUNTIME cudaGraphExecDestroy(cudaGraphExec_t exec);
CUDA_ON_CPU_RUNTIME cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info);
CUDA_ON_CPU_RUNTIME cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RUNTIME cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream);
CUDA_ON_CPU_RUNTIME cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int is_enabled);
CUDA_ON_CPU_RUNTIME cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int *is_enabled);

#define CUDA_ON_CPU_ALSO CUDA_ON_CPU_INLINE cudaError_t

#define CUDA_ON_CPU_SETTER(what, Params, setter, ...)                                                                  \
  CUDA_ON_CPU_ALSO cudaGraph##what##NodeSetParams(cudaGraphNode_t node, const Params *asked, CUDA_ON_CPU_LINE) {       \
    return setter(nullptr, node, asked, line);                                                                         \
  }                                                                                                                    \
  CUDA_ON_CPU_ALSO cudaGraphExec##what##NodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const Params *asked, \
                                                      CUDA_ON_CPU_LINE) {                                              \
    return setter(exec, node, asked, line);                                                                            \
  }
CUDA_ON_CPU_SETTER(Kernel, cudaKernelNodeParams, cuda_on_cpu_set_kernel_node)
CUDA_ON_CPU_SETTER(Memcpy, cudaMemcpy3DParms, cuda_on_cpu_set_copy_node)
CUDA_ON_CPU_SETTER(Memset, cudaMemsetParams, cuda_on_cpu_set_memset_node)
CUDA_ON_CPU_ALSO cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams *asked) {
  return cuda_on_cpu_set_host_node(nullptr, node, asked);
}
CUDA_ON_CPU_ALSO cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaHostNodeParams *asked) {
  return cuda_on_cpu_set_host_node(exec, node, asked);
}

namespace cuda_on_cpu {
CUDA_ON_CPU_INLINE cudaMemcpy3DParms plain_copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
  cudaMemcpy3DParms asked = {};
  asked.srcPtr = {const_cast<void *>(from), bytes, bytes, 1};
  asked.dstPtr = {to, bytes, bytes, 1};
  asked.extent = {bytes, 1, 1};
  asked.kind = kind;
  return asked;
}
}  // namespace cuda_on_cpu
CUDA_ON_CPU_ALSO cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                                                CUDA_ON_CPU_LINE) {
  cudaMemcpy3DParms asked = cuda_on_cpu::plain_copy(to, from, bytes, kind);
  return cuda_on_cpu_set_copy_node(nullptr, node, &asked, line);
}
CUDA_ON_CPU_ALSO cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const void *from,
                                                    size_t bytes, cudaMemcpyKind kind, CUDA_ON_CPU_LINE) {
  cudaMemcpy3DParms asked = cuda_on_cpu::plain_copy(to, from, bytes, kind);
  return cuda_on_cpu_set_copy_node(exec, node, &asked, line);
}

// With edge data as in CUDA 13, and without.
#define CUDA_ON_CPU_PAIRS(name, function)                                                                                   \
  CUDA_ON_CPU_ALSO name(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count) {          \
    return function(graph, from, to, nullptr, count);                                                                       \
  }                                                                                                                         \
  CUDA_ON_CPU_ALSO name(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,                          \
                        const cudaGraphEdgeData *edges, size_t count) {                                                     \
    return function(graph, from, to, edges, count);                                                                         \
  }                                                                                                                         \
  CUDA_ON_CPU_ALSO name##_v2(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,                     \
                             const cudaGraphEdgeData *edges, size_t count) {                                                \
    return function(graph, from, to, edges, count);                                                                         \
  }
CUDA_ON_CPU_PAIRS(cudaGraphAddDependencies, cuda_on_cpu_add_dependencies)
CUDA_ON_CPU_PAIRS(cudaGraphRemoveDependencies, cuda_on_cpu_remove_dependencies)
CUDA_ON_CPU_ALSO cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count) {
  return cuda_on_cpu_graph_edges(graph, from, to, nullptr, count);
}
CUDA_ON_CPU_ALSO cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *edges, size_t *count) {
  return cuda_on_cpu_graph_edges(graph, from, to, edges, count);
}
CUDA_ON_CPU_ALSO cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *edges, size_t *count) {
  return cuda_on_cpu_graph_edges(graph, from, to, edges, count);
}
#define CUDA_ON_CPU_NEIGHBOURS(name, function)                                                  \
  CUDA_ON_CPU_ALSO name(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count) {          \
    return function(node, nodes, count);                                                        \
  }                                                                                             \
  CUDA_ON_CPU_ALSO name(cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *, size_t *count) { \
    return function(node, nodes, count);                                                        \
  }
CUDA_ON_CPU_NEIGHBOURS(cudaGraphNodeGetDependencies, cuda_on_cpu_nodes_before)
CUDA_ON_CPU_NEIGHBOURS(cudaGraphNodeGetDependentNodes, cuda_on_cpu_nodes_behind)

CUDA_ON_CPU_ALSO cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id = nullptr,
                                          cudaGraph_t *graph = nullptr, const cudaGraphNode_t **last = nullptr, size_t *count = nullptr) {
  return cuda_on_cpu_capture_info(stream, status, id, graph, last, count);
}
CUDA_ON_CPU_ALSO cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id = nullptr,
                                             cudaGraph_t *graph = nullptr, const cudaGraphNode_t **last = nullptr, size_t *count = nullptr) {
  return cuda_on_cpu_capture_info(stream, status, id, graph, last, count);
}
CUDA_ON_CPU_ALSO cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id,
                                          cudaGraph_t *graph, const cudaGraphNode_t **last, const cudaGraphEdgeData **edges, size_t *count) {
  if (edges) *edges = nullptr;
  return cuda_on_cpu_capture_info(stream, status, id, graph, last, count);
}
CUDA_ON_CPU_ALSO cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *nodes, size_t count, unsigned int flags = 0) {
  return cuda_on_cpu_set_captured(stream, nodes, count, flags);
}
CUDA_ON_CPU_ALSO cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *nodes, const cudaGraphEdgeData *, size_t count,
                                                     unsigned int flags = 0) {
  return cuda_on_cpu_set_captured(stream, nodes, count, flags);
}

CUDA_ON_CPU_ALSO cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags = 0) {
  return cuda_on_cpu_instantiate(exec, graph, flags);
}
CUDA_ON_CPU_ALSO cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags = 0) {
  return cuda_on_cpu_instantiate(exec, graph, flags);
}
CUDA_ON_CPU_ALSO cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *, char *, size_t) {
  return cuda_on_cpu_instantiate(exec, graph, 0);
}
CUDA_ON_CPU_ALSO cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *node, cudaGraphExecUpdateResult *result) {
  cudaGraphExecUpdateResultInfo about = {};
  cudaError_t error = cudaGraphExecUpdate(exec, graph, &about);
  if (node) *node = about.errorNode;
  if (result) *result = about.result;
  return error;
}

// A node of any type. Its answers, if it has some, are in `asked`.
CUDA_ON_CPU_ALSO cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count,
                                  cudaGraphNodeParams *asked, CUDA_ON_CPU_LINE) {
  switch (asked->type) {
    case cudaGraphNodeTypeKernel: return cudaGraphAddKernelNode(node, graph, before, count, &asked->kernel, line);
    case cudaGraphNodeTypeMemcpy: return cudaGraphAddMemcpyNode(node, graph, before, count, &asked->memcpy.copyParams, line);
    case cudaGraphNodeTypeMemset: return cudaGraphAddMemsetNode(node, graph, before, count, &asked->memset, line);
    case cudaGraphNodeTypeHost: return cudaGraphAddHostNode(node, graph, before, count, &asked->host);
    case cudaGraphNodeTypeGraph: return cudaGraphAddChildGraphNode(node, graph, before, count, asked->graph.graph);
    case cudaGraphNodeTypeEmpty: return cudaGraphAddEmptyNode(node, graph, before, count);
    case cudaGraphNodeTypeWaitEvent: return cudaGraphAddEventWaitNode(node, graph, before, count, asked->eventWait.event);
    case cudaGraphNodeTypeEventRecord: return cudaGraphAddEventRecordNode(node, graph, before, count, asked->eventRecord.event);
    case cudaGraphNodeTypeMemAlloc: return cudaGraphAddMemAllocNode(node, graph, before, count, &asked->alloc, line);
    case cudaGraphNodeTypeMemFree: return cudaGraphAddMemFreeNode(node, graph, before, count, asked->free.dptr, line);
    case cudaGraphNodeTypeConditional: return cuda_on_cpu_add_conditional_node(node, graph, before, count, &asked->conditional);
  }
  return cudaErrorInvalidValue;
}
// With edge data, as in CUDA 13.
CUDA_ON_CPU_ALSO cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, const cudaGraphEdgeData *edges,
                                  size_t count, cudaGraphNodeParams *asked, CUDA_ON_CPU_LINE) {
  if (!edges) return cudaGraphAddNode(node, graph, before, count, asked, line);
  cudaError_t error = cudaGraphAddNode(node, graph, nullptr, 0, asked, line);
  for (size_t i = 0; i < count && error == cudaSuccess; i++) error = cuda_on_cpu_add_dependencies(graph, &before[i], node, &edges[i], 1);
  return error;
}
