// The host side of whole programs: their main, as a host function that takes no arrays.
#include <stdio.h>

#include <iostream>

#include "../runtime/abi.h"

#define HIDDEN extern "C" __attribute__((visibility("hidden")))

HIDDEN void cuda_on_cpu_register(cuda_on_cpu::Entry *entry);
CUDA_ON_CPU_API void cuda_on_cpu_program_ends(int code);
CUDA_ON_CPU_API void cuda_on_cpu_stream_0(int is_per_thread);
// Defined in a program whose files define it (cuda_on_cpu_host.h).
HIDDEN __attribute__((weak)) void cuda_on_cpu_stream_0_is_per_thread();
HIDDEN __attribute__((weak)) void cuda_on_cpu_stream_0_is_legacy();

// By its symbol: C++ does not allow calls of main, and a program may declare it with fewer parameters.
HIDDEN int main_of_program(int argc, char **argv, char **environment) __asm__("main");
extern "C" char **environ;

namespace {

void invoke(void **args) {
  int argc = static_cast<int>(*static_cast<int64_t *>(args[0]));
  char **argv = *static_cast<char ***>(args[1]);
  // If files differ, the one that orders more counts.
  cuda_on_cpu_stream_0(&cuda_on_cpu_stream_0_is_per_thread && !&cuda_on_cpu_stream_0_is_legacy);
  cuda_on_cpu_program_ends(main_of_program(argc, argv, environ));
}

cuda_on_cpu::Entry entry = {"main", invoke, "ll", nullptr};

struct Registration {
  Registration() { cuda_on_cpu_register(&entry); }
} registration;

}  // namespace

// Flushes pending output: the process ends without the destructors that would do it. A thread that a fault has stopped
// may hold the lock of the standard output for ever.
CUDA_ON_CPU_API void cuda_on_cpu_program_flush() {
  if (ftrylockfile(stdout)) {
    fflush_unlocked(stdout);
    return;
  }
  funlockfile(stdout);
  std::cout.flush();
  std::clog.flush();
  fflush(nullptr);
}
