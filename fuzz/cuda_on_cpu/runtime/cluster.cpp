#include "cluster.h"

#include "checker.h"
#include "grid.h"
#include "late_writes.h"
#include "memory_map.h"
#include "ordering.h"
#include "report.h"
#include "shared_memory.h"

namespace cuda_on_cpu {

namespace {

bool has(const uint64_t *bits, int t) { return bits[t / 64] >> (t % 64) & 1; }

void set(uint64_t *bits, int t, bool value) {
  uint64_t bit = uint64_t{1} << (t % 64);
  bits[t / 64] = value ? bits[t / 64] | bit : bits[t / 64] & ~bit;
}

// A thread arrives again only after it has waited: one bit is enough for the phase that it arrived in.
bool is_of_this_phase(const Cluster &c, int t) { return has(block.arrived_in_odd, t) == (c.phase & 1); }

void pass(Cluster &c) {
  if (run->check) checker_passed_cluster_barrier(c);
  came_on();
  run->thread_steps += c.live;
  c.phase++;
  c.arrived = 0;
  unpark(c);
  release_from_cluster_barrier();
}

[[noreturn]] void report_misuse(bool waits, int line) {
  report(waits ? Kind::cluster_never_arrived : Kind::cluster_arrived_twice, 0, static_cast<uint32_t>(line));
  stop_run(Status::stopped);
}

// A relaxed arrival tells the others only what its thread's last fence has prepared.
void arrive(int line, bool apart, bool releases = true) {
  end_of_read();
  Cluster &c = own_cluster();
  int me = block.current;
  if (has(block.has_arrived, me)) report_misuse(false, line);
  threads.line[me] = line;
  set(block.has_arrived, me, true);
  set(block.arrived_in_odd, me, c.phase & 1);
  set(block.arrived_apart, me, apart);
  if (apart && run->check) {
    set(c.member[block.rank].apart, me, true);
    order_arrival_apart(c, me, releases);
  }
  if (++c.arrived == c.live) pass(c);
}

void wait_for_cluster(int line) {
  end_of_read();
  Cluster &c = own_cluster();
  int me = block.current;
  if (!has(block.has_arrived, me)) report_misuse(true, line);
  if (is_of_this_phase(c, me)) {
    threads.line[me] = line;
    threads.state[me] = State::at_cluster_barrier;
    block.at_cluster_barrier++;
    block.waits_in_phase = c.phase;
    wait();
  }
  set(block.has_arrived, me, false);
  if (has(block.arrived_apart, me) && run->check) order_wait_of_cluster(c, me);
}

}  // namespace

void release_from_cluster_barrier() {
  if (!block.at_cluster_barrier || block.waits_in_phase == block.cluster->phase) return;
  block.at_cluster_barrier = 0;
  block.ring_is_stale = true;
  for (int i = 0; i < block.size; i++) {
    int t = turns.order[i];
    if (threads.state[t] != State::at_cluster_barrier) continue;
    threads.state[t] = State::ready;
    ring.push_back(t);
  }
}

// Its barrier waits only for threads that have not ended.
void leave_cluster(int t) {
  Cluster &c = *block.cluster;
  c.live--;
  if (has(block.has_arrived, t) && is_of_this_phase(c, t)) c.arrived--;
  if (c.arrived && c.arrived == c.live) pass(c);
}

uint32_t remote_rank_of(uintptr_t address) {
  if (!block.cluster) return no_rank;
  const Cluster &c = *block.cluster;
  for (uint32_t rank = 0; rank < c.size; rank++)
    if (rank != block.rank && is_shared_of(c.member[rank].resident, address)) return rank;
  return no_rank;
}

bool checker_remote_access(uint32_t rank, const RemoteAccess &access) {
  Member &owner = block.cluster->member[rank];
  bool begun = has_begun(*owner.ordering, block.current);
  if (owner.has_ended || !begun) {
    Kind kind = owner.has_ended ? Kind::remote_too_late : Kind::remote_too_early;
    if (Finding *f = report(kind, access.trace.pc(), 0)) {
      f->bytes = access.bytes;
      f->writes = access.writes;
      locate(access.address, *f);
    }
  }
  owner.last_of[block.rank] = access;
  return !owner.has_ended;
}

void checker_ends_member() {
  Cluster &c = *block.cluster;
  const Member &me = c.member[block.rank];
  for (uint32_t rank = 0; rank < c.size; rank++) {
    const RemoteAccess &last = me.last_of[rank];
    if (!last.trace.when || is_known_at_end(last.trace)) continue;
    if (Finding *f = report(Kind::remote_too_late, last.trace.pc(), 0)) {
      f->bytes = last.bytes;
      f->writes = last.writes;
      locate(last.address, *f);
      f->owner = 1 + block.number;
      f->thread = last.trace.thread();
      f->block = c.member[rank].block;
    }
  }
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

CUDA_ON_CPU_API void cuda_on_cpu_cluster_barrier(int line) {
  arrive(line, false);
  wait_for_cluster(line);
}
CUDA_ON_CPU_API void cuda_on_cpu_cluster_arrive(int line) { arrive(line, true); }
CUDA_ON_CPU_API void cuda_on_cpu_cluster_arrive_relaxed(int line) { arrive(line, true, false); }
CUDA_ON_CPU_API void cuda_on_cpu_cluster_wait(int line) { wait_for_cluster(line); }

CUDA_ON_CPU_API uint32_t cuda_on_cpu_cluster_rank() { return block.rank; }
CUDA_ON_CPU_API uint32_t cuda_on_cpu_cluster_side(int axis) { return own_cluster().side[axis]; }

CUDA_ON_CPU_API uint32_t cuda_on_cpu_shared_rank(const void *p) {
  const Cluster &c = own_cluster();
  for (uint32_t rank = 0; rank < c.size; rank++)
    if (is_shared_of(c.member[rank].resident, reinterpret_cast<uintptr_t>(p))) return rank;
  return no_rank;
}

// The same place in the shared memory of another block; null if it is not shared memory, or the block is not of the
// cluster.
CUDA_ON_CPU_API void *cuda_on_cpu_map_shared(const void *p, uint32_t rank) {
  const Cluster &c = own_cluster();
  uint32_t from = cuda_on_cpu_shared_rank(p);
  if (rank >= c.size || from == no_rank) return nullptr;
  return same_place(p, c.member[from].resident, c.member[rank].resident);
}

// The lower 32 bits of an address in shared memory of any block of the cluster are enough to identify it.
CUDA_ON_CPU_API void *cuda_on_cpu_cluster_shared_at(uint64_t address) {
  if (address >> 32) return reinterpret_cast<void *>(address);
  const Cluster &c = own_cluster();
  for (uint32_t rank = 0; rank < c.size; rank++) {
    void *there = shared_near(c.member[rank].resident, static_cast<uint32_t>(address));
    if (is_shared_of(c.member[rank].resident, reinterpret_cast<uintptr_t>(there))) return there;
  }
  return shared_near(c.member[block.rank].resident, static_cast<uint32_t>(address));
}
