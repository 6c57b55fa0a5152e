// A read of which nothing can be learned costs no call: the assembler makes of the call of its hook a look at the lines of
// arrays that nobody writes (runtime/unwritten.h) and, of four bytes, at the table of settled words (runtime/settled.h), and
// the call only where neither has it. The hook may use any register that a function may, so this may, too. The line of the
// call stays the line of the access.
#pragma once
#if defined(CUDA_ON_CPU_CHECK) && defined(__x86_64__) && !defined(__clang__)
__asm__(
    // Skips the call if the address in %rdi is a multiple of the size, and in a line of the arena that nobody writes.
    ".macro cuda_on_cpu_unless_unwritten misfit seen\n"
    "movq %rdi, %rax\n"
    "shrq $30, %rax\n"
    "cmpl $0x14000, %eax\n"
    "jne .Lother\\@\n"
    "movl %edi, %eax\n"
    ".if \\misfit\n"
    "testl $\\misfit, %eax\n"
    "jne .Lother\\@\n"
    ".endif\n"
    "shrl $6, %eax\n"
    "movq cuda_on_cpu_lines@GOTPCREL(%rip), %rdx\n"
    "cmpb $2, (%rdx,%rax)\n"
    "je \\seen\n"
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
    ".ifc \"\\target\", \"*__tsan_read\\size@GOTPCREL(%rip)\"\n"
    "cuda_on_cpu_unless_unwritten \"(\\size - 1)\", .Lseen\\@\n"
    ".if \\size == 4\n"
    "cuda_on_cpu_unless_settled .Lseen\\@\n"
    ".endif\n"
    ".endif\n"
    ".endr\n"
    "callq \\target\n"
    ".Lseen\\@:\n"
    ".endm\n");
#endif
