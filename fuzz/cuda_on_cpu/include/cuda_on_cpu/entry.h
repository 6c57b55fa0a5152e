// Passing a kernel to the runtime: its name, its signature, and a function that unpacks its arguments.
//
// The loader appends one line per entry, CUDA_ON_CPU_ENTRY("block_sum<256>", block_sum<256>), which also instantiates
// templates. The names are those that NVRTC calls name expressions. If the claim's arguments are C++, the line is
// CUDA_ON_CPU_CALL(0, "f(Load{x}, 1.0f)", (float *x), f(Load{x}, 1.0f)): a function of the names. It is an ordinary
// call, so that template arguments are deduced as in a launch.
#pragma once
#include <utility>

#include "../../runtime/abi.h"
#include "language.h"

extern "C" CUDA_ON_CPU_HIDDEN void cuda_on_cpu_register(cuda_on_cpu::Entry *entry);

namespace cuda_on_cpu {

// One letter a parameter: P pointer, i a 32-bit integer, l a 64-bit integer, ? anything else, which C++ must make.
template <class T>
struct Letter {
  static constexpr char value = std::is_pointer_v<T>                      ? 'P'
                                : std::is_integral_v<T> && sizeof(T) == 4 ? 'i'
                                : std::is_integral_v<T> && sizeof(T) == 8 ? 'l'
                                                                          : '?';
};

template <auto kernel>
struct Launcher;

template <class... Parameter, void (*kernel)(Parameter...)>
struct Launcher<kernel> {
  static constexpr char signature[sizeof...(Parameter) + 1] = {Letter<std::remove_cv_t<Parameter>>::value..., 0};

  template <size_t... i>
  CUDA_ON_CPU_UNCHECKED static void call(void **args, std::index_sequence<i...>) {
#ifdef CUDA_ON_CPU_CHECK
    // Not to be inlined here: this would move a kernel's checks into this function, whose own checks are disabled.
    void (*volatile called)(Parameter...) = kernel;
#else
    constexpr void (*called)(Parameter...) = kernel;
#endif
    called(*static_cast<std::remove_cv_t<Parameter> *>(args[i])...);
  }
  CUDA_ON_CPU_UNCHECKED static void invoke(void **args) { call(args, std::index_sequence_for<Parameter...>{}); }
};

// An argument as its parameter's type. An array whose type the claim does not give fits any pointer.
template <class Parameter, class Given>
struct As {
  static Parameter of(Given given) { return static_cast<Given>(given); }
};
template <class T>
struct As<T *, void *&> {
  static T *of(void *given) { return static_cast<T *>(given); }
};

template <class... Parameter, class... Given>
CUDA_ON_CPU_UNCHECKED inline void call_as(void (*kernel)(Parameter...), Given &&...given) {
  static_assert(sizeof...(Parameter) == sizeof...(Given), "as many arguments as the function has parameters");
  void (*volatile called)(Parameter...) = kernel;
  called(As<Parameter, Given &&>::of(static_cast<Given &&>(given))...);
}

struct Registration {
  Entry entry;
  Registration(const char *name, void (*invoke)(void **), const char *signature)
      : entry{name, invoke, signature, nullptr} {
    cuda_on_cpu_register(&entry);
  }
};

}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_JOIN_(a, b) a##b
#define CUDA_ON_CPU_JOIN(a, b) CUDA_ON_CPU_JOIN_(a, b)
#define CUDA_ON_CPU_ENTRY(name, ...)                                                 \
  static ::cuda_on_cpu::Registration CUDA_ON_CPU_JOIN(cuda_on_cpu_entry_, __COUNTER__)( \
      name, ::cuda_on_cpu::Launcher<(__VA_ARGS__)>::invoke, ::cuda_on_cpu::Launcher<(__VA_ARGS__)>::signature);
#define CUDA_ON_CPU_CALL(number, name, declared, ...)                                                   \
  CUDA_ON_CPU_UNCHECKED static void cuda_on_cpu_call_##number declared { __VA_ARGS__; } \
  CUDA_ON_CPU_ENTRY(name, cuda_on_cpu_call_##number)
