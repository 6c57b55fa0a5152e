// What whole PTX modules need beside instructions: parameters of launches and calls, and the functions that every module
// may call. Their parameters are addresses of the places where values lie, results first.
#pragma once
#include "../entry.h"
#include "memory.h"
#include "numbers.h"

namespace cuda_on_cpu {

// Eight bytes of a parameter: an array, an integer, or a part of a structure.
struct PtxParameter {
  uint64_t bits;
  PtxParameter() = default;
  PtxParameter(std::nullptr_t) : bits(0) {}
  template <class T>
  PtxParameter(T given) : bits(0) {
    if constexpr (std::is_pointer_v<T>) bits = reinterpret_cast<uint64_t>(given);
    else if constexpr (std::is_integral_v<T>) bits = static_cast<uint64_t>(static_cast<int64_t>(given));
    else __builtin_memcpy(&bits, &given, sizeof given);
  }
};
template <>
struct Letter<PtxParameter> {
  static constexpr char value = 'w';
};

// A parameter's place is no memory that threads share, so it needs no check.
template <class T, int count, class... Out>
CUDA_ON_CPU_INLINE void ptx_load_parameter(const void *from, Out &&...out) {
  static_assert(sizeof...(Out) == count, "as many registers as the vector has elements");
  if constexpr ((ptx_counts<PtxPlain<Out>> || ...)) {
    ptx_load_counted<T>(from, out...);
  } else {
    T read[count];
    __builtin_memcpy(read, from, sizeof read);
    const T *next = read;
    (ptx_put_wider(out, *next++), ...);
  }
}
template <class T, int count, class... In>
CUDA_ON_CPU_INLINE void ptx_store_parameter(void *to, In... in) {
  static_assert(sizeof...(In) == count, "as many registers as the vector has elements");
  if constexpr ((ptx_is_stored<In> && ...)) {
    ptx_store_counted<T>(to, in...);
  } else {
    const T values[] = {ptx_narrowed<T>(in)...};
    __builtin_memcpy(to, values, sizeof values);
  }
}

// A kernel whose arguments C++ makes: `pack` lays them out as a launch would. The pointer is volatile so that the kernel is not
// inlined into this function, whose checks are disabled.
template <uint64_t bytes, class Pack>
CUDA_ON_CPU_UNCHECKED inline void ptx_launch_packed(void (*kernel)(uint64_t), Pack pack) {
  alignas(128) unsigned char given[(bytes + 3) / 4 * 4];
  pack(given);
#ifdef CUDA_ON_CPU_COUNT
  ptx_note_given(given, sizeof given);
#endif
  void (*volatile called)(uint64_t) = kernel;
  called(reinterpret_cast<uint64_t>(given));
}

template <class T>
CUDA_ON_CPU_INLINE T ptx_parameter(uint64_t at) {
  T value;
  __builtin_memcpy(&value, reinterpret_cast<const void *>(at), sizeof value);
  return value;
}
// Each directive of the format takes the next of the values, which lie in memory one after the other, each aligned to its size.
CUDA_ON_CPU_UNCHECKED inline void ptx_vprintf(uint64_t result, uint64_t format_at, uint64_t values_at, int) {
  auto format = reinterpret_cast<const char *>(ptx_parameter<uint64_t>(format_at));
  uint64_t values = ptx_parameter<uint64_t>(values_at), used = 0;
  auto next = [&](uint64_t bytes) CUDA_ON_CPU_UNCHECKED {
    used = (used + bytes - 1) / bytes * bytes + bytes;
    return values + used - bytes;
  };
  int32_t count = 0;
  char part[64];
  for (uint64_t length; *format; format += length) {
    bool is_directive = *format == '%' && format[1] != '%';
    length = is_directive ? 2 + strcspn(format + 1, "diouxXeEfFgGaAcsp") : *format == '%' ? 2 : strcspn(format, "%");
    if (length >= sizeof part) length = sizeof part - 1;
    __builtin_memcpy(part, format, length);
    part[length] = 0;
    char last = part[length - 1];
    if (!is_directive) cuda_on_cpu_printf("%s", *part == '%' ? "%" : part);
    else if (strchr("eEfFgGaA", last)) cuda_on_cpu_printf(part, ptx_parameter<double>(next(8)));
    else if (last == 's' || last == 'p' || strchr(part, 'l')) cuda_on_cpu_printf(part, ptx_parameter<uint64_t>(next(8)));
    else cuda_on_cpu_printf(part, ptx_parameter<uint32_t>(next(4)));
    count += is_directive;
  }
  __builtin_memcpy(reinterpret_cast<void *>(result), &count, sizeof count);
}
CUDA_ON_CPU_UNCHECKED inline void ptx_assertfail(uint64_t expression, uint64_t, uint64_t, uint64_t, uint64_t, int line) {
  cuda_on_cpu_assertion_failed(reinterpret_cast<const char *>(ptx_parameter<uint64_t>(expression)), line);
}
CUDA_ON_CPU_UNCHECKED inline void ptx_malloc(uint64_t result, uint64_t bytes, int) {
  auto made = reinterpret_cast<uint64_t>(cuda_on_cpu_malloc(ptx_parameter<uint64_t>(bytes)));
  __builtin_memcpy(reinterpret_cast<void *>(result), &made, sizeof made);
}
CUDA_ON_CPU_UNCHECKED inline void ptx_free(uint64_t memory, int line) {
  cuda_on_cpu_free(reinterpret_cast<void *>(ptx_parameter<uint64_t>(memory)), line);
}
// A group's handle is its scope: 1 is the grid, and the others need several GPUs.
CUDA_ON_CPU_UNCHECKED inline void ptx_cudaCGGetIntrinsicHandle(uint64_t result, uint64_t scope_at, int) {
  uint64_t scope = ptx_parameter<uint32_t>(scope_at);
  __builtin_memcpy(reinterpret_cast<void *>(result), &scope, sizeof scope);
}
CUDA_ON_CPU_UNCHECKED inline void ptx_cudaCGSynchronize(uint64_t result, uint64_t handle_at, uint64_t, int line) {
  if (ptx_parameter<uint64_t>(handle_at) != 1) cuda_on_cpu_refused_at("a group of several GPUs, which run on GPUs alone", line);
  cuda_on_cpu_grid_barrier(line);
  uint32_t done = 0;
  __builtin_memcpy(reinterpret_cast<void *>(result), &done, sizeof done);
}

}  // namespace cuda_on_cpu
