// NCCL's collectives for one rank: each copies what it is given, as one piece of work on its stream. The cpu device is one
// GPU, so a program that asks for more ranks is refused.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../runtime/state.h"
#include "include/cuda_on_cpu_host/nccl.h"
#include "library_work.h"

using namespace cuda_on_cpu;

struct CudaOnCpuRanks {
  ncclResult_t error;
};

namespace {

struct Collective {
  Asked by;
  const void *from;
  void *to;
  size_t bytes;
};

constexpr int most_ranks = 64, most_in_group = 1024;
struct Communicators {
  CudaOnCpuRanks *at[most_ranks];
  int groups;  // that are open, one within the other
  int waiting;
  Collective in_group[most_in_group];
  ~Communicators() {
    for (CudaOnCpuRanks *one : at) free(one);
  }
};
PerRun<Communicators> made;

CudaOnCpuRanks **place_of(ncclComm_t ranks) {
  for (CudaOnCpuRanks *&one : made.at)
    if (one == ranks) return &one;
  return nullptr;
}
bool is_there(ncclComm_t ranks) { return ranks && place_of(ranks); }

ncclResult_t make(ncclComm_t *to, int count, int line) {
  if (!to || count < 1) return ncclInvalidArgument;
  if (count > 1) {
    char words[96];
    snprintf(words, sizeof words, "kfuzz: NCCL has one rank on the cpu device, which is one GPU; the program asks for %d", count);
    host_refuses(words, line);
  }
  CudaOnCpuRanks **place = place_of(nullptr);
  if (!place) return ncclSystemError;
  *to = *place = static_cast<CudaOnCpuRanks *>(calloc(1, sizeof(CudaOnCpuRanks)));
  return ncclSuccess;
}

ncclResult_t drop(ncclComm_t ranks) {
  if (!is_there(ranks)) return ncclInvalidArgument;
  CudaOnCpuRanks **place = place_of(ranks);
  free(*place);
  *place = nullptr;
  return ncclSuccess;
}

// What one rank gives is what all give, whatever the reduction.
void copies(const Collective &c) {
  LibraryWork work(c.by, false);
  work.reads({c.from, c.bytes, 1, c.bytes});
  work.writes({c.to, c.bytes, 1, c.bytes});
  if (work.is_whole()) memmove(c.to, c.from, c.bytes);
}
ncclResult_t begin(const Collective &c) {
  return do_or_capture<Collective>(c, c.by, copies) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

size_t bytes_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
    case ncclFloat8e4m3:
    case ncclFloat8e5m2: return 1;
    case ncclFloat16:
    case ncclBfloat16: return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32: return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64: return 8;
    default: return 0;
  }
}

// Within a group nothing begins before the group ends.
ncclResult_t collective(const void *from, void *to, size_t count, ncclDataType_t type, int op, int root, ncclComm_t ranks, const Asked &by) {
  size_t each = bytes_of(type);
  if (!is_there(ranks) || !each || op < 0 || op >= ncclNumOps || root) return ncclInvalidArgument;
  if (!count) return ncclSuccess;
  Collective c = {by, from, to, count * each};
  if (!made.groups) return begin(c);
  if (made.waiting == most_in_group) host_refuses("kfuzz: a group of more than 1,024 of NCCL's collectives does not run on the cpu device", by.line);
  made.in_group[made.waiting++] = c;
  return ncclSuccess;
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int *version) {
  if (!version) return ncclInvalidArgument;
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  if (!id) return ncclInvalidArgument;
  memset(id, 1, sizeof *id);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t *ranks, int count, ncclUniqueId, int rank, int line) {
  return rank < 0 || rank >= count ? ncclInvalidArgument : make(ranks, count, line);
}

ncclResult_t ncclCommInitAll(ncclComm_t *ranks, int count, const int *devices, int line) {
  return devices && count == 1 && devices[0] ? ncclInvalidArgument : make(ranks, count, line);
}

ncclResult_t ncclCommFinalize(ncclComm_t ranks) { return is_there(ranks) ? ncclSuccess : ncclInvalidArgument; }
ncclResult_t ncclCommDestroy(ncclComm_t ranks) { return drop(ranks); }
ncclResult_t ncclCommAbort(ncclComm_t ranks) { return drop(ranks); }

ncclResult_t ncclCommCount(ncclComm_t ranks, int *count) {
  if (!is_there(ranks) || !count) return ncclInvalidArgument;
  *count = 1;
  return ncclSuccess;
}

ncclResult_t ncclCommUserRank(ncclComm_t ranks, int *rank) {
  if (!is_there(ranks) || !rank) return ncclInvalidArgument;
  *rank = 0;
  return ncclSuccess;
}

ncclResult_t ncclCommCuDevice(ncclComm_t ranks, int *device) { return ncclCommUserRank(ranks, device); }

ncclResult_t ncclCommGetAsyncError(ncclComm_t ranks, ncclResult_t *error) {
  if (!is_there(ranks) || !error) return ncclInvalidArgument;
  *error = ranks->error;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  made.groups++;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (!made.groups) return ncclInvalidUsage;
  if (--made.groups) return ncclSuccess;
  ncclResult_t worst = ncclSuccess;
  for (int i = 0; i < made.waiting; i++)
    if (ncclResult_t one = begin(made.in_group[i])) worst = one;
  made.waiting = 0;
  return worst;
}

ncclResult_t ncclAllReduce(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t by, ncclComm_t ranks, cudaStream_t stream, int line) {
  return collective(from, to, count, type, by, 0, ranks, ASKED(stream, false));
}

ncclResult_t ncclReduce(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t by, int root, ncclComm_t ranks, cudaStream_t stream, int line) {
  return collective(from, to, count, type, by, root, ranks, ASKED(stream, false));
}

ncclResult_t ncclReduceScatter(const void *from, void *to, size_t count_of_each, ncclDataType_t type, ncclRedOp_t by, ncclComm_t ranks, cudaStream_t stream, int line) {
  return collective(from, to, count_of_each, type, by, 0, ranks, ASKED(stream, false));
}

ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root, ncclComm_t ranks, cudaStream_t stream, int line) {
  return collective(from, to, count, type, ncclSum, root, ranks, ASKED(stream, false));
}

ncclResult_t ncclBcast(void *at, size_t count, ncclDataType_t type, int root, ncclComm_t ranks, cudaStream_t stream, int line) {
  return collective(at, at, count, type, ncclSum, root, ranks, ASKED(stream, false));
}

ncclResult_t ncclAllGather(const void *from, void *to, size_t count_of_each, ncclDataType_t type, ncclComm_t ranks, cudaStream_t stream, int line) {
  return collective(from, to, count_of_each, type, ncclSum, 0, ranks, ASKED(stream, false));
}

const char *ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess: return "no error";
    case ncclUnhandledCudaError: return "unhandled cuda error";
    case ncclSystemError: return "unhandled system error";
    case ncclInternalError: return "internal error";
    case ncclInvalidArgument: return "invalid argument";
    case ncclInvalidUsage: return "invalid usage";
    case ncclRemoteError: return "remote process exited or there was a network error";
    case ncclInProgress: return "NCCL operation in progress";
    default: return "unknown result code";
  }
}

const char *ncclGetLastError(ncclComm_t) { return ""; }

}  // extern "C"
