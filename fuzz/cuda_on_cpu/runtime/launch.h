// Launching: by a step of the job, or from a host function (host/launches.cpp).
#pragma once
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

#include "abi.h"
#include "state.h"

namespace cuda_on_cpu {

// Runs a kernel to its end, or stops the run.
void launch(const Step &step);

// Where stop_run goes: the run sets it (host/job.cpp).
struct WayOut {
  sigjmp_buf buffer;
  pthread_t thread;  // the one that began the run
  volatile bool is_open;
};
extern PerRun<WayOut> way_out;

// By it another thread than the one that began it ends the run of a host function.
constexpr int way_out_signal = SIGSTKFLT;

// The values that a step passes, and pointers to them as cuLaunchKernel takes them.
void bind_arguments(const Step &step, void **args, uint64_t *values);

}  // namespace cuda_on_cpu
