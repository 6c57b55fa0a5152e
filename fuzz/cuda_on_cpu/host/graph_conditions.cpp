// Conditional nodes of graphs: their bodies are graphs, of which a value that kernels set chooses.
#include "../runtime/repetitions.h"
#include "../runtime/state.h"
#include "graph.h"

using namespace cuda_on_cpu;

namespace {

struct Value {
  unsigned int now, at_launch;
  bool is_assigned;  // at each launch
};
constexpr uint64_t most_values = 1024;
struct Values {
  Value at[most_values] = {};
  uint64_t count = 0;
};
PerRun<Values> values;

// A node: in a graph it owns its bodies, in an instance their instances.
struct Condition {
  Value *value;
  cudaGraphConditionalNodeType type;
  unsigned int size;
  Graph **bodies;
  CudaOnCpuGraphExec **instances;
};

cudaError_t do_condition(void *arguments) {
  const auto &c = *static_cast<Condition *>(arguments);
  cudaError_t error = cudaSuccess;
  switch (c.type) {
    case cudaGraphCondTypeIf:  // the second body, if there is one, is that of else
      if (c.value->now) return done_in_node(c.instances[0]);
      return c.size > 1 ? done_in_node(c.instances[1]) : error;
    case cudaGraphCondTypeWhile:
      while (c.value->now && error == cudaSuccess) error = done_in_node(c.instances[0]);
      return error;
    case cudaGraphCondTypeSwitch: return c.value->now < c.size ? done_in_node(c.instances[c.value->now]) : error;
  }
  return error;
}

void forget_condition(void *arguments) {
  auto *c = static_cast<Condition *>(arguments);
  for (unsigned int i = 0; c->bodies && i < c->size; i++) destroy(c->bodies[i]);
  for (unsigned int i = 0; c->instances && i < c->size; i++)
    if (c->instances[i]) destroy_exec(c->instances[i]);
  free(c->bodies);
  free(c->instances);
  free(c);
}

Condition *kept(const Condition &condition) {
  auto *c = made<Condition>();
  *c = condition;
  return c;
}

}  // namespace

namespace cuda_on_cpu {

Shared *instantiated_condition(const Again &condition) {
  const auto &from = *static_cast<Condition *>(condition.arguments);
  Condition *c = kept({from.value, from.type, from.size, nullptr, static_cast<CudaOnCpuGraphExec **>(calloc(from.size, sizeof(CudaOnCpuGraphExec *)))});
  bool is_whole = true;
  for (unsigned int i = 0; i < c->size; i++) is_whole = (c->instances[i] = instantiated(from.bodies[i])) && is_whole;
  if (is_whole) return work_of({condition.type, condition.does, c, condition.forget});
  forget_condition(c);
  return nullptr;
}

void begin_conditions(const Graph *of_instance) {
  for (size_t i = 0; i < of_instance->count; i++) {
    const Again &again = of_instance->nodes[i]->work->again;
    if (again.type != cudaGraphNodeTypeConditional) continue;
    const auto &c = *static_cast<Condition *>(again.arguments);
    if (c.value->is_assigned) c.value->now = c.value->at_launch;
    for (unsigned int body = 0; body < c.size; body++) begin_conditions(graph_of(c.instances[body]));
  }
}

}  // namespace cuda_on_cpu

CUDA_ON_CPU_API cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t graph, unsigned int value, unsigned int flags) {
  Alone alone;
  if (!handle || !graph || flags & ~unsigned{cudaGraphCondAssignDefault}) return returns(cudaErrorInvalidValue);
  if (values.count == most_values) host_refuses("kfuzz: a program has more than 1024 conditional handles");
  values.at[values.count++] = {0, value, (flags & cudaGraphCondAssignDefault) != 0};
  *handle = values.count;
  return cudaSuccess;
}

// A kernel that does it changes more than memory.
CUDA_ON_CPU_API void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value) {
  note_other_effect();
  if (handle && handle <= values.count) values.at[handle - 1].now = value;
}

CUDA_ON_CPU_API cudaError_t cuda_on_cpu_add_conditional_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count,
                                                             cudaConditionalNodeParams *asked) {
  Alone alone;
  unsigned int most = asked->type == cudaGraphCondTypeSwitch ? 1 << 16 : asked->type == cudaGraphCondTypeIf ? 2 : 1;
  if (!asked->handle || asked->handle > values.count || !asked->size || asked->size > most) return returns(cudaErrorInvalidValue);
  auto **bodies = static_cast<Graph **>(calloc(asked->size, sizeof(Graph *)));
  for (unsigned int i = 0; i < asked->size; i++) bodies[i] = made<Graph>();
  asked->phGraph_out = bodies;
  Condition *c = kept({&values.at[asked->handle - 1], asked->type, asked->size, bodies, nullptr});
  cudaError_t error = add_work(node, graph, before, count, {cudaGraphNodeTypeConditional, do_condition, c, forget_condition});
  if (error != cudaSuccess) forget_condition(c);
  return error;
}
