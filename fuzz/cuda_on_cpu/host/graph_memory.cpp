// Nodes of graphs that allocate and free memory. Its address is known when the node is made; the memory is there while the
// graph is between the two nodes, or until it is freed otherwise.
#include <initializer_list>

#include "../runtime/arena.h"
#include "../runtime/memory_map.h"
#include "../runtime/repetitions.h"
#include "../runtime/state.h"
#include "asked.h"
#include "graph.h"

using namespace cuda_on_cpu;

namespace {

struct Amounts {
  uint64_t most = 0, reserved = 0, most_reserved = 0;
};
PerRun<Amounts> amounts;

uint64_t used() {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < run->buffer_count; i++) {
    const Buffer &b = run->buffers[i];
    if (b.flags & is_of_graph && !(b.flags & is_freed)) bytes += b.bytes;
  }
  return bytes;
}

struct MemoryNode {
  void *memory;
  Asked by;
};

cudaError_t do_free(void *arguments) {
  const auto &node = *static_cast<MemoryNode *>(arguments);
  return free_on(node.memory, node.by);
}

cudaError_t do_allocate(void *arguments) {
  const auto &node = *static_cast<MemoryNode *>(arguments);
  Buffer *b = device_array_at(node.memory);
  if (!b) return returns(cudaErrorInvalidValue);
  if (!(b->flags & is_freed)) {
    cudaError_t error = frees_on_launch() ? free_on(node.memory, node.by) : returns(cudaErrorInvalidValue);
    if (error != cudaSuccess) return error;
  }
  Within runtime;
  note_memory_change();
  b->flags &= ~is_freed;
  poison_buffer(*run, *b);
  if (run->check) {
    mark_array(*b);
    Working work(timeline_of(node.by.stream), Work::allocation, false);
    moves(b->address, b->bytes, Move::allocates, node.by, work);
    checker_has_moved();
  }
  uint64_t now = used();
  for (uint64_t *most : {&amounts.most, &amounts.reserved, &amounts.most_reserved})
    if (now > *most) *most = now;
  return cudaSuccess;
}

Again node_that(cudaGraphNodeType type, cudaError_t (*does)(void *), void *memory, int line, uint64_t pc) {
  auto *node = static_cast<MemoryNode *>(malloc(sizeof(MemoryNode)));
  *node = {memory, {line, pc, nullptr, false}};
  return {type, does, node, free};
}

uint64_t place_of(const void *back) { return asked(0, back, nullptr, false).pc; }

}  // namespace

namespace cuda_on_cpu {

cudaError_t capture_allocation(cudaStream_t stream, void **to, size_t bytes, int line, uint64_t pc) {
  cudaError_t error = reserve_for_graph(to, bytes, line);
  return error == cudaSuccess ? capture(stream, node_that(cudaGraphNodeTypeMemAlloc, do_allocate, *to, line, pc)) : error;
}

cudaError_t capture_free(cudaStream_t stream, void *memory, int line, uint64_t pc) {
  return capture(stream, node_that(cudaGraphNodeTypeMemFree, do_free, memory, line, pc));
}

}  // namespace cuda_on_cpu

CUDA_ON_CPU_API cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count,
                                                     cudaMemAllocNodeParams *asked_for, int line) {
  Alone alone;
  const cudaMemLocation &where = asked_for->poolProps.location;
  if (!asked_for->bytesize || asked_for->poolProps.allocType != cudaMemAllocationTypePinned || where.type != cudaMemLocationTypeDevice || where.id)
    return returns(cudaErrorInvalidValue);
  cudaError_t error = reserve_for_graph(&asked_for->dptr, asked_for->bytesize, line);
  if (error != cudaSuccess) return error;
  return add_work(node, graph, before, count,
                  node_that(cudaGraphNodeTypeMemAlloc, do_allocate, asked_for->dptr, line, place_of(__builtin_return_address(0))));
}
CUDA_ON_CPU_API cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count,
                                                    void *memory, int line) {
  Alone alone;
  const Buffer *b = device_array_at(memory);
  if (!b || b->address != memory || !(b->flags & is_of_graph)) return returns(cudaErrorInvalidValue);
  return add_work(node, graph, before, count, node_that(cudaGraphNodeTypeMemFree, do_free, memory, line, place_of(__builtin_return_address(0))));
}

CUDA_ON_CPU_API cudaError_t cudaDeviceGraphMemTrim(int device) {
  Alone alone;
  amounts.reserved = used();
  return device ? returns(cudaErrorInvalidDevice) : cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void *value) {
  Alone alone;
  if (device) return returns(cudaErrorInvalidDevice);
  const uint64_t all[] = {used(), amounts.most, amounts.reserved, amounts.most_reserved};
  memcpy(value, &all[attribute], sizeof all[attribute]);
  return cudaSuccess;
}
// The two largest amounts alone can be set, to 0.
CUDA_ON_CPU_API cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void *) {
  Alone alone;
  if (device) return returns(cudaErrorInvalidDevice);
  if (attribute == cudaGraphMemAttrUsedMemHigh) return amounts.most = used(), cudaSuccess;
  if (attribute == cudaGraphMemAttrReservedMemHigh) return amounts.most_reserved = amounts.reserved, cudaSuccess;
  return returns(cudaErrorInvalidValue);
}
