// Arrays that are addresses alone, for runs that look at launches and run nothing: sizes may be those of a whole GPU. An
// access by the host ends the run (Status::unbacked), since what it reads there would decide what it launches.
#pragma once
#include "abi.h"

namespace cuda_on_cpu {

// False when the system does not give that many addresses.
bool place_unbacked(Buffer &b);
bool place_unbacked_buffers(Run &run);
bool is_unbacked(uintptr_t address);

}  // namespace cuda_on_cpu
