// Switching between the stacks of two CUDA threads.
#pragma once
#include <cstdint>
#include <cstring>

namespace cuda_on_cpu {

#if defined(__x86_64__)

// Inline, not a function: a called switch returns on another stack than it was called on, which unbalances the
// processor's own stack of return addresses, and every later `ret` is then mispredicted (2.3x slower, measured).
// Every register is declared clobbered, so the compiler saves just those that are live. The two pushes go below the
// stack pointer: code that inlines this is compiled with -mno-red-zone.
static inline __attribute__((always_inline)) void switch_stack(void **save, void *to) {
  asm volatile(
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rbp\n\t"
      "pushq %%rax\n\t"
      "movq %%rsp, (%0)\n\t"
      "movq %1, %%rsp\n\t"
      "popq %%rax\n\t"
      "jmp *%%rax\n"
      "1:\n\t"
      "popq %%rbp"
      : "+D"(save), "+S"(to)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc", "xmm0",
        "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
        "xmm14", "xmm15");
}

// A stack whose first switch enters `start` as if by a call: 16-byte aligned before the return address.
static inline void *prepare_stack(char *top, void (*start)()) {
  void **p = reinterpret_cast<void **>(reinterpret_cast<uintptr_t>(top) & ~uintptr_t{15});
  *--p = nullptr;
  *--p = reinterpret_cast<void *>(start);
  return p;
}

#elif defined(__aarch64__)

extern "C" void cuda_on_cpu_switch_stack(void **save, void *to);  // context_aarch64.cpp

static inline void switch_stack(void **save, void *to) { cuda_on_cpu_switch_stack(save, to); }

static inline void *prepare_stack(char *top, void (*start)()) {
  constexpr int frame_bytes = 160, link_register = 11;  // as context_aarch64.cpp lays it out
  char *frame = reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(top) & ~uintptr_t{15}) - frame_bytes;
  memset(frame, 0, frame_bytes);
  reinterpret_cast<void **>(frame)[link_register] = reinterpret_cast<void *>(start);
  return frame;
}

#else
#error "the cpu device runs on x86-64 and aarch64"
#endif

}  // namespace cuda_on_cpu
