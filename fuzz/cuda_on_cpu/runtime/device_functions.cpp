#include "device_functions.h"

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <ctime>

#include "host_code.h"

#include "abi.h"
#include "block.h"
#include "checker.h"
#include "repetitions.h"
#include "report.h"
#include "state.h"

namespace cuda_on_cpu {

// The default of cudaLimitPrintfFifoSize, except that of longer output only the beginning is kept.
constexpr int print_capacity = 8192;

namespace {

// The caller reads it after the run.
struct Printed {
  char text[print_capacity];
  int used;
};
PerProcess<Printed> last_printed;

// How often a thread has read the clock. A wait ends after this many reads, and what a thread measures does not depend on
// the order of threads. Threads that share a place start again from 0.
struct Clocks {
  static constexpr uint32_t places = 1024, ticks_a_read = 1000;
  struct {
    uint64_t whose, reads;
  } of[places];
};
PerRun<Clocks> clocks;

}  // namespace

void start_printing() {
  last_printed.used = 0;
  last_printed.text[0] = 0;
}

const char *printed() { return last_printed.text; }

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

CUDA_ON_CPU_API void cuda_on_cpu_wait_for_grids() {
  if (run->check) checker_waits_for_grids();
}
CUDA_ON_CPU_API void cuda_on_cpu_trigger() {
  if (run->check) checker_triggers();
}

CUDA_ON_CPU_API int cuda_on_cpu_vprintf(const char *format, va_list values) {
  note_other_effect();
  if (run->is_program) return vprintf(format, values);
  int room = print_capacity - last_printed.used;
  int length = vsnprintf(last_printed.text + last_printed.used, static_cast<size_t>(room), format, values);
  if (length > 0) last_printed.used += length < room ? length : room - 1;
  return length;
}

CUDA_ON_CPU_API int cuda_on_cpu_printf(const char *format, ...) {
  va_list values;
  va_start(values, format);
  int length = cuda_on_cpu_vprintf(format, values);
  va_end(values);
  return length;
}

CUDA_ON_CPU_API int64_t cuda_on_cpu_clock() {
  note_other_effect();
  auto thread = static_cast<uint64_t>(block.current);
  auto &clock = clocks.of[(block.number * 31 + thread) % Clocks::places];
  uint64_t whose = block.number * max_threads + thread + 1;
  if (clock.whose != whose) clock = {whose, 0};
  return static_cast<int64_t>(++clock.reads * Clocks::ticks_a_read);
}
CUDA_ON_CPU_API int64_t cuda_on_cpu_host_clock() { return clock(); }

CUDA_ON_CPU_API void cuda_on_cpu_trap(int line) {
  report(Kind::trap, 0, static_cast<uint32_t>(line));
  stop_run(Status::stopped);
}

CUDA_ON_CPU_API void cuda_on_cpu_assertion_failed(const char *expression, int line) {
  if (in_host()) {
    char words[256];
    if (run->is_program) {
      fprintf(stderr, "assertion failed: %s\n", expression);
      end_program(aborted);
    }
    snprintf(words, sizeof words, "assertion failed: %s", expression);
    host_refuses(words, line);
  }
  report(Kind::assertion, 0, static_cast<uint32_t>(line));
  cuda_on_cpu_printf("assertion failed: %s\n", expression);
  stop_run(Status::stopped);
}

// An asm statement of a library's header that has no translation.
CUDA_ON_CPU_API void cuda_on_cpu_refused(const char *words) { host_refuses(words); }
CUDA_ON_CPU_API void cuda_on_cpu_refused_at(const char *words, int line) { host_refuses(words, line); }

// A thread ends, in whatever function it is.
CUDA_ON_CPU_API void cuda_on_cpu_exit() { end_thread(); }

CUDA_ON_CPU_API double cuda_on_cpu_bessel_i(int order, double x) { return std::cyl_bessel_i(order, x); }
