// Host code, as the layers below the host see it: whether it is running, and how it ends early.
#pragma once

namespace cuda_on_cpu {

bool in_host();
void note_in_host(bool is);

// A host function does not accept these arguments, on this line or, if it is 0, on an unknown one. This is not a defect.
// None of its own code runs after this.
[[noreturn]] void host_refuses(const char *why, int line = 0);

// The end of a program: by itself, by exit(), by abort() or by an exception without a handler. None of these is a defect.
constexpr int aborted = 134;  // the exit code that a shell shows for SIGABRT
[[noreturn]] void end_program(int code);

}  // namespace cuda_on_cpu
