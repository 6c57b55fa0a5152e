// What of the host's work, and of what it asks its streams to do, is ordered before what.
//
// The host and each stream are a timeline: what stands on one goes in its order. A piece of work (a launch, a copy, ...)
// knows of each timeline up to which moment (ordering.h) it is done before; what it does not know is concurrent with it,
// whichever came first here, where everything is done at once. So it is for accesses of memory by two pieces of work.
//
// Order comes from: a timeline's own; the host, who asks for work after what it has done and waited for; events; and the
// legacy default stream, which waits for all blocking streams and they for it.
#pragma once
#include <cstdint>

#include "abi.h"

namespace cuda_on_cpu {

using Timeline = uint32_t;
constexpr Timeline of_host = 0, legacy_stream = 1, per_thread_stream = 2, first_stream = 3, most_timelines = 64;

// Of each timeline: all of it that is older than this moment has been done.
struct Done {
  uint32_t until[most_timelines];
};

struct Piece {
  uint32_t from;
  Timeline timeline;
  Work what;
  uint32_t launched;  // of a kernel: which of the host's launches
  uint32_t graph;     // as begin_lane has it; 0 on a stream
};

void finish_work();  // all of it is done: whoever has called the host function waits for it
Timeline make_timeline(bool waits_for_legacy);
void end_timeline(Timeline timeline);  // no more is asked of it; what was asked is done all the same

// What is asked of a timeline next comes after this much, and not after what it has done before: it is a lane of a graph,
// which has been launched at so many launches of graphs.
void begin_lane(Timeline timeline, const Done &before, uint32_t graph);

// What an event recorded now on this timeline stands for.
void record(Timeline timeline, Done &event);
void wait_for(Timeline waiting, const Done &event);
void host_waits_for(Timeline timeline);
void host_waits_for_all();
// Whether there is work that the host has not waited for.
bool host_is_ahead();

// Between the two, accesses belong to this piece of work.
void begin_work(Timeline timeline, Work what);
void end_work();
void begin_hosts_own();  // the host goes on by itself

// Of an access of another piece of work: whether it was done before what is done now.
bool is_done_before(uint32_t when);
// Where none was begun, as in a launch that no host asks for, all that came before is.
bool has_work();
Piece piece_now();
Piece piece_at(uint32_t when);
bool is_of_this_graph(uint32_t when);  // of the same launch of it

}  // namespace cuda_on_cpu
