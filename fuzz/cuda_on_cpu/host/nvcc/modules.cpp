// The modules of a program that nvcc has compiled: its host code registers what it calls each kernel and variable, and
// launches kernels by these names.
#include <pthread.h>

#include <cstdlib>
#include <cstring>

#include "../../include/cuda_on_cpu/ptx/program.h"
#include "../include/cuda_on_cpu_host/api_templates.h"
#include "../include/cuda_on_cpu_host/launching_by_address.h"
#include "nvcc.h"

namespace cuda_on_cpu {

namespace {

constexpr size_t header = 128;
// A kernel as the host knows it, and how the runtime keeps its arguments.
struct HostKernel {
  const void *named;
  const PtxKernel *kernel;
  Keeping keeping;
  HostKernel *next;
};
struct HostVariable {
  const void *named;
  void *at;
  size_t bytes;
  HostVariable *next;
};
struct Configuration {
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
  int line;
  Configuration *next;
};
HostKernel *kernels;
HostVariable *variables;
// Of each thread of the host: the launches whose arguments are being made, the innermost first; and the line of the last one.
// Not thread_local, which in a program means __shared__.
struct OfThread {
  Configuration *configured;
  int launch_line;
};
pthread_key_t key;
pthread_once_t once = PTHREAD_ONCE_INIT;
OfThread &of_thread() {
  pthread_once(&once, [] { pthread_key_create(&key, [](void *own) { delete static_cast<OfThread *>(own); }); });
  auto *own = static_cast<OfThread *>(pthread_getspecific(key));
  if (!own) pthread_setspecific(key, own = new OfThread{});
  return *own;
}
int line_of_launch(int otherwise) {
  int line = of_thread().launch_line;
  of_thread().launch_line = 0;
  return line ? line : otherwise;
}

// The arguments of a launch: after the kernel's own description its parameters, as a GPU lays them out.
struct Given {
  const PtxKernel *kernel;
};
CUDA_ON_CPU_UNCHECKED void invoke(void **context) {
  auto *given = static_cast<Given *>(context[0]);
  given->kernel->body(reinterpret_cast<uint64_t>(given) + header);
}
void *room_for(const PtxKernel &kernel) {
  size_t bytes = header + (kernel.bytes + header - 1) / header * header;
  return memset(aligned_alloc(header, bytes), 0, bytes);
}
void *kept(const void *from) {
  const PtxKernel &kernel = *static_cast<const Given *>(from)->kernel;
  return memcpy(room_for(kernel), from, header + kernel.bytes);
}
void forget(void *given) { free(given); }

HostKernel *find(const void *named) {
  for (HostKernel *one = kernels; one; one = one->next)
    if (one->named == named) return one;
  return nullptr;
}

// The kernel's own clusters and its limits on a block count where a launch says nothing else.
cudaError_t launch(const HostKernel *host, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream, int line,
                   unsigned int how, ClusterSides cluster) {
  if (!host) return cuda_on_cpu_launch_by_address(nullptr, grid, block, arguments, shared, stream, line, how, cluster);
  const PtxKernel &kernel = *host->kernel;
  if (kernel.count && !arguments) return cudaErrorInvalidValue;
  auto *given = static_cast<Given *>(room_for(kernel));
  given->kernel = &kernel;
  for (uint32_t i = 0; i < kernel.count; i++)
    memcpy(reinterpret_cast<char *>(given) + header + kernel.places[i].at, arguments[i], kernel.places[i].bytes);
  if (kernel.cluster[0] && !cluster.of[0]) cluster = {{kernel.cluster[0], kernel.cluster[1], kernel.cluster[2]}};
  cudaError_t error = cuda_on_cpu_host_launch(grid, block, shared, stream, reinterpret_cast<const void *>(kernel.body), invoke,
                                              given, &host->keeping, line, how, cluster);
  forget(given);
  return error;
}

}  // namespace

const void *kernel_of(const void *named) {
  const HostKernel *found = find(named);
  return found ? reinterpret_cast<const void *>(found->kernel->body) : named;
}

void *variable_of(const void *named, size_t *bytes) {
  for (HostVariable *one = variables; one; one = one->next)
    if (one->named == named) {
      if (bytes) *bytes = one->bytes;
      return one->at;
    }
  return nullptr;
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

NVCC_HIDDEN void kfuzz_nvcc___cudaRegisterFatBinaryEnd(void **) {}
NVCC_HIDDEN void kfuzz_nvcc___cudaUnregisterFatBinary(void **) {}
NVCC_HIDDEN char kfuzz_nvcc___cudaInitModule(void **) { return 1; }
NVCC_HIDDEN void kfuzz_nvcc___cudaRegisterFunction(void **module, const char *named, char *, const char *name, int, void *, void *,
                                                  void *, void *, int *) {
  auto &program = *reinterpret_cast<const PtxProgram *>(module);
  for (uint32_t i = 0; i < program.kernel_count; i++) {
    const PtxKernel &kernel = program.kernels[i];
    if (!strcmp(kernel.name, name)) kernels = new HostKernel{named, &kernel, {kept, forget, header + kernel.bytes, true}, kernels};
  }
}
// A variable that no kernel uses is not in the module; the host may copy to it all the same.
static void *place_of(void **module, const char *name, size_t bytes) {
  auto &program = *reinterpret_cast<const PtxProgram *>(module);
  for (uint32_t i = 0; i < program.symbol_count; i++)
    if (!strcmp(program.symbols[i].name, name)) return program.symbols[i].at;
  return calloc(1, bytes);
}
NVCC_HIDDEN void kfuzz_nvcc___cudaRegisterVar(void **module, char *named, char *, const char *name, int, size_t bytes, int, int) {
  variables = new HostVariable{named, place_of(module, name, bytes), bytes, variables};
}
NVCC_HIDDEN void kfuzz_nvcc___cudaRegisterManagedVar(void **module, void **named, char *, const char *name, int, size_t bytes, int, int) {
  *named = place_of(module, name, bytes);
  variables = new HostVariable{named, *named, bytes, variables};
  variables = new HostVariable{*named, *named, bytes, variables};
}

NVCC_HIDDEN unsigned kfuzz_nvcc___cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  Configuration *&configured = of_thread().configured;
  configured = new Configuration{grid, block, shared, stream, CALL_LINE, configured};
  return 0;
}
NVCC(__cudaPopCallConfiguration)(dim3 *grid, dim3 *block, size_t *shared, cudaStream_t *stream) {
  OfThread &own = of_thread();
  Configuration *last = own.configured;
  if (!last) return cudaErrorMissingConfiguration;
  *grid = last->grid, *block = last->block, *shared = last->shared, *stream = last->stream;
  own.launch_line = last->line;
  own.configured = last->next;
  delete last;
  return cudaSuccess;
}
NVCC(__cudaGetKernel)(const void **kernel, const void *named) {
  *kernel = named;
  return cudaSuccess;
}
NVCC(cudaGetKernel)(const void **kernel, const void *named) { return kfuzz_nvcc___cudaGetKernel(kernel, named); }

// By the code that nvcc writes for <<<>>>, right after it has popped the configuration; or by the author.
NVCC(__cudaLaunchKernel)(const void *named, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream) {
  return launch(find(named), grid, block, arguments, shared, stream, line_of_launch(CALL_LINE), 0, {});
}
NVCC(cudaLaunchKernel)(const void *named, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream) {
  return launch(find(named), grid, block, arguments, shared, stream, line_of_launch(CALL_LINE), 0, {});
}
NVCC(cudaLaunchCooperativeKernel)(const void *named, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream) {
  return launch(find(named), grid, block, arguments, shared, stream, CALL_LINE, launch_cooperative, {});
}
NVCC(cudaLaunchKernelExC)(const cudaLaunchConfig_t *config, const void *named, void **arguments) {
  return launch(find(named), config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes, config->stream, CALL_LINE,
                how_of(config), clusters_of(config));
}
