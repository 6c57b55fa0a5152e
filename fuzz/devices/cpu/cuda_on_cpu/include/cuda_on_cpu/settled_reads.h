// A read of four bytes that has been made before costs no call: the assembler makes of the call of its hook a look at the
// table of settled words (runtime/settled.h), and the call only where the word is not in it. The hook may use any register
// that a function may, so this may, too. The line of the call stays the line of the access.
#pragma once
#if defined(CUDA_ON_CPU_CHECK) && defined(__x86_64__) && !defined(__clang__)
__asm__(
    ".macro call target:vararg\n"
    ".ifc \"\\target\", \"*__tsan_read4@GOTPCREL(%rip)\"\n"
    "movq cuda_on_cpu_settled@GOTPCREL(%rip), %rdx\n"
    "movl %edi, %ecx\n"
    "shrl $3, %ecx\n"
    "movq (%rdx), %rax\n"
    "leal (%rcx,%rdi,2), %ecx\n"
    "addq %rdi, %rax\n"
    "andl $0xfff8, %ecx\n"
    "xorq 16(%rdx,%rcx), %rax\n"
    "testq %rax, 8(%rdx)\n"
    "je .Lsettled\\@\n"
    "callq *__tsan_read4@GOTPCREL(%rip)\n"
    ".Lsettled\\@:\n"
    ".else\n"
    "callq \\target\n"
    ".endif\n"
    ".endm\n");
#endif
