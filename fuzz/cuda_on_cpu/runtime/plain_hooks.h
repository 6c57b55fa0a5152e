// The hooks of plain loads and stores, the most frequent ones, preserve the vector registers, and so do the functions
// that g++ calls for a wrong access: a sum that a loop adds up stays in its register across all of its loads
// (include/cuda_on_cpu/settled_reads.h), where it would otherwise be stored and loaded again around each.
#pragma once
#include <cstdint>

// For accesses that are not plainly fine: the bytes of the access and how it is made. `frame` is the hook's.
constexpr uint32_t plain_bytes = 31, plain_writes = 32, plain_is_turn = 64;
extern "C" __attribute__((visibility("hidden"))) void cuda_on_cpu_long_way(const void *p, uint32_t what, uintptr_t pc, const void *frame);

#if defined(__x86_64__) && !defined(__clang__)
// `name` does the same as `target` with the same arguments, but preserves all vector registers. It also aligns the
// stack, which g++ omits for functions that do not seem to need it.
#define KEEPS_VECTORS(name, target)                                                                                          \
  __asm__(".pushsection .text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n"                                  \
          "pushq %rbp\nmovq %rsp, %rbp\nsubq $256, %rsp\nandq $-16, %rsp\n"                                                  \
          "movaps %xmm0, (%rsp)\nmovaps %xmm1, 16(%rsp)\nmovaps %xmm2, 32(%rsp)\nmovaps %xmm3, 48(%rsp)\n"                  \
          "movaps %xmm4, 64(%rsp)\nmovaps %xmm5, 80(%rsp)\nmovaps %xmm6, 96(%rsp)\nmovaps %xmm7, 112(%rsp)\n"               \
          "movaps %xmm8, 128(%rsp)\nmovaps %xmm9, 144(%rsp)\nmovaps %xmm10, 160(%rsp)\nmovaps %xmm11, 176(%rsp)\n"          \
          "movaps %xmm12, 192(%rsp)\nmovaps %xmm13, 208(%rsp)\nmovaps %xmm14, 224(%rsp)\nmovaps %xmm15, 240(%rsp)\n"        \
          "callq *" #target "@GOTPCREL(%rip)\n"                                                                             \
          "movaps (%rsp), %xmm0\nmovaps 16(%rsp), %xmm1\nmovaps 32(%rsp), %xmm2\nmovaps 48(%rsp), %xmm3\n"                  \
          "movaps 64(%rsp), %xmm4\nmovaps 80(%rsp), %xmm5\nmovaps 96(%rsp), %xmm6\nmovaps 112(%rsp), %xmm7\n"               \
          "movaps 128(%rsp), %xmm8\nmovaps 144(%rsp), %xmm9\nmovaps 160(%rsp), %xmm10\nmovaps 176(%rsp), %xmm11\n"          \
          "movaps 192(%rsp), %xmm12\nmovaps 208(%rsp), %xmm13\nmovaps 224(%rsp), %xmm14\nmovaps 240(%rsp), %xmm15\n"        \
          "leaveq\nretq\n.size " #name ", . - " #name "\n.popsection\n");
#else
#define KEEPS_VECTORS(name, target) __asm__(".globl " #name "\n.set " #name ", " #target "\n");
#endif
