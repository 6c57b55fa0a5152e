// A read that can teach nothing costs no call: the assembler replaces the call of its hook by a look-up of the lines of
// arrays that nothing writes (runtime/unwritten.h) and, for four bytes, of the table of settled words
// (runtime/settled.h), and calls only if neither has it. The hook may use any register that a function may, so this
// may, too. The line of the call remains the line of the access.
#pragma once
#if defined(CUDA_ON_CPU_CHECK) && defined(__x86_64__) && !defined(__clang__)
__asm__(
    // Skips the call if the address in %rdi is a multiple of the size, and in a line of the arena that nothing writes.
    ".macro cuda_on_cpu_unless_unwritten misfit seen\n"
    "movq cuda_on_cpu_lines@GOTPCREL(%rip), %rdx\n"
    "movq %rdi, %rax\n"
    "shrq $6, %rax\n"
    "subq (%rdx), %rax\n"
    "cmpq 8(%rdx), %rax\n"
    "jae .Lother\\@\n"
    ".if \\misfit\n"
    "testl $\\misfit, %edi\n"
    "jne .Lother\\@\n"
    ".endif\n"
    "cmpb $3, 16(%rdx,%rax)\n"
    "jae \\seen\n"
    ".Lother\\@:\n"
    ".endm\n"
    ".macro cuda_on_cpu_unless_settled seen\n"
    "movq cuda_on_cpu_settled@GOTPCREL(%rip), %rdx\n"
    "movl %edi, %ecx\n"
    "shrl $3, %ecx\n"
    "movq (%rdx), %rax\n"
    "leal (%rcx,%rdi,2), %ecx\n"
    "addq %rdi, %rax\n"
    "andl $0xfff8, %ecx\n"
    "xorq 16(%rdx,%rcx), %rax\n"
    "testq %rax, 8(%rdx)\n"
    "je \\seen\n"
    ".endm\n"
    ".macro call target:vararg\n"
    ".irp size, 1, 2, 4, 8, 16\n"
    ".irp name, *__tsan_read\\size@GOTPCREL(%rip), __tsan_read\\size\n"
    ".ifc \"\\target\", \"\\name\"\n"
    "cuda_on_cpu_unless_unwritten \"(\\size - 1)\", .Lseen\\@\n"
    ".if \\size == 4\n"
    "cuda_on_cpu_unless_settled .Lseen\\@\n"
    ".endif\n"
    ".endif\n"
    ".endr\n"
    ".endr\n"
    "callq \\target\n"
    ".Lseen\\@:\n"
    ".endm\n");
#endif

// The hooks preserve all vector registers (runtime/plain_hooks.h): storing and loading a sum around each read costs six
// times the addition. The compiler knows which registers a function changes if it has compiled the function itself and
// the linker cannot replace it: so each hook has a body here that no other file sees, which jumps to the true one. It
// has to come first (no_reorder), and have the name that the compiler itself uses: for __tsan_read4 that is
// __builtin___tsan_read4.
#ifdef CUDA_ON_CPU_HOOKS_KEEP_VECTORS
#define CUDA_ON_CPU_KEEPING_VECTORS(symbol, name, ...)                                                               \
  static __attribute__((no_reorder, noinline, noclone, used, no_sanitize("thread", "undefined"))) void __builtin_##symbol(__VA_ARGS__) { \
    __asm__ volatile("jmp *cuda_on_cpu_" #name "@GOTPCREL(%%rip)"                                                     \
                     :                                                                                               \
                     :                                                                                               \
                     : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");                 \
  }
CUDA_ON_CPU_KEEPING_VECTORS(__tsan_read1, read1, void *)
CUDA_ON_CPU_KEEPING_VECTORS(__tsan_read2, read2, void *)
CUDA_ON_CPU_KEEPING_VECTORS(__tsan_read4, read4, void *)
CUDA_ON_CPU_KEEPING_VECTORS(__tsan_read8, read8, void *)
CUDA_ON_CPU_KEEPING_VECTORS(__tsan_read16, read16, void *)
CUDA_ON_CPU_KEEPING_VECTORS(__tsan_write1, write1, void *)
CUDA_ON_CPU_KEEPING_VECTORS(__tsan_write2, write2, void *)
CUDA_ON_CPU_KEEPING_VECTORS(__tsan_write4, write4, void *)
CUDA_ON_CPU_KEEPING_VECTORS(__tsan_write8, write8, void *)
CUDA_ON_CPU_KEEPING_VECTORS(__tsan_write16, write16, void *)
CUDA_ON_CPU_KEEPING_VECTORS(__ubsan_handle_type_mismatch_v1, type_mismatch, void *, void *)
CUDA_ON_CPU_KEEPING_VECTORS(__ubsan_handle_out_of_bounds, out_of_bounds, void *, void *)
CUDA_ON_CPU_KEEPING_VECTORS(__ubsan_handle_divrem_overflow, divrem_overflow, void *, void *, void *)
#endif
