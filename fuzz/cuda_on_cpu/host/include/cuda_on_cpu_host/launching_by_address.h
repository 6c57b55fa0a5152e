// cudaLaunchKernel and its kin: arguments come as addresses or values, and the kernel's own type gives their types.
//
// Where the text casts a kernel's name to void *, translate.py writes `as_address->*` in the cast's place: this records
// the kernel's type, and the address may be passed around freely before the launch.
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
  using Called = decltype(as_on_device(std::declval<Kernel>()));
  using Given = Bound<Called, std::decay_t<Parameter>...>;

  template <size_t... i>
  static Given at(Kernel kernel, void **args, std::index_sequence<i...>) {
    return {as_on_device(kernel), {std::in_place, *static_cast<std::decay_t<Parameter> *>(args[i])...}};
  }
  static void *bound(const void *kernel, void **args) {
    return new Given(at(reinterpret_cast<Kernel>(const_cast<void *>(kernel)), args, std::index_sequence_for<Parameter...>{}));
  }
  static void addresses(void *given, void **to) { static_cast<Given *>(given)->given.addresses(to); }
  static constexpr KernelType type = {Given::invoke, &keeping_of<Given>, sizeof...(Parameter), bound, addresses};
  static cudaError_t launch(Kernel kernel, Given &&given, dim3 grid, dim3 block, size_t shared, cudaStream_t stream, int line,
                            unsigned int how, ClusterSides cluster = {}) {
    auto *address = reinterpret_cast<const void *>(kernel);
    return cuda_on_cpu_host_launch(grid, block, shared, stream, address, Given::invoke, &given, &keeping_of<Given>, line, how, cluster);
  }
};

struct AsAddress {};
inline constexpr AsAddress as_address;
template <class... P>
CUDA_ON_CPU_INLINE void *operator->*(AsAddress, void (*kernel)(P...)) {
  cuda_on_cpu_note_kernel(reinterpret_cast<const void *>(kernel), &ByType<P...>::type);
  return reinterpret_cast<void *>(kernel);
}
template <class T>  // a variable with the name of a kernel
CUDA_ON_CPU_INLINE void *operator->*(AsAddress, T other) {
  return (void *)other;
}

}  // namespace cuda_on_cpu

CUDA_ON_CPU_INLINE cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared = 0,
                                    cudaStream_t stream = nullptr, CUDA_ON_CPU_LINE) {
  return cuda_on_cpu_launch_by_address(kernel, grid, block, args, shared, stream, line, 0);
}
CUDA_ON_CPU_INLINE cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared = 0,
                                               cudaStream_t stream = nullptr, CUDA_ON_CPU_LINE) {
  return cuda_on_cpu_launch_by_address(kernel, grid, block, args, shared, stream, line, cuda_on_cpu::launch_cooperative);
}

template <class... P>
inline cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **args, size_t shared = 0,
                                    cudaStream_t stream = nullptr, CUDA_ON_CPU_LINE) {
  using Type = cuda_on_cpu::ByType<P...>;
  return Type::launch(kernel, Type::at(kernel, args, std::index_sequence_for<P...>{}), grid, block, shared, stream, line, 0);
}
template <class... P>
inline cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **args, size_t shared = 0,
                                               cudaStream_t stream = nullptr, CUDA_ON_CPU_LINE) {
  using Type = cuda_on_cpu::ByType<P...>;
  return Type::launch(kernel, Type::at(kernel, args, std::index_sequence_for<P...>{}), grid, block, shared, stream, line, cuda_on_cpu::launch_cooperative);
}
namespace cuda_on_cpu {

// A function of any number of arguments has no last one that could give the place of its call.
struct ConfigAtLine {
  const cudaLaunchConfig_t *config;
  int line;
  ConfigAtLine(const cudaLaunchConfig_t *given, CUDA_ON_CPU_LINE) : config(given), line(line) {}
  template <class Own, class = std::enable_if_t<std::is_class_v<Own>, decltype(static_cast<const cudaLaunchConfig_t *>(std::declval<Own &>()))>>
  ConfigAtLine(Own &given, CUDA_ON_CPU_LINE) : config(given), line(line) {}
};

inline const cudaLaunchAttributeValue *said_of(const cudaLaunchConfig_t *config, cudaLaunchAttributeID attribute) {
  for (unsigned int i = config->numAttrs; i-- > 0;)
    if (config->attrs[i].id == attribute) return &config->attrs[i].val;
  return nullptr;
}
inline ClusterSides clusters_of(const cudaLaunchConfig_t *config) {
  const cudaLaunchAttributeValue *said = said_of(config, cudaLaunchAttributeClusterDimension);
  return said ? ClusterSides{{said->clusterDim.x, said->clusterDim.y, said->clusterDim.z}} : ClusterSides{};
}
inline unsigned int how_of(const cudaLaunchConfig_t *config) {
  const cudaLaunchAttributeValue *together = said_of(config, cudaLaunchAttributeCooperative);
  const cudaLaunchAttributeValue *early = said_of(config, cudaLaunchAttributeProgrammaticStreamSerialization);
  return (together && together->cooperative ? launch_cooperative : 0u) |
         (early && early->programmaticStreamSerializationAllowed ? launch_early : 0u);
}

}  // namespace cuda_on_cpu

template <class... P, class... Given>
inline cudaError_t cudaLaunchKernelEx(cuda_on_cpu::ConfigAtLine at, void (*kernel)(P...), Given &&...given) {
  const cudaLaunchConfig_t *config = at.config;
  using Type = cuda_on_cpu::ByType<P...>;
  return Type::launch(kernel, {cuda_on_cpu::as_on_device(kernel), {std::in_place, static_cast<Given &&>(given)...}}, config->gridDim, config->blockDim, config->dynamicSmemBytes,
                      config->stream, at.line, cuda_on_cpu::how_of(config), cuda_on_cpu::clusters_of(config));
}
CUDA_ON_CPU_INLINE cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **args, CUDA_ON_CPU_LINE) {
  return cuda_on_cpu_launch_by_address(kernel, config->gridDim, config->blockDim, args, config->dynamicSmemBytes, config->stream, line,
                                       cuda_on_cpu::how_of(config), cuda_on_cpu::clusters_of(config));
}
template <class... P>
CUDA_ON_CPU_INLINE cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, void (*kernel)(P...), void **args, CUDA_ON_CPU_LINE) {
  return cudaLaunchKernelExC(config, cuda_on_cpu::as_address->*kernel, args, line);
}

// The clusters that fit on the multiprocessors, given how many of their blocks fit on each.
template <class Kernel>
inline cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, Kernel *kernel, const cudaLaunchConfig_t *config) {
  int blocks = 0, multiprocessors = 0;
  cuda_on_cpu::ClusterSides sides = cuda_on_cpu::clusters_of(config);
  int threads = static_cast<int>(config->blockDim.x * config->blockDim.y * config->blockDim.z), size = 1;
  for (unsigned int side : sides.of) size *= side ? static_cast<int>(side) : 1;
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  cudaError_t error = cuda_on_cpu_blocks_per_multiprocessor(&blocks, cuda_on_cpu::address_of_kernel(kernel), threads, config->dynamicSmemBytes);
  *clusters = blocks * multiprocessors / size;
  return error;
}
template <class Kernel>
inline cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, Kernel *, const cudaLaunchConfig_t *) {
  *size = 8;
  return cudaSuccess;
}
