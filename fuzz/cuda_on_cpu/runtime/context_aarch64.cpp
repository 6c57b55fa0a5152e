// The aarch64 switch: saves the callee-saved registers on the stack that it leaves and loads them from the one it
// enters.
// A function, not inline: aarch64 has no way to declare x29 clobbered, and its `ret` is a plain indirect jump.
#if defined(__aarch64__)
asm(R"(
.text
.globl cuda_on_cpu_switch_stack
.hidden cuda_on_cpu_switch_stack
.type cuda_on_cpu_switch_stack, %function
cuda_on_cpu_switch_stack:
  sub sp, sp, #160
  stp x19, x20, [sp]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size cuda_on_cpu_switch_stack, .-cuda_on_cpu_switch_stack
)");
#endif
