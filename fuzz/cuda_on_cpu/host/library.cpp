// The part of the host's side that every library has its own copy of: functions of the C library that mean one thing in
// a kernel and another on the host. They replace the C library's own, for this library alone.
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define HIDDEN extern "C" __attribute__((visibility("hidden")))
#define IMPORT extern "C" __attribute__((visibility("default")))
#define INSTEAD_OF(symbol, type, name, ...)       \
  HIDDEN type name(__VA_ARGS__) __asm__(symbol); \
  type name(__VA_ARGS__)

IMPORT int cuda_on_cpu_vprintf(const char *format, va_list values);
IMPORT void *cuda_on_cpu_malloc(uint64_t bytes);
IMPORT bool cuda_on_cpu_is_on_host();
IMPORT void cuda_on_cpu_host_exits(int code);
IMPORT void *cuda_on_cpu_host_malloc(size_t bytes);
IMPORT int64_t cuda_on_cpu_clock();
IMPORT int64_t cuda_on_cpu_host_clock();
IMPORT void cuda_on_cpu_delete(void *memory, int line);

INSTEAD_OF("printf", int, either_printf, const char *format, ...) {
  va_list values;
  va_start(values, format);
  int length = cuda_on_cpu_vprintf(format, values);
  va_end(values);
  return length;
}

INSTEAD_OF("malloc", void *, either_malloc, size_t bytes) {
  return cuda_on_cpu_is_on_host() ? cuda_on_cpu_host_malloc(bytes) : cuda_on_cpu_malloc(bytes);
}

INSTEAD_OF("free", void, either_free, void *memory) { cuda_on_cpu_delete(memory, 0); }

INSTEAD_OF("clock", clock_t, either_clock) {
  return static_cast<clock_t>(cuda_on_cpu_is_on_host() ? cuda_on_cpu_host_clock() : cuda_on_cpu_clock());
}

#define EXIT(symbol, name)                  \
  INSTEAD_OF(symbol, void, name, int code) { \
    cuda_on_cpu_host_exits(code);            \
    __builtin_unreachable();                 \
  }
EXIT("exit", host_exit)
EXIT("_exit", host_exit_at_once)
EXIT("_Exit", host_exit_at_once_too)
EXIT("quick_exit", host_exit_quickly)
