// Addresses that a program may use on a GPU machine and that have nothing behind them here: a read of them ends the run
// with one line, which is no finding.
#pragma once
#include <cstddef>
#include <cstdint>

namespace cuda_on_cpu {

// The first of `more` such bytes, with `before` bytes of memory before it; null if the system gives no addresses.
char *begin_forbidden(size_t before, size_t more, const char *why);
const char *why_forbidden(uintptr_t address);  // null: it is not

}  // namespace cuda_on_cpu
