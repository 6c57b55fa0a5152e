// kernel<<<grid, block, shared, stream>>>(arguments), which launches.py rewrites as
//
//   ::cuda_on_cpu::Launch(__LINE__, grid, block, shared, stream).of([&](auto tag) -> decltype(...) {...}, [&](auto... a) {...})(arguments)
//
// Arguments are evaluated once, on the host; every thread is given copies, which the call itself converts.
#pragma once
#include "api.h"
#include <tuple>
#include <utility>

namespace cuda_on_cpu {

struct Tag {};

// The argument NULL: converts to each parameter's own type.
struct Null {
  const void *value = nullptr;
  template <class T>
  constexpr operator T() const { return T(); }
};

// The address of a kernel, if its name alone says which instance it is.
template <class T, class... Parameter>
auto kernel_named(T, void (*kernel)(Parameter...)) { return kernel; }

// An argument as it lies in a GPU's memory: its bits. The host copies and destroys it, once; the compiler passes such a
// type by its address.
template <class T>
constexpr bool is_of_bits = std::is_trivially_copy_constructible_v<T> && std::is_trivially_move_constructible_v<T> && std::is_trivially_destructible_v<T>;
template <class T>
struct Bits {
  alignas(T) unsigned char bits[sizeof(T)];
  CUDA_ON_CPU_UNCHECKED Bits(const T &value) { __builtin_memcpy(bits, static_cast<const void *>(&value), sizeof value); }
  CUDA_ON_CPU_UNCHECKED void *handed() { return bits; }
};
template <class T>
struct Plain {
  T value;
  CUDA_ON_CPU_UNCHECKED T handed() { return value; }
};
template <class... Parameter>
struct KernelOfObjects {
  void (*kernel)(Parameter...);

  template <class... Given>
  CUDA_ON_CPU_UNCHECKED void operator()(Given &...given) const {
    using Called = void (*)(std::conditional_t<is_of_bits<Parameter>, Parameter, void *>...);
    reinterpret_cast<Called>(kernel)(std::conditional_t<is_of_bits<Parameter>, Plain<Parameter>, Bits<Parameter>>{given}.handed()...);
  }
};
// A kernel's address, or a lambda that names it; not a lambda that refers to a variable with its address.
template <class Kernel>
constexpr bool stands_alone = std::is_pointer_v<Kernel> || std::is_empty_v<Kernel>;
template <class... Parameter>
constexpr bool stands_alone<KernelOfObjects<Parameter...>> = true;
template <class... Parameter>
auto as_on_device(void (*kernel)(Parameter...)) {
  if constexpr ((is_of_bits<std::remove_const_t<Parameter>> && ...))
    return kernel;
  else
    return KernelOfObjects<std::remove_const_t<Parameter>...>{reinterpret_cast<void (*)(std::remove_const_t<Parameter>...)>(kernel)};
}

// A launch's arguments. Not a std::tuple: its functions have hooks, and g++ does not inline functions with hooks into
// functions without; each thread would call a function for each argument.
template <class... Given>
struct Arguments {
  Arguments(std::in_place_t) {}
  void addresses(void **) {}

  template <class Kernel, class... Before>
  CUDA_ON_CPU_UNCHECKED __attribute__((always_inline)) void given_to(Kernel &kernel, Before &...before) {
    kernel(before...);
  }
};
template <class First, class... Rest>
struct Arguments<First, Rest...> {
  First first;
  Arguments<Rest...> rest;

  template <class One, class... More>
  Arguments(std::in_place_t all, One &&one, More &&...more)
      : first(static_cast<One &&>(one)), rest(all, static_cast<More &&>(more)...) {}
  void addresses(void **to) {
    *to = const_cast<void *>(static_cast<const volatile void *>(&first));
    rest.addresses(to + 1);
  }

  template <class Kernel, class... Before>
  CUDA_ON_CPU_UNCHECKED __attribute__((always_inline)) void given_to(Kernel &kernel, Before &...before) {
    rest.given_to(kernel, before..., first);
  }
};

// How a launch keeps the argument of this number: as the kernel's parameter if that is known, since an object that cannot
// be copied may convert to it.
template <class Known, size_t I, class Given, class = void>
struct KeptAs {
  using Type = std::decay_t<Given>;
};
template <class... Parameter, size_t I, class Given>
struct KeptAs<void (*)(Parameter...), I, Given, std::enable_if_t<(I < sizeof...(Parameter))>> {
  using Own = std::remove_cv_t<std::tuple_element_t<I, std::tuple<Parameter...>>>;
  using Type = std::conditional_t<std::is_convertible_v<Given, Own>, Own, std::decay_t<Given>>;
};

template <class Kernel, class... Given>
struct Bound {
  Kernel kernel;
  Arguments<Given...> given;

  // For a graph, which launches long after the call has ended.
  static void *kept(const void *from) { return new Bound(*static_cast<const Bound *>(from)); }
  static void forget(void *bound) { delete static_cast<Bound *>(bound); }

  static constexpr bool stands_alone = cuda_on_cpu::stands_alone<Kernel>;

  CUDA_ON_CPU_UNCHECKED static void invoke(void **args) {
    auto *me = static_cast<Bound *>(args[0]);
    me->given.given_to(me->kernel);
  }
};

template <class B>
inline constexpr Keeping keeping_of = {B::kept, B::forget, sizeof(B), B::stands_alone};

class Launch {
 public:
  Launch(int line, dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr)
      : line_(line), grid_(grid), block_(block), shared_(shared), stream_(stream) {}

  // The kernel has __cluster_dims__.
  Launch in_its_clusters() const {
    Launch other = *this;
    other.has_own_clusters_ = true;
    return other;
  }

  template <class Named, class Kernel>
  auto of(Named named, Kernel kernel) const {
    if constexpr (std::is_invocable_v<Named, Tag>) {
      auto known = named(Tag{});
      auto *address = reinterpret_cast<const void *>(known);
      if constexpr (std::is_same_v<decltype(as_on_device(known)), decltype(known)>)
        return with<decltype(known)>(kernel, address);
      else
        return with<decltype(known)>(as_on_device(known), address);
    } else {
      return with<void>(kernel, nullptr);
    }
  }

 private:
  template <class Known, class Kernel>
  auto with(Kernel kernel, const void *address) const {
    return [launch = *this, address, kernel](auto &&...given) mutable {
      launch.template run<Known>(std::index_sequence_for<decltype(given)...>(), kernel, address, static_cast<decltype(given)>(given)...);
    };
  }
  template <class Known, size_t... I, class Kernel, class... Given>
  void run(std::index_sequence<I...>, Kernel kernel, const void *address, Given &&...given) const {
    Bound<Kernel, typename KeptAs<Known, I, Given>::Type...> bound{kernel, {std::in_place, static_cast<Given &&>(given)...}};
    ClusterSides cluster = has_own_clusters_ ? cuda_on_cpu_own_clusters(bound.invoke, &bound) : ClusterSides{};
    cuda_on_cpu_host_launch(grid_, block_, shared_, stream_, address, bound.invoke, &bound, &keeping_of<decltype(bound)>, line_, false, cluster);
  }

  int line_;
  dim3 grid_, block_;
  size_t shared_;
  cudaStream_t stream_;
  bool has_own_clusters_ = false;
};

}  // namespace cuda_on_cpu
