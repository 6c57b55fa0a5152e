// The C library's functions whose names are CUDA's own (arithmetic.h), for files that the host's compiler compiles.
#pragma once
#pragma GCC system_header  // so that a file may define them without noexcept, as over the C library's own header
#ifndef CUDA_ON_CPU_COUNT
extern "C" float cuda_on_cpu_fmaxf_of_the_host(float a, float b) noexcept __asm__("fmaxf");
extern "C" float cuda_on_cpu_fminf_of_the_host(float a, float b) noexcept __asm__("fminf");
namespace std {
using ::cuda_on_cpu_fmaxf_of_the_host;
using ::cuda_on_cpu_fminf_of_the_host;
}  // namespace std
#endif
