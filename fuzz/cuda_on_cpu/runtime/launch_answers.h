// The 16 bytes that clusterlaunchcontrol.try_cancel writes, which kernels read by clusterlaunchcontrol.query_cancel alone.
#pragma once
#include <cstdint>

namespace cuda_on_cpu {

constexpr uint32_t launch_cancelled = 0xb1b10001, launch_refused = 0xb1b10000;
struct LaunchAnswer {
  uint32_t x, y, z, sign;
};

}  // namespace cuda_on_cpu
