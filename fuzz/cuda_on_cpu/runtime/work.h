// How the host's work, and the work that it gives its streams, is ordered.
//
// The host and each stream are a timeline: its work is done in its order. A piece of work (a launch, a copy, ...)
// knows, for each timeline, the moment (ordering.h) before which its work is done; work that it does not know of is
// concurrent with it, whichever came first here, where everything is done at once. The same holds for memory accesses
// by two pieces of work.
//
// Order comes from: a timeline's own order; the host, which starts work after what it has done and waited for; events;
// and the legacy default stream, which waits for all blocking streams, as they wait for it.
//
// A kernel with programmatic stream serialization may begin early: when every block of the kernel before it has triggered
// (cudaTriggerProgrammaticLaunchCompletion) or ended. Before its first instruction comes only what came before the first
// instruction of that kernel and, if a block triggered or ended after a thread of it had waited, what that kernel waited
// for. Everything else comes before what a thread does after cudaGridDependencySynchronize; but what the kernel before has
// never waited for does so on GPUs alone, not by PTX (unwaited_by).
#pragma once
#include <cstdint>

#include "abi.h"

namespace cuda_on_cpu {

using Timeline = uint32_t;
constexpr Timeline of_host = 0, legacy_stream = 1, per_thread_stream = 2, first_stream = 3, most_timelines = 64;

// For each timeline: all of its work before this moment is done.
struct Done {
  uint32_t until[most_timelines];
};

// What comes before the first instruction of a kernel: work that is done, and work that reads nothing more.
struct Beginning {
  Done done, reads;
};

struct Piece {
  uint32_t from;
  Timeline timeline;
  Work what;
  uint32_t launched;  // for a kernel: which of the host's launches
  uint32_t graph;     // as in begin_lane; 0 on a stream
};

void finish_work();  // all of it is done: the caller of the host function waits for it
Timeline make_timeline(bool waits_for_legacy);
void end_timeline(Timeline timeline);  // gets no new work; work that it was given is still done

// The next work of a timeline comes after this much, and not after what it has done before: it is a lane of a graph, in
// this launch of all launches of graphs.
void begin_lane(Timeline timeline, const Done &before, uint32_t graph);

void join(Beginning &to, const Beginning &from);
// The next kernel of a timeline may begin early, after this much.
void let_begin_early(Timeline timeline, const Beginning &after);
// What came before the last kernel of a timeline, and what comes before a kernel that begins at its trigger.
const Beginning &beginning_of_last(Timeline timeline);
const Beginning &beginning_at_trigger(Timeline timeline);

// What an event recorded on this timeline now represents.
void record(Timeline timeline, Done &event);
void wait_for(Timeline waiting, const Done &event);
void host_waits_for(Timeline timeline);
void host_waits_for_all();
// Whether there is work that the host has not waited for.
bool host_is_ahead();

// Between the two, accesses belong to this piece of work.
void begin_work(Timeline timeline, Work what, bool may_begin_early = false);
void end_work();
void begin_hosts_own();  // the host continues by itself

// For an access of another piece of work: whether it was done before the current work.
bool is_done_before(uint32_t when);
// For a kernel that began early: whether an access was done before what a thread does after its wait; and whether a read
// was over when the kernel began.
bool has_begun_early();
bool is_done_before_wait(uint32_t when);
bool is_read_before_start(uint32_t when);
// The launch between the two that never waited for the work of that moment, if there is one: its end, for which the current
// kernel waits, does not say that this work is over.
const uint32_t *unwaited_by(uint32_t when);
void note_wait();  // a thread of the running kernel has waited
// A block of the running kernel triggers, or ends without that; `has_waited`: it knows that its kernel's wait is over.
void note_trigger(bool is_explicit, bool has_waited);
// If none was begun, as in a launch that no host starts, everything before it is done.
bool has_work();
Piece piece_now();
Piece piece_at(uint32_t when);
bool is_of_this_graph(uint32_t when);  // in the same launch of the graph

}  // namespace cuda_on_cpu
