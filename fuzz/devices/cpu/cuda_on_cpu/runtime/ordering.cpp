#include "ordering.h"

namespace cuda_on_cpu {

Ordering ordering = {1, 1, 1, 1, 0, 0, 0, {}, false, true, ~0u, {}, {}};

constexpr uint32_t last_clock = (1u << 22) - 1;  // as wide as Trace::clock

static void reset_warp_clocks(int first_thread, int lanes) {
  for (int t = first_thread; t < first_thread + lanes; t++) {
    memset(ordering.warp_clock[t], 0, sizeof ordering.warp_clock[t]);
    ordering.warp_clock[t][t % warp_lanes] = ordering.own_clock[t] = 1;
  }
}

void order_from_start() { ordering.now = ordering.launch_start = ordering.block_start = ordering.interval_start = 1; }

void order_launch() {
  ordering.launch_start = ++ordering.now;
  ordering.released = 0;
}

void order_block() {
  ordering.block_start = ordering.interval_start = ++ordering.now;
  ordering.acquired_by_block = ordering.acquired_since_barrier = 0;
  ordering.fenced = false;
  if (ordering.acquired_any) memset(ordering.acquired, 0, sizeof ordering.acquired);
  ordering.acquired_any = false;
  for (; ordering.synced_warps; ordering.synced_warps &= ordering.synced_warps - 1)
    reset_warp_clocks(__builtin_ctz(ordering.synced_warps) * warp_lanes, warp_lanes);
}

void order_barrier() {
  ordering.interval_start = ++ordering.now;
  if (ordering.acquired_since_barrier > ordering.acquired_by_block)
    ordering.acquired_by_block = ordering.acquired_since_barrier;
}

void order_warp(int first_thread, uint32_t lanes) {
  ordering.synced_warps |= 1u << (first_thread / warp_lanes);
  uint32_t joined[warp_lanes] = {}, acquired = 0, newest = 0;
  for (int l = 0; l < warp_lanes; l++) {
    if (!(lanes >> l & 1)) continue;
    const uint32_t *known = ordering.warp_clock[first_thread + l];
    for (int k = 0; k < warp_lanes; k++) joined[k] = known[k] > joined[k] ? known[k] : joined[k];
    if (ordering.acquired[first_thread + l] > acquired) acquired = ordering.acquired[first_thread + l];
    if (known[l] > newest) newest = known[l];
  }
  if (newest == last_clock) {  // the clock is spent: start anew, and count all that was as ordered
    acquired = ordering.acquired_since_barrier = ++ordering.now;
    for (int l = 0; l < warp_lanes; l++) ordering.acquired[first_thread + l] = acquired;
    ordering.acquired_any = true;
    reset_warp_clocks(first_thread, warp_lanes);
    return;
  }
  for (int l = 0; l < warp_lanes; l++) {
    if (!(lanes >> l & 1)) continue;
    uint32_t *known = ordering.warp_clock[first_thread + l];
    memcpy(known, joined, sizeof joined);
    ordering.own_clock[first_thread + l] = ++known[l];
    ordering.acquired[first_thread + l] = acquired;
  }
}

void order_fence() { ordering.fenced = true; }

void order_atomic(int current) {
  if (ordering.fenced) ordering.released = ++ordering.now;
  ordering.acquired[current] = ordering.released;
  ordering.acquired_any = true;
  if (ordering.released > ordering.acquired_since_barrier) ordering.acquired_since_barrier = ordering.released;
}

}  // namespace cuda_on_cpu
