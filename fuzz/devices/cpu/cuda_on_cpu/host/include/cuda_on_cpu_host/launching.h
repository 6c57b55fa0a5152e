// kernel<<<grid, block, shared, stream>>>(arguments), which launches.py writes as
//
//   ::cuda_on_cpu::Launch(__LINE__, grid, block, shared, stream).of([&](auto tag) -> decltype(...) {...}, [&](auto... a) {...})(arguments)
//
// Arguments are evaluated once, on the host; every thread is given copies, which the call itself converts.
#pragma once
#include "api.h"

namespace cuda_on_cpu {

struct Tag {};

// The address of a kernel, where its name alone says which instance it is.
template <class T, class... Parameter>
const void *kernel_named(T, void (*kernel)(Parameter...)) {
  return reinterpret_cast<const void *>(kernel);
}

template <class Kernel, class... Given>
struct Bound {
  Kernel kernel;
  std::tuple<Given...> given;

  // For a graph, which launches long after the call is over.
  static void *kept(const void *from) { return new Bound(*static_cast<const Bound *>(from)); }
  static void forget(void *bound) { delete static_cast<Bound *>(bound); }
  static constexpr Keeping keeping = {kept, forget};

  template <size_t... i>
  CUDA_ON_CPU_UNCHECKED __attribute__((flatten)) static void call(Bound *me, std::index_sequence<i...>) {
    me->kernel(std::get<i>(me->given)...);
  }
  CUDA_ON_CPU_UNCHECKED static void invoke(void **args) {
    call(static_cast<Bound *>(args[0]), std::index_sequence_for<Given...>{});
  }
};

class Launch {
 public:
  Launch(int line, dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr)
      : line_(line), grid_(grid), block_(block), shared_(shared), stream_(stream) {}

  // The kernel's __cluster_dims__.
  Launch in_clusters(unsigned int x, unsigned int y = 1, unsigned int z = 1) const {
    Launch other = *this;
    other.cluster_ = {{x, y, z}};
    return other;
  }

  template <class Named, class Kernel>
  auto of(Named named, Kernel kernel) const {
    const void *address = nullptr;
    if constexpr (std::is_invocable_v<Named, Tag>) address = named(Tag{});
    return [launch = *this, address, kernel](auto &&...given) mutable {
      Bound<Kernel, std::decay_t<decltype(given)>...> bound{kernel, {static_cast<decltype(given)>(given)...}};
      cuda_on_cpu_host_launch(launch.grid_, launch.block_, launch.shared_, launch.stream_, address, bound.invoke, &bound, &bound.keeping,
                              launch.line_, false, launch.cluster_);
    };
  }

 private:
  int line_;
  dim3 grid_, block_;
  size_t shared_;
  cudaStream_t stream_;
  cuda_on_cpu::ClusterSides cluster_ = {};
};

}  // namespace cuda_on_cpu
