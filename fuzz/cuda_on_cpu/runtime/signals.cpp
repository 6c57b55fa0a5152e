#include "signals.h"

#include <signal.h>
#include <algorithm>
#include <initializer_list>
#include <sys/time.h>
#include <ucontext.h>

#include "forbidden.h"
#include "host_code.h"
#include "arena.h"
#include "block.h"
#include "chunks.h"
#include "checker.h"
#include "growing.h"
#include "memory_map.h"
#include "launch.h"
#include "library_image.h"
#include "report.h"
#include "stacks.h"
#include "state.h"
#include "unbacked.h"
#include "vast.h"

namespace cuda_on_cpu {

namespace {

struct Handlers {
  alignas(16) char stack[64 << 10];  // a stack overflow cannot be handled on the same stack
};
PerProcess<Handlers> handlers;

// Several times a run this checks whether, since the last time, a block has begun, a thread has ended, more threads have
// reached a barrier that none has passed yet, or more of the outputs is written, as by a block that stays and takes rows
// one after the other: each of these is finite, so the kernel is working, however slowly, and does not hang. Checks and time-out count processor time: a processor busy with other processes is not a hang.
struct Watch {
  volatile bool in_kernels;
  uint64_t blocks_begun, blocks_before, steps_before, ended_before, unwritten_before;  // before: at the last check
  int arrived_before;
  uint32_t looks_left, still_looks, look_ms;
};
PerRun<Watch> watch;

}  // namespace

void note_block_start() { ++watch.blocks_begun; }

// How many words of the outputs still hold what they were filled with, of at most some million of each.
static uint64_t count_unwritten() {
  constexpr uint64_t most = 4 << 20;
  uint64_t count = 0;
  if (run->is_program || is_vast(*run) || in_host()) return watch.unwritten_before;  // the host cannot read arrays
  for (uint32_t i = 0; i < run->job_buffer_count; i++) {
    const Buffer &b = run->buffers[i];
    if (!(b.flags & is_output) || b.flags & (has_content | is_initialised | is_freed | is_alternating) || !b.address) continue;
    const auto *words = reinterpret_cast<const uint32_t *>(b.address);
    uint64_t size = b.bytes / sizeof *words, apart = 1 + size / most;
    for (uint64_t at = 0; at < size; at += apart) count += words[at] == run->poison;
  }
  return count;
}

static void look_whether_it_comes_on() {
  bool begun = watch.blocks_begun != watch.blocks_before;
  bool ended = turns.threads_ended > watch.ended_before;
  bool arrived = run->thread_steps == watch.steps_before && block.arrived > watch.arrived_before;
  bool at_work = run->is_program && (in_host() || !block.live);  // a program, a copy or cuBLAS may take this long
  uint64_t unwritten = count_unwritten();
  bool written = unwritten < watch.unwritten_before;
  watch.still_looks = begun || ended || arrived || written || at_work ? 0 : watch.still_looks + 1;
  watch.unwritten_before = unwritten;
  watch.blocks_before = watch.blocks_begun;
  watch.steps_before = run->thread_steps;
  watch.ended_before = turns.threads_ended;
  watch.arrived_before = block.arrived;
}

// For a page fault: bit 1 of the error code that the processor gives.
static bool is_write(void *context) {
#if defined(__x86_64__)
  return static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_ERR] & 2;
#else
  return context && false;
#endif
}

static uintptr_t program_counter(void *context) {
  auto *c = static_cast<ucontext_t *>(context);
#if defined(__x86_64__)
  return static_cast<uintptr_t>(c->uc_mcontext.gregs[REG_RIP]);
#else
  return static_cast<uintptr_t>(c->uc_mcontext.pc);
#endif
}

// The place in the kernel: the signal's own address, or the last checked access if it came inside the runtime.
static uint64_t place_in_library(uintptr_t pc) {
  uintptr_t start = library_start(*run->module), end = library_end(*run->module);
  if (pc < start || pc >= end) pc = run->check && !in_host() ? checker_last_pc() : 0;
  return pc ? pc - start + 1 : 0;  // reports subtract one, as for return addresses
}

// A host function may have called a library that faults: then its call is the nearest address on the stack that lies in
// our library.
static uint64_t place_of_caller(void *context) {
#if defined(__x86_64__)
  auto *stack = reinterpret_cast<const uintptr_t *>(static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_RSP]);
#else
  auto *stack = reinterpret_cast<const uintptr_t *>(static_cast<ucontext_t *>(context)->uc_mcontext.sp);
#endif
  constexpr int deepest = 256;
  uintptr_t start = library_start(*run->module), end = library_end(*run->module);
  for (int i = 0; i < deepest; i++)
    if (stack[i] >= start && stack[i] < end) return stack[i] - start;
  return 0;
}

static Kind kind_of(int number, uintptr_t address) {
  if (number == SIGPROF) return Kind::hang;
  bool faults = number == SIGSEGV || number == SIGBUS;
  if (in_host()) return faults && address - arena_start() < arena_bytes() ? Kind::host_access : Kind::host_fault;
  if (number == SIGFPE) return Kind::divide_error;
  if (faults)
    return is_stack_guard(address) ? Kind::stack_overflow : Kind::illegal_address;
  return Kind::signal;
}

