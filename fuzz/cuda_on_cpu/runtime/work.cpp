#include "work.h"

#include <sys/mman.h>

#include "block.h"
#include "ordering.h"
#include "state.h"

namespace cuda_on_cpu {

namespace {

constexpr uint32_t most_pieces = 1 << 20;

// Between two moments of one timeline.
struct Range {
  uint32_t from, until;
  uint32_t launched;  // which launch has not waited for what lies in it
};

struct Timelines {
  Done done_before[most_timelines];    // what the next work on a timeline knows of
  uint32_t last[most_timelines];       // the end of its last work
  uint32_t open_from[most_timelines];  // the host has waited for all of its work before this moment
  uint32_t users[most_timelines];      // streams and lanes; more than one if none were left
  bool waits_for_legacy[most_timelines];
  uint32_t graph_of[most_timelines];
  bool is_kernel_last[most_timelines];
  Beginning at_start[most_timelines], at_trigger[most_timelines];  // of the last kernel, where the last work is one
  Range unwaited[most_timelines];  // what may not be over with the last kernel, since that never waited for it
  Done after_wait;           // what the current kernel waits for
  Range unwaited_now;        // except for this, as far as PTX says
  bool has_waited;           // a thread of it has waited
  bool is_early;             // it may have begun before that was done
  bool has_triggered;        // a block of it has triggered
  bool triggers_after_wait;  // a block of it has triggered, or ended, when it knew that the wait was over
  uint32_t timeline_count = 0;
  uint32_t piece_count;
  Piece now_at;
  const Done *known;  // for the current work
  Timelines();
};
PerRun<Timelines> work;

struct PieceMapping {
  Piece *pieces;  // in the order of their moments; everything before the first is known to all
};
PerProcess<PieceMapping> mapping;

void begin_timeline(Timelines &all, Timeline t) {
  all.done_before[t] = {};
  all.last[t] = all.open_from[t] = all.users[t] = all.graph_of[t] = 0;
  all.waits_for_legacy[t] = all.is_kernel_last[t] = false;
  all.unwaited[t] = {};
}

// Clears only the timelines that exist: most runs have only the host's and the default streams.
Timelines::Timelines() : unwaited_now{}, has_waited(false), is_early(false), has_triggered(false), triggers_after_wait(false), piece_count(0), now_at{}, known(nullptr) {
  while (timeline_count < first_stream) begin_timeline(*this, timeline_count++);
  users[of_host] = users[legacy_stream] = users[per_thread_stream] = 1;
  waits_for_legacy[per_thread_stream] = true;
}

// Returns whether that brought anything new.
bool join(Done &to, const Done &from) {
  bool is_new = false;
  for (uint32_t t = 0; t < work.timeline_count; t++)
    if (from.until[t] > to.until[t]) to.until[t] = from.until[t], is_new = true;
  return is_new;
}

bool knows_all_of(const Done &done, Timeline t) { return done.until[t] >= work.last[t]; }

// Everything counts as waited for: nothing is kept of more pieces.
void forget_pieces() {
  host_waits_for_all();
  for (uint32_t t = 0; t < work.timeline_count; t++) join(work.done_before[t], work.done_before[of_host]);
  work.piece_count = 0;
}

void note_piece(const Piece &piece) {
  if (!mapping.pieces) {
    void *memory = mmap(nullptr, most_pieces * sizeof(Piece), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    mapping.pieces = memory == MAP_FAILED ? nullptr : static_cast<Piece *>(memory);
  }
  if (!mapping.pieces || work.piece_count == most_pieces || !host_is_ahead()) forget_pieces();
  if (mapping.pieces) mapping.pieces[work.piece_count++] = piece;
}

const Piece *find_piece(uint32_t when) {
  uint32_t low = 0, high = work.piece_count;  // the last that began at or before that moment
  if (!work.piece_count || when < mapping.pieces[0].from) return nullptr;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    (mapping.pieces[middle].from <= when ? low : high) = middle;
  }
  return &mapping.pieces[low];
}

// The moment before which everything is done.
uint32_t all_done_until(uint32_t now) {
  uint32_t until = now;
  for (Timeline t = 1; t < work.timeline_count; t++) {
    if (knows_all_of(*work.known, t)) continue;
    uint32_t of_this = work.known->until[t] > work.open_from[t] ? work.known->until[t] : work.open_from[t];
    if (of_this < until) until = of_this;
  }
  return until;
}

// Where another stream brings something new, the next kernel waits for all that was before.
void learn_what_is_before(Timeline timeline) {
  join(work.done_before[timeline], work.done_before[of_host]);
  bool is_new = false;
  if (timeline == legacy_stream) {
    for (Timeline t = per_thread_stream; t < work.timeline_count; t++)
      if (work.waits_for_legacy[t]) is_new |= join(work.done_before[timeline], work.done_before[t]);
  } else if (work.waits_for_legacy[timeline]) {
    is_new = join(work.done_before[timeline], work.done_before[legacy_stream]);
  }
  if (is_new) work.is_kernel_last[timeline] = false;
}

void begin_kernel(Timeline timeline, bool may_begin_early) {
  work.after_wait = work.done_before[timeline];
  work.is_early = may_begin_early && work.is_kernel_last[timeline];
  work.has_triggered = work.triggers_after_wait = work.has_waited = false;
  work.unwaited_now = work.is_early ? work.unwaited[timeline] : Range{};
  Beginning &start = work.at_start[timeline];
  if (work.is_early) {
    start = work.at_trigger[timeline];
    join(start, {work.done_before[of_host], work.done_before[of_host]});
    work.known = &start.done;
  } else {
    start = {work.after_wait, work.after_wait};
  }
}

// A kernel that never waits may be over before those before it, except for what was over when it began.
Range unwaited_after_kernel(Timeline timeline) {
  if (!work.is_early) return {};
  Range left = work.has_waited ? work.unwaited_now : Range{0, work.now_at.from, work.now_at.launched};
  uint32_t over = work.at_start[timeline].done.until[timeline];
  if (left.from < over) left.from = over;
  return left;
}

void end_kernel(Timeline timeline) {
  work.unwaited[timeline] = unwaited_after_kernel(timeline);
  Beginning &trigger = work.at_trigger[timeline] = work.at_start[timeline];
  if (work.triggers_after_wait) join(trigger, {work.after_wait, work.after_wait});
  if (!work.has_triggered) trigger.reads.until[timeline] = work.last[timeline];  // all of its blocks have ended then
}

}  // namespace

void finish_work() {
  forget_pieces();
  work.known = nullptr;
}

// A timeline whose work the host has waited for can be reused. If none are left, two streams share one: then work on
// the one seems to be ordered before work on the other.
Timeline make_timeline(bool with_legacy) {
  Timeline made = work.timeline_count;
  if (made == most_timelines) {
    made = first_stream;
    for (Timeline t = first_stream; t < most_timelines; t++)
      if (!work.users[t] && (work.users[made] || knows_all_of(work.done_before[of_host], t))) made = t;
  } else {
    begin_timeline(work, work.timeline_count++);
  }
  work.waits_for_legacy[made] = with_legacy || (work.users[made] && work.waits_for_legacy[made]);
  work.users[made]++;
  work.graph_of[made] = 0;
  work.is_kernel_last[made] = false;
  return made;
}

void begin_lane(Timeline timeline, const Done &before, uint32_t graph) {
  work.graph_of[timeline] = graph;
  if (work.users[timeline] == 1)
    work.done_before[timeline] = before;
  else
    join(work.done_before[timeline], before);
}

void end_timeline(Timeline timeline) { work.users[timeline]--; }

void record(Timeline timeline, Done &event) {
  learn_what_is_before(timeline);
  event = work.done_before[timeline];
  work.is_kernel_last[timeline] = false;
}

void wait_for(Timeline waiting, const Done &event) {
  learn_what_is_before(waiting);
  if (join(work.done_before[waiting], event)) work.is_kernel_last[waiting] = false;
}

void join(Beginning &to, const Beginning &from) {
  join(to.done, from.done);
  join(to.reads, from.reads);
}

void let_begin_early(Timeline timeline, const Beginning &after) {
  work.at_trigger[timeline] = after;
  work.is_kernel_last[timeline] = true;
}
const Beginning &beginning_of_last(Timeline timeline) { return work.at_start[timeline]; }
const Beginning &beginning_at_trigger(Timeline timeline) { return work.at_trigger[timeline]; }

void host_waits_for(Timeline timeline) {
  learn_what_is_before(timeline);
  join(work.done_before[of_host], work.done_before[timeline]);
}

void host_waits_for_all() {
  for (Timeline t = 1; t < work.timeline_count; t++) join(work.done_before[of_host], work.done_before[t]);
}

bool host_is_ahead() {
  for (Timeline t = 1; t < work.timeline_count; t++)
    if (!knows_all_of(work.done_before[of_host], t)) return true;
  return false;
}

void begin_work(Timeline timeline, Work what, bool may_begin_early) {
  learn_what_is_before(timeline);
  uint32_t from = next_moment();
  if (knows_all_of(work.done_before[of_host], timeline)) work.open_from[timeline] = from;
  work.now_at = {from, timeline, what, run->launched_now, work.graph_of[timeline]};
  note_piece(work.now_at);
  work.known = &work.done_before[timeline];
  if (what == Work::kernel) begin_kernel(timeline, may_begin_early);
  (what == Work::kernel ? order_work : order_single)(from, all_done_until(from));
}

void end_work() {
  Timeline t = work.now_at.timeline;
  work.last[t] = work.done_before[t].until[t] = next_moment();
  work.is_kernel_last[t] = work.now_at.what == Work::kernel;
  if (work.is_kernel_last[t]) end_kernel(t);
  work.is_early = false;
  work.known = nullptr;
}

void begin_hosts_own() {
  uint32_t from = next_moment();
  work.now_at = {from, of_host, Work::host, run->launched_now, 0};
  work.known = &work.done_before[of_host];
  order_single(from, all_done_until(from));
}

bool is_done_before(uint32_t when) {
  const Piece *piece = find_piece(when);
  return !work.known || !piece || when < work.known->until[piece->timeline];
}

bool has_begun_early() { return work.is_early; }

bool is_done_before_wait(uint32_t when) {
  const Piece *piece = find_piece(when);
  return work.is_early && piece && when < work.after_wait.until[piece->timeline];
}

const uint32_t *unwaited_by(uint32_t when) {
  const Piece *piece = find_piece(when);
  bool is_in = piece && piece->timeline == work.now_at.timeline && piece->graph == work.now_at.graph;
  return is_in && when >= work.unwaited_now.from && when < work.unwaited_now.until ? &work.unwaited_now.launched : nullptr;
}

bool is_read_before_start(uint32_t when) {
  const Piece *piece = find_piece(when);
  return work.is_early && piece && when < work.at_start[work.now_at.timeline].reads.until[piece->timeline];
}

void note_wait() { work.has_waited = true; }

void note_trigger(bool is_explicit, bool has_waited) {
  work.has_triggered |= is_explicit;
  work.triggers_after_wait |= has_waited;
}

bool has_work() { return work.known; }
Piece piece_now() { return work.now_at; }

Piece piece_at(uint32_t when) {
  if (when >= work.now_at.from) return work.now_at;
  const Piece *piece = find_piece(when);
  return piece ? *piece : work.now_at;
}

bool is_of_this_graph(uint32_t when) { return work.now_at.graph && piece_at(when).graph == work.now_at.graph; }

}  // namespace cuda_on_cpu
