// What an extension declares to Python. It is unused here: a claim names the function, and the module's text is not
// compiled.
#pragma once
#include "tensor.h"

namespace pybind11 {
struct arg {
  explicit arg(const char *) {}
  template <class T>
  arg &operator=(const T &) {
    return *this;
  }
};
struct gil_scoped_release {};
template <class... T>
struct call_guard {};
struct value_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
}  // namespace pybind11
namespace py = pybind11;

// A template that is never instantiated: its text is only parsed.
#define KFUZZ_TORCH_MODULE(number, m) \
  template <class KfuzzModule>        \
  [[maybe_unused]] static void kfuzz_module_##number([[maybe_unused]] KfuzzModule &m)
#define KFUZZ_TORCH_NUMBERED(number, m) KFUZZ_TORCH_MODULE(number, m)
#define PYBIND11_MODULE(name, m) KFUZZ_TORCH_NUMBERED(__COUNTER__, m)
#define TORCH_LIBRARY(name, m) KFUZZ_TORCH_NUMBERED(__COUNTER__, m)
#define TORCH_LIBRARY_FRAGMENT(name, m) KFUZZ_TORCH_NUMBERED(__COUNTER__, m)
#define TORCH_LIBRARY_IMPL(name, key, m) KFUZZ_TORCH_NUMBERED(__COUNTER__, m)
#ifndef TORCH_EXTENSION_NAME
#define TORCH_EXTENSION_NAME extension
#endif
