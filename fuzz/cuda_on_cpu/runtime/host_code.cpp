#include "host_code.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "block.h"
#include "report.h"
#include "state.h"

namespace cuda_on_cpu {

namespace {

struct OneAtATime {
  pthread_mutex_t mutex;
  std::atomic<pid_t> holder;  // the thread in a call of the runtime, or 0
};
PerProcess<OneAtATime> one_at_a_time;

thread_local bool has_signal_stack;
thread_local uint32_t open_calls;  // how often this thread holds the lock

struct End {
  std::atomic<bool> is_claimed;
  std::atomic<pthread_t> claimant;
  sem_t is_to_be_closed;
  void (*close)();
};
PerProcess<End> end_of_program;

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
  open_calls = 0;
  one_at_a_time.holder = 0;
  end_of_program.is_claimed = false;
}

bool is_end_claimed() { return end_of_program.is_claimed; }

void stop_thread() {
  for (;;) pause();
}

void claim_end() {
  if (!end_of_program.is_claimed.exchange(true))
    end_of_program.claimant = pthread_self();
  else if (!pthread_equal(end_of_program.claimant, pthread_self()))
    stop_thread();
}

// It does no signal handler's work, and waits for the thread that is in a call of the runtime.
static void *close_when_asked(void *) {
  sem_wait(&end_of_program.is_to_be_closed);
  pthread_mutex_lock(&one_at_a_time.mutex);
  end_of_program.close();
  return nullptr;
}

bool prepare_closing(void (*close)()) {
  end_of_program.close = close;
  sem_init(&end_of_program.is_to_be_closed, 0, 0);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  bool is_there = !pthread_create(&thread, nullptr, close_when_asked, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return is_there;
}

// A signal may come between any two of these steps, so the holder is always a thread that is in a call.
static void leave_call() {
  if (open_calls == 1) one_at_a_time.holder = 0;
  --open_calls;
  pthread_mutex_unlock(&one_at_a_time.mutex);
}

void let_other_thread_close() {
  while (open_calls) leave_call();
  sem_post(&end_of_program.is_to_be_closed);
  stop_thread();
}

void wait_for_other_threads() { pthread_mutex_lock(&one_at_a_time.mutex); }

bool pass_to_thread_in_call(int signal_number) {
  pid_t holder = one_at_a_time.holder;
  return !open_calls && holder && holder != gettid() && !syscall(SYS_tgkill, getpid(), holder, signal_number);
}

Alone::Alone() {
  if (!has_signal_stack) {
    stack_t stack = {};
    stack.ss_size = 64 << 10;
    stack.ss_sp = malloc(stack.ss_size);  // as long as the thread, and no program has many
    has_signal_stack = stack.ss_sp && !sigaltstack(&stack, nullptr);
  }
  pthread_mutex_lock(&one_at_a_time.mutex);
  if (!open_calls++) one_at_a_time.holder = gettid();
  if (!is_end_claimed() || pthread_equal(end_of_program.claimant, pthread_self())) return;
  leave_call();
  stop_thread();
}

Alone::~Alone() { leave_call(); }

void host_refuses(const char *why, int line) {
  if (run->is_program) claim_end();
  snprintf(refusal.why, sizeof refusal.why, "%s", why);
  run->refusal = refusal.why;
  run->refusal_line = static_cast<uint32_t>(line);
  stop_run(Status::refused);
}

void end_program(int code) {
  claim_end();
  run->exit_code = code;
  stop_run(Status::finished);
}

}  // namespace cuda_on_cpu
