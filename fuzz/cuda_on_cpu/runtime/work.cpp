#include "work.h"

#include <sys/mman.h>

#include "block.h"
#include "ordering.h"

namespace cuda_on_cpu {

namespace {

constexpr uint32_t most_pieces = 1 << 20;

Done done_before[most_timelines];   // what the next work on a timeline knows of
uint32_t last[most_timelines];      // when its last work had ended
uint32_t open_from[most_timelines]; // all of its work before this moment the host has waited for
uint32_t users[most_timelines];     // streams and lanes; more than one where there were none left
bool waits_for_legacy[most_timelines];
uint32_t graph_of[most_timelines];
uint32_t timeline_count = first_stream;

Piece *pieces;  // in the order of their moments; what came before the first is known to all
uint32_t piece_count;
Piece now_at;
const Done *known;  // to the work that is being done

void join(Done &to, const Done &from) {
  for (uint32_t t = 0; t < timeline_count; t++)
    if (from.until[t] > to.until[t]) to.until[t] = from.until[t];
}

bool knows_all_of(const Done &done, Timeline t) { return done.until[t] >= last[t]; }

// All is as if it had been waited for: of more pieces nothing is kept.
void forget_pieces() {
  host_waits_for_all();
  for (uint32_t t = 0; t < timeline_count; t++) join(done_before[t], done_before[of_host]);
  piece_count = 0;
}

void note_piece(const Piece &piece) {
  if (!pieces) {
    void *memory = mmap(nullptr, most_pieces * sizeof(Piece), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    pieces = memory == MAP_FAILED ? nullptr : static_cast<Piece *>(memory);
  }
  if (!pieces || piece_count == most_pieces || !host_is_ahead()) forget_pieces();
  if (pieces) pieces[piece_count++] = piece;
}

const Piece *find_piece(uint32_t when) {
  uint32_t low = 0, high = piece_count;  // the last that began at or before then
  if (!piece_count || when < pieces[0].from) return nullptr;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    (pieces[middle].from <= when ? low : high) = middle;
  }
  return &pieces[low];
}

// The moment before which everything is done.
uint32_t all_done_until(uint32_t now) {
  uint32_t until = now;
  for (Timeline t = 1; t < timeline_count; t++) {
    if (knows_all_of(*known, t)) continue;
    uint32_t of_this = known->until[t] > open_from[t] ? known->until[t] : open_from[t];
    if (of_this < until) until = of_this;
  }
  return until;
}

void learn_what_is_before(Timeline timeline) {
  join(done_before[timeline], done_before[of_host]);
  if (timeline == legacy_stream) {
    for (Timeline t = per_thread_stream; t < timeline_count; t++)
      if (waits_for_legacy[t]) join(done_before[timeline], done_before[t]);
  } else if (waits_for_legacy[timeline]) {
    join(done_before[timeline], done_before[legacy_stream]);
  }
}

}  // namespace

void forget_work() {
  for (Timeline t = 0; t < most_timelines; t++) {
    done_before[t] = {};
    last[t] = open_from[t] = 0;
    users[t] = t < first_stream;
    graph_of[t] = 0;
    waits_for_legacy[t] = t == per_thread_stream;
  }
  timeline_count = first_stream;
  piece_count = 0;
  known = nullptr;
}

void finish_work() {
  forget_pieces();
  known = nullptr;
}

// One whose work the host has waited for is as good as new. Where there are none left, two streams share one: what is on
// the one then seems to be ordered before what is on the other.
Timeline make_timeline(bool with_legacy) {
  Timeline made = timeline_count;
  if (made == most_timelines) {
    made = first_stream;
    for (Timeline t = first_stream; t < most_timelines; t++)
      if (!users[t] && (users[made] || knows_all_of(done_before[of_host], t))) made = t;
  } else {
    timeline_count++;
  }
  waits_for_legacy[made] = with_legacy || (users[made] && waits_for_legacy[made]);
  users[made]++;
  graph_of[made] = 0;
  return made;
}

void begin_lane(Timeline timeline, const Done &before, uint32_t graph) {
  graph_of[timeline] = graph;
  if (users[timeline] == 1)
    done_before[timeline] = before;
  else
    join(done_before[timeline], before);
}

void end_timeline(Timeline timeline) { users[timeline]--; }

void record(Timeline timeline, Done &event) {
  learn_what_is_before(timeline);
  event = done_before[timeline];
}

void wait_for(Timeline waiting, const Done &event) {
  learn_what_is_before(waiting);
  join(done_before[waiting], event);
}

void host_waits_for(Timeline timeline) {
  learn_what_is_before(timeline);
  join(done_before[of_host], done_before[timeline]);
}

void host_waits_for_all() {
  for (Timeline t = 1; t < timeline_count; t++) join(done_before[of_host], done_before[t]);
}

bool host_is_ahead() {
  for (Timeline t = 1; t < timeline_count; t++)
    if (!knows_all_of(done_before[of_host], t)) return true;
  return false;
}

void begin_work(Timeline timeline, Work what) {
  learn_what_is_before(timeline);
  uint32_t from = next_moment();
  if (knows_all_of(done_before[of_host], timeline)) open_from[timeline] = from;
  now_at = {from, timeline, what, run->launched_now, graph_of[timeline]};
  note_piece(now_at);
  known = &done_before[timeline];
  (what == Work::kernel ? order_work : order_single)(from, all_done_until(from));
}

void end_work() {
  Timeline t = now_at.timeline;
  last[t] = done_before[t].until[t] = next_moment();
  known = nullptr;
}

void begin_hosts_own() {
  uint32_t from = next_moment();
  now_at = {from, of_host, Work::host, run->launched_now, 0};
  known = &done_before[of_host];
  order_single(from, all_done_until(from));
}

bool is_done_before(uint32_t when) {
  const Piece *piece = find_piece(when);
  return !known || !piece || when < known->until[piece->timeline];
}

bool has_work() { return known; }
Piece piece_now() { return now_at; }

Piece piece_at(uint32_t when) {
  if (when >= now_at.from) return now_at;
  const Piece *piece = find_piece(when);
  return piece ? *piece : now_at;
}

bool is_of_this_graph(uint32_t when) { return now_at.graph && piece_at(when).graph == now_at.graph; }

}  // namespace cuda_on_cpu
