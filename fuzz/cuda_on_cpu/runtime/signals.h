// Faults and time-outs inside kernels end the run, never the process.
#pragma once
#include <cstdint>

namespace cuda_on_cpu {

bool install_signal_handlers();
void enter_kernels();
void leave_kernels();
bool is_in_kernels();
void start_timer(uint32_t milliseconds);  // of processor time: on a busy machine a kernel does not seem to hang
void stop_timer();
void note_block_start();

}  // namespace cuda_on_cpu
