// units: ordering knowledge messages work block
#include "runtime/ordering.h"

#include "expect.h"

using namespace cuda_on_cpu;

static BlockOrdering first, second;

static Trace access_by(uint32_t thread) { return {ordering.now, who_is(thread, 0), how_is(0, Trace::whole)}; }

int main() {
  SmallRun job;
  block.size = block.live = 64;
  EXPECT(prepare_ordering());
  order_launch();
  order_block(first);

  Trace by_40 = access_by(40);
  EXPECT(is_ordered(by_40, 40));   // the same thread's
  EXPECT(!is_ordered(by_40, 41));  // another lane of its warp
  order_warp(32, ~0u, ~0u);
  EXPECT(is_ordered(by_40, 41));   // after __syncwarp
  EXPECT(!is_ordered(by_40, 1));   // a thread of another warp
  order_barrier();
  EXPECT(is_ordered(by_40, 1));

  Trace half = access_by(3);
  order_warp(0, 0xf, ~0u);  // lanes 0 to 3 alone
  EXPECT(is_ordered(half, 2) && !is_ordered(half, 4));

  // Block 0 writes, fences and sets a flag; block 1 reads the flag and fences.
  constexpr uintptr_t flag = 0x5000;
  Trace data = access_by(0);
  order_fence(0, Scope::device);
  order_strong(0, flag, {Scope::device, false, true, false, false});
  Trace late = access_by(0);
  order_block(second);
  EXPECT(!is_of_this_block(data.when) && is_of_this_work(data.when));
  EXPECT(!is_ordered(data, 0));
  order_strong(0, flag, {Scope::device, true, false, false, false});
  EXPECT(!is_ordered(data, 0));  // not before the fence
  order_fence(0, Scope::device);
  EXPECT(is_ordered(data, 0) && !is_ordered(data, 1));
  EXPECT(!is_ordered(late, 0));  // came after the fence of the writer
  order_barrier();
  EXPECT(is_ordered(data, 63));  // a barrier spreads what one thread knows

  // A bulk copy is over for a thread that knows of its flight; a fence of the writer, before the barrier, orders the proxies.
  order_block(first);
  Trace stored = access_by(7), unfenced = access_by(8);
  order_proxy_fence(7, Proxy::async_shared);
  order_barrier();
  EXPECT(is_ordered(stored, 0) && is_fenced(stored, 0, Proxy::async_shared));
  EXPECT(!is_fenced(stored, 0, Proxy::async_global) && !is_fenced(unfenced, 0, Proxy::async_shared));
  order_proxy_fence(0, Proxy::async_shared);
  EXPECT(is_fenced(unfenced, 0, Proxy::async_shared) && !is_fenced(unfenced, 1, Proxy::async_shared));
  uint32_t moment = begin_flight();
  Trace copied = {moment, who_is(0, 0), how_is(0, Trace::whole | Trace::bulk_bit)};
  EXPECT(!is_ordered(copied, 0) && !is_flight_known_in_block(moment));
  order_barrier();
  EXPECT(!is_ordered(copied, 0));  // a barrier of threads orders no copy
  order_told(3, with_flight(nothing, moment));
  EXPECT(is_ordered(copied, 3) && !is_ordered(copied, 0) && is_flight_known_in_block(moment));
  order_barrier();
  EXPECT(is_ordered(copied, 0));
  EXPECT(!is_ordered({begin_flight(), who_is(0, 0), how_is(0, Trace::whole | Trace::bulk_bit)}, 3));  // another one

  order_launch();
  order_block(first);
  EXPECT(is_ordered(late, 5) && is_ordered(copied, 5));  // the launch before
  return failures;
}
