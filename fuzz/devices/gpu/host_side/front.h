// Included before a file whose host functions use NVIDIA's runtime: memory that they allocate is poisoned, between
// guards, and kept until the run has ended; they refuse by throwing an exception.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

#include "../../../cuda_on_cpu/host/include/cuda_on_cpu_host/refusal.h"

namespace kfuzz_host {

cudaError_t allocate(void **to, size_t bytes, int line);
cudaError_t release(void *memory);
void refuse(const char *words, int line = 0);  // 0: not known
int run(void (*function)(void *), void *context);  // 0, or 1 where it refused

template <class T>
cudaError_t allocated(int line, T **to, size_t bytes) {
  return allocate(reinterpret_cast<void **>(to), bytes, line);
}
template <class T>
cudaError_t allocated(int line, T **to, size_t bytes, cudaStream_t) {
  return allocated(line, to, bytes);
}

template <class T>
T argument(const void *given) {
  if constexpr (std::is_pointer_v<T>)
    return *static_cast<const T *>(given);
  else
    return static_cast<T>(*static_cast<const int64_t *>(given));
}

template <class Function>
int called(Function function) {
  auto guarded = [&] {
    try {
      function();
    } catch (const cuda_on_cpu_host::Refusal &error) {
      refuse(error.what(), error.line);
    } catch (const std::exception &error) {
      refuse(error.what());
    } catch (...) {
      refuse("an exception that is not a std::exception");
    }
  };
  return run([](void *context) { (*static_cast<decltype(guarded) *>(context))(); }, &guarded);
}

}  // namespace kfuzz_host

#define cudaMalloc(...) ::kfuzz_host::allocated(__LINE__, __VA_ARGS__)
#define cudaMallocAsync(...) ::kfuzz_host::allocated(__LINE__, __VA_ARGS__)
#define cudaFree(memory) ::kfuzz_host::release(memory)
#define cudaFreeAsync(memory, stream) ::kfuzz_host::release(memory)
