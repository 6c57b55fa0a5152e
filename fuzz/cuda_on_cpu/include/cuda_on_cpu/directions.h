// The directions in which an instruction rounds.
#pragma once

namespace cuda_on_cpu {

enum class Rounding { nearest, to_zero, up, down };

}  // namespace cuda_on_cpu
