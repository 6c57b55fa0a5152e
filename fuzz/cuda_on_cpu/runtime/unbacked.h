// Arrays that are addresses alone, for runs that look at launches and run nothing: sizes may be those of a whole GPU. An
// access by the host ends the run, since what it reads there would decide what it launches.
#pragma once
#include "abi.h"

namespace cuda_on_cpu {

// Words by which the caller knows such an end; it is no refusal by the author.
constexpr const char *reads_unbacked = "kfuzz: the host asks for the content of memory that has none";

// False when the system does not give that many addresses.
bool place_unbacked(Buffer &b);
bool place_unbacked_buffers(Run &run);

}  // namespace cuda_on_cpu
