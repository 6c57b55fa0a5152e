#include "host_code.h"

#include <pthread.h>
#include <signal.h>

#include <cstdio>
#include <cstdlib>

#include "block.h"
#include "report.h"
#include "state.h"

namespace cuda_on_cpu {

namespace {

struct OneAtATime {
  pthread_mutex_t mutex;
};
PerProcess<OneAtATime> one_at_a_time;

thread_local bool has_signal_stack;

// The caller reads it after the run.
struct Refusal {
  char why[1024];
};
PerProcess<Refusal> refusal;

}  // namespace

__thread bool is_inside_runtime;

void note_in_host(bool is) { is_inside_runtime = !is; }

// A run that ended early may have left it locked.
void begin_host_threads() {
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&one_at_a_time.mutex, &recursive);
  pthread_mutexattr_destroy(&recursive);
  has_signal_stack = true;  // signals.cpp gave it one
}

Alone::Alone() {
  if (!has_signal_stack) {
    stack_t stack = {};
    stack.ss_size = 64 << 10;
    stack.ss_sp = malloc(stack.ss_size);  // as long as the thread, and no program has many
    has_signal_stack = stack.ss_sp && !sigaltstack(&stack, nullptr);
  }
  pthread_mutex_lock(&one_at_a_time.mutex);
}

Alone::~Alone() { pthread_mutex_unlock(&one_at_a_time.mutex); }

void host_refuses(const char *why, int line) {
  snprintf(refusal.why, sizeof refusal.why, "%s", why);
  run->refusal = refusal.why;
  run->refusal_line = static_cast<uint32_t>(line);
  stop_run(Status::refused);
}

void end_program(int code) {
  run->exit_code = code;
  stop_run(Status::finished);
}

}  // namespace cuda_on_cpu
