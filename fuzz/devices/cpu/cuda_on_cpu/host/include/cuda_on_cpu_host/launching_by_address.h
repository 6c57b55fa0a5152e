// cudaLaunchKernel and its kin: arguments come as addresses, or as they are, and the kernel's own type says of what.
//
// Where the text casts a kernel's name to void *, translate.py writes `as_address->*` in the cast's place: so its type is
// noted, and the address may go where it likes before it is launched.
#pragma once
#include "launching.h"
#include "launching_attributes.h"

struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned int numAttrs;
};

namespace cuda_on_cpu {

template <class... Parameter>
struct ByType {
  using Kernel = void (*)(Parameter...);
  using Given = Bound<Kernel, std::decay_t<Parameter>...>;

  template <size_t... i>
  static Given at(Kernel kernel, void **args, std::index_sequence<i...>) {
    return {kernel, {std::in_place, *static_cast<std::decay_t<Parameter> *>(args[i])...}};
  }
  static void *bound(const void *kernel, void **args) {
    return new Given(at(reinterpret_cast<Kernel>(const_cast<void *>(kernel)), args, std::index_sequence_for<Parameter...>{}));
  }
  static void addresses(void *given, void **to) { static_cast<Given *>(given)->given.addresses(to); }
  static constexpr KernelType type = {Given::invoke, &Given::keeping, sizeof...(Parameter), bound, addresses};
  static cudaError_t launch(Given given, dim3 grid, dim3 block, size_t shared, cudaStream_t stream, int line, bool cooperative,
                            ClusterSides cluster = {}) {
    auto *address = reinterpret_cast<const void *>(given.kernel);
    return cuda_on_cpu_host_launch(grid, block, shared, stream, address, Given::invoke, &given, &Given::keeping, line, cooperative, cluster);
  }
};

struct AsAddress {};
inline constexpr AsAddress as_address;
template <class... P>
CUDA_ON_CPU_INLINE void *operator->*(AsAddress, void (*kernel)(P...)) {
  cuda_on_cpu_note_kernel(reinterpret_cast<const void *>(kernel), &ByType<P...>::type);
  return reinterpret_cast<void *>(kernel);
}
template <class T>  // a variable that is called as some kernel is
CUDA_ON_CPU_INLINE void *operator->*(AsAddress, T other) {
  return (void *)other;
}

}  // namespace cuda_on_cpu

CUDA_ON_CPU_INLINE cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared = 0,
                                    cudaStream_t stream = nullptr, CUDA_ON_CPU_LINE) {
  return cuda_on_cpu_launch_by_address(kernel, grid, block, args, shared, stream, line, false);
}
CUDA_ON_CPU_INLINE cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared = 0,
                                               cudaStream_t stream = nullptr, CUDA_ON_CPU_LINE) {
  return cuda_on_cpu_launch_by_address(kernel, grid, block, args, shared, stream, line, true);
}

template <class... P>
inline cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **args, size_t shared = 0,
                                    cudaStream_t stream = nullptr, CUDA_ON_CPU_LINE) {
  using Type = cuda_on_cpu::ByType<P...>;
  return Type::launch(Type::at(kernel, args, std::index_sequence_for<P...>{}), grid, block, shared, stream, line, false);
}
template <class... P>
inline cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **args, size_t shared = 0,
                                               cudaStream_t stream = nullptr, CUDA_ON_CPU_LINE) {
  using Type = cuda_on_cpu::ByType<P...>;
  return Type::launch(Type::at(kernel, args, std::index_sequence_for<P...>{}), grid, block, shared, stream, line, true);
}
namespace cuda_on_cpu {

// A function of any number of arguments has no last one that could say where it was called.
struct ConfigAtLine {
  const cudaLaunchConfig_t *config;
  int line;
  ConfigAtLine(const cudaLaunchConfig_t *given, CUDA_ON_CPU_LINE) : config(given), line(line) {}
};

}  // namespace cuda_on_cpu

template <class... P, class... Given>
inline cudaError_t cudaLaunchKernelEx(cuda_on_cpu::ConfigAtLine at, void (*kernel)(P...), Given &&...given) {
  const cudaLaunchConfig_t *config = at.config;
  bool cooperative = false;
  cuda_on_cpu::ClusterSides cluster = {};
  for (unsigned int i = 0; i < config->numAttrs; i++) {
    const cudaLaunchAttribute &one = config->attrs[i];
    if (one.id == cudaLaunchAttributeCooperative) cooperative = one.val.cooperative;
    if (one.id == cudaLaunchAttributeClusterDimension) cluster = {{one.val.clusterDim.x, one.val.clusterDim.y, one.val.clusterDim.z}};
  }
  using Type = cuda_on_cpu::ByType<P...>;
  return Type::launch({kernel, {std::in_place, static_cast<Given &&>(given)...}}, config->gridDim, config->blockDim, config->dynamicSmemBytes,
                      config->stream, at.line, cooperative, cluster);
}
