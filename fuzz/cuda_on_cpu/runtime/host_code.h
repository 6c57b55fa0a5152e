// Host code, as the layers below the host see it: whether it runs now, and how it ends early.
#pragma once

namespace cuda_on_cpu {

bool in_host();
void note_in_host(bool is);

// A host function that does not accept these arguments: no defect. Nothing of its own runs after this.
[[noreturn]] void host_refuses(const char *why);
[[noreturn]] void abort_host(int line);

}  // namespace cuda_on_cpu
