// Host code, as the layers below the host see it: whether it is running, and how it ends early.
#pragma once

namespace cuda_on_cpu {

// Whether the current thread of the process runs kernels or the runtime's own code. Of any other thread it is false: a
// program may have several, and they go on while one of them runs a kernel.
extern __thread bool is_inside_runtime __attribute__((tls_model("initial-exec")));  // the access hooks ask at each access
static inline bool in_host() { return !is_inside_runtime; }
void note_in_host(bool is);

// One thread at a time calls the runtime: every function of the API begins with one of these.
class Alone {
 public:
  Alone();
  ~Alone();
  Alone(const Alone &) = delete;
};
void begin_host_threads();  // before each run
// A signal of the process may reach any thread: one that makes no call passes it on to the one that does, if there is one.
bool pass_to_thread_in_call(int signal_number);

// Any thread of a program may end it. The first that claims the end has it; a later one stops here for ever, as every
// thread does that calls the runtime once the end is claimed.
void claim_end();
bool is_end_claimed();
[[noreturn]] void stop_thread();
// Where a program is ended by another thread than the one that began it, a thread of the runtime's own closes the run.
// `close` is called when no other thread is in a call of the runtime. False if the system gives no thread.
bool prepare_closing(void (*close)());
[[noreturn]] void let_other_thread_close();
void wait_for_other_threads();  // which are in a call of the runtime; from then on none enters one

// A host function does not accept these arguments, on this line or, if it is 0, on an unknown one. This is not a defect.
// None of its own code runs after this.
[[noreturn]] void host_refuses(const char *why, int line = 0);

// The end of a program: by itself, by exit(), by abort() or by an exception without a handler. None of these is a defect.
constexpr int aborted = 134;  // the exit code that a shell shows for SIGABRT
[[noreturn]] void end_program(int code);

}  // namespace cuda_on_cpu