static void on_way_out(int) {
  if (!way_out.is_open) return;
  watch.in_kernels = way_out.is_open = false;
  siglongjmp(way_out.buffer, 1);
}

static void on_signal(int number, siginfo_t *info, void *context) {
  Growth growth = number == SIGSEGV ? grow_at(reinterpret_cast<uintptr_t>(info->si_addr)) : Growth::elsewhere;
  if (growth == Growth::grown) return;
  if (number == SIGSEGV && give_cells(memory_map.buffers, reinterpret_cast<uintptr_t>(info->si_addr))) return;
  if (run->is_program && is_end_claimed() && watch.in_kernels) {
    if (number == SIGPROF) return;
    claim_end();
  }
  if (number == SIGPROF && pass_to_thread_in_call(number)) return;
  if (!watch.in_kernels) {
    if (number == SIGPROF) return;  // the run had just ended
    signal(number, SIG_DFL);
    raise(number);
    return;
  }
  if (growth == Growth::refused) {
    watch.in_kernels = false;
    stop_run(Status::too_large);
  }
  if (number == SIGPROF) {
    look_whether_it_comes_on();
    bool is_still = run->still_ms && watch.still_looks * watch.look_ms >= run->still_ms;
    if (!is_still && --watch.looks_left) return;
  }
  uintptr_t address = reinterpret_cast<uintptr_t>(info->si_addr);
  if (number == SIGSEGV && is_vast(*run)) {
    Touch touch = touch_vast_buffer(*run, address);
    if (touch == Touch::filled) return;
    if (touch == Touch::too_many) {
      watch.in_kernels = false;
      stop_run(Status::too_large);
    }
  }
  if (number == SIGSEGV && in_host() && is_unbacked(address)) {
    watch.in_kernels = false;
    stop_run(Status::unbacked);
  }
  if (const char *why = number == SIGSEGV && in_host() ? why_forbidden(address) : nullptr) {
    watch.in_kernels = false;
    host_refuses(why);
  }
  if (run->is_program) claim_end();
  watch.in_kernels = false;
  if (number == SIGABRT && run->is_program && in_host()) end_program(aborted);
  uint64_t place = place_in_library(program_counter(context));
  if (in_host() && !place) place = place_of_caller(context);
  // In the runtime, without a checked access: then it is in the barrier or collective that the thread last reached.
  uint32_t line = place ? 0 : static_cast<uint32_t>(threads.line[block.current]);
  bool is_ours = number == SIGPROF && !in_host() && checker_waits_for_host();  // it needs concurrency that kfuzz lacks
  if (Finding *f = is_ours ? nullptr : report(kind_of(number, address), place, line)) {
    f->address = address;
    f->detail = static_cast<uint64_t>(number);
    if (f->kind == Kind::illegal_address || f->kind == Kind::host_access) locate(address, *f);
    f->writes = f->kind == Kind::host_access && is_write(context);
  }
  run->block_ms = watch.still_looks * watch.look_ms;
  stop_run(number == SIGPROF ? Status::timed_out : Status::stopped);
}

bool install_signal_handlers() {
  stack_t stack = {};
  stack.ss_sp = handlers.stack;
  stack.ss_size = sizeof handlers.stack;
  if (sigaltstack(&stack, nullptr)) return false;
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGPROF})
    if (sigaction(number, &action, nullptr)) return false;
  struct sigaction leave = {};
  leave.sa_handler = on_way_out;
  leave.sa_flags = SA_ONSTACK | SA_NODEFER;
  return !sigaction(way_out_signal, &leave, nullptr);
}

void enter_kernels() { watch.in_kernels = true; }
void leave_kernels() { watch.in_kernels = false; }
bool is_in_kernels() { return watch.in_kernels; }

void start_timer(uint32_t milliseconds) {
  if (!milliseconds) return;
  constexpr uint32_t most = 16, least = 10;  // milliseconds: the kernel's clock is hardly finer
  uint32_t first = run->still_ms ? std::min(milliseconds, run->still_ms) : milliseconds;
  watch.look_ms = first / std::min(most, std::max(1u, first / least));
  watch.looks_left = milliseconds / watch.look_ms;
  watch.still_looks = 0;
  watch.blocks_before = watch.blocks_begun;
  watch.steps_before = 0;
  watch.ended_before = turns.threads_ended;
  watch.arrived_before = 0;
  watch.unwritten_before = 0;
  itimerval timer = {};
  timer.it_value.tv_sec = timer.it_interval.tv_sec = watch.look_ms / 1000;
  timer.it_value.tv_usec = timer.it_interval.tv_usec = watch.look_ms % 1000 * 1000;
  setitimer(ITIMER_PROF, &timer, nullptr);
}

void stop_timer() {
  itimerval off = {};
  setitimer(ITIMER_PROF, &off, nullptr);
}

}  // namespace cuda_on_cpu
