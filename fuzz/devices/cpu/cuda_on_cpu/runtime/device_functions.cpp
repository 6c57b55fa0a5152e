#include "device_functions.h"

#include <cstdarg>
#include <cstdio>

#include "abi.h"
#include "report.h"

namespace cuda_on_cpu {

// As cudaLimitMallocHeapSize and cudaLimitPrintfFifoSize have it by default, but that nothing is given back before
// the run ends, and that of what is printed only the beginning is kept.
constexpr uint64_t heap_capacity = 8 << 20, heap_alignment = 16;
constexpr int print_capacity = 8192;

alignas(16) static char heap[heap_capacity];
static uint64_t heap_used;
static char print_buffer[print_capacity];
static int print_used;

void start_printing() {
  print_used = 0;
  print_buffer[0] = 0;
  heap_used = 0;
}

const char *printed() { return print_buffer; }

bool is_on_device_heap(uintptr_t address) { return address - reinterpret_cast<uintptr_t>(heap) < heap_capacity; }

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

CUDA_ON_CPU_API int cuda_on_cpu_printf(const char *format, ...) {
  va_list values;
  va_start(values, format);
  int room = print_capacity - print_used;
  int length = vsnprintf(print_buffer + print_used, static_cast<size_t>(room), format, values);
  va_end(values);
  if (length > 0) print_used += length < room ? length : room - 1;
  return length;
}

CUDA_ON_CPU_API void *cuda_on_cpu_malloc(uint64_t bytes) {
  uint64_t rounded = (bytes + heap_alignment - 1) & ~(heap_alignment - 1);
  if (rounded < bytes || rounded > heap_capacity - heap_used) return nullptr;
  char *memory = heap + heap_used;
  heap_used += rounded;
  return memory;
}

CUDA_ON_CPU_API void cuda_on_cpu_trap(int line) {
  report(Kind::trap, 0, static_cast<uint32_t>(line));
  stop_run(Status::stopped);
}

CUDA_ON_CPU_API void cuda_on_cpu_assertion_failed(const char *expression, int line) {
  report(Kind::assertion, 0, static_cast<uint32_t>(line));
  cuda_on_cpu_printf("assertion failed: %s\n", expression);
  stop_run(Status::stopped);
}
