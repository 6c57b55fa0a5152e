// units: work ordering knowledge messages block
#include "runtime/work.h"

#include "expect.h"
#include "runtime/ordering.h"

using namespace cuda_on_cpu;

// A kernel with one access; its blocks trigger, or end, knowing that their wait is over or not.
static uint32_t finish_kernel(bool triggers, bool has_waited) {
  uint32_t access = next_moment();
  note_trigger(triggers, has_waited);
  end_work();
  return access;
}
static void begin_kernel_on(Timeline stream) { begin_work(stream, Work::kernel, true); }

int main() {
  SmallRun job;
  block.size = block.live = 1;
  EXPECT(prepare_ordering());
  Timeline stream = make_timeline(false), other = make_timeline(false);

  begin_kernel_on(stream);
  EXPECT(!has_begun_early());  // nothing is before it
  uint32_t first = finish_kernel(true, false);

  begin_kernel_on(stream);
  EXPECT(has_begun_early() && !is_done_before(first) && is_done_before_wait(first));
  EXPECT(!is_read_before_start(first));  // a block of it may read after its trigger
  uint32_t second = finish_kernel(true, true);

  begin_kernel_on(stream);
  EXPECT(is_done_before(first));  // what the second waited for before it triggered
  EXPECT(!is_done_before(second) && is_done_before_wait(second));
  uint32_t third = finish_kernel(true, false);

  begin_kernel_on(stream);
  EXPECT(is_done_before(first) && !is_done_before(second));  // the third triggered before it waited
  EXPECT(!is_done_before(third) && is_done_before_wait(third));
  uint32_t fourth = finish_kernel(false, false);

  begin_kernel_on(stream);
  EXPECT(!is_done_before(fourth) && is_read_before_start(fourth));  // all of its blocks had ended
  Beginning of_fifth = beginning_of_last(stream);
  EXPECT(of_fifth.done.until[stream] <= second && of_fifth.done.until[stream] > first);
  finish_kernel(true, false);

  begin_work(stream, Work::kernel);  // one without the attribute
  EXPECT(!has_begun_early() && is_done_before(fourth));
  uint32_t full = finish_kernel(true, false);
  begin_kernel_on(stream);
  EXPECT(is_done_before(fourth) && !is_done_before(full));  // it comes after what that one came after
  finish_kernel(true, false);

  begin_work(stream, Work::set);
  end_work();
  begin_kernel_on(stream);
  EXPECT(!has_begun_early() && is_done_before(full));  // a memset is between
  finish_kernel(true, false);

  begin_work(other, Work::kernel);
  uint32_t elsewhere = finish_kernel(true, false);
  Done event;
  record(other, event);
  wait_for(stream, event);
  begin_kernel_on(stream);
  EXPECT(!has_begun_early() && is_done_before(elsewhere));  // the event brought something new
  uint32_t last = finish_kernel(true, false);

  begin_kernel_on(stream);
  EXPECT(!is_done_before(last));
  finish_kernel(true, false);
  host_waits_for(stream);
  begin_kernel_on(stream);
  EXPECT(is_done_before(last));  // the host has waited for it
  finish_kernel(true, false);

  let_begin_early(other, of_fifth);  // an edge of a graph
  begin_kernel_on(other);
  EXPECT(has_begun_early());
  finish_kernel(true, false);
  return failures;
}
