// cub::BlockScan: each thread's values combined with all those before them in the block.
//
// For every algorithm: by shuffles within warps, then over the warps' totals in shared memory, as in
// BLOCK_SCAN_WARP_SCANS. The caller supplies the shared memory, and the barrier before its reuse.
#pragma once
#include "../warp/warp_scan.cuh"

namespace cub {

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class T, int BlockDimX, BlockScanAlgorithm Algorithm = BLOCK_SCAN_RAKING, int BlockDimY = 1, int BlockDimZ = 1,
          int LegacyArch = 0>
class BlockScan {
  static constexpr int threads = BlockDimX * BlockDimY * BlockDimZ, warps = (threads + 31) / 32;

 public:
  struct TempStorage {
    details::Marks<threads> marks;
    alignas(alignof(T) > 4 ? alignof(T) : 4) unsigned char bytes[warps][sizeof(T)];
  };
  explicit BlockScan(TempStorage &storage) : storage_(storage) {}

  template <class Operator>
  void InclusiveScan(T input, T &output, Operator combine, CUDA_ON_CPU_CALLER) {
    Found found = scan(input, combine, line);
    output = found.has_before ? combine(found.before, input) : input;
  }
  template <class Operator>
  void InclusiveScan(T input, T &output, Operator combine, T &aggregate, CUDA_ON_CPU_CALLER) {
    Found found = scan(input, combine, line);
    output = found.has_before ? combine(found.before, input) : input;
    aggregate = found.all;
  }
  template <int Items, class Operator>
  void InclusiveScan(T (&input)[Items], T (&output)[Items], Operator combine, CUDA_ON_CPU_CALLER) {
    T aggregate;
    InclusiveScan(input, output, combine, aggregate, line);
  }
  template <int Items, class Operator>
  void InclusiveScan(T (&input)[Items], T (&output)[Items], Operator combine, T &aggregate, CUDA_ON_CPU_CALLER) {
    Found found = scan(details::thread_reduce(input, combine), combine, line);
    T sum = found.has_before ? combine(found.before, input[0]) : input[0];
    for (int i = 0; i < Items; i++) {
      if (i) sum = combine(sum, input[i]);
      output[i] = sum;
    }
    aggregate = found.all;
  }
  template <class Operator>
  void ExclusiveScan(T input, T &output, T initial, Operator combine, CUDA_ON_CPU_CALLER) {
    T aggregate;
    ExclusiveScan(input, output, initial, combine, aggregate, line);
  }
  template <class Operator>
  void ExclusiveScan(T input, T &output, T initial, Operator combine, T &aggregate, CUDA_ON_CPU_CALLER) {
    Found found = scan(input, combine, line);
    output = found.has_before ? combine(initial, found.before) : initial;
    aggregate = found.all;
  }
  template <int Items, class Operator>
  void ExclusiveScan(T (&input)[Items], T (&output)[Items], T initial, Operator combine, CUDA_ON_CPU_CALLER) {
    T aggregate;
    ExclusiveScan(input, output, initial, combine, aggregate, line);
  }
  template <int Items, class Operator>
  void ExclusiveScan(T (&input)[Items], T (&output)[Items], T initial, Operator combine, T &aggregate, CUDA_ON_CPU_CALLER) {
    Found found = scan(details::thread_reduce(input, combine), combine, line);
    T sum = found.has_before ? combine(initial, found.before) : initial;
    for (int i = 0; i < Items; i++) {
      T own = input[i];
      output[i] = sum;
      sum = combine(sum, own);
    }
    aggregate = found.all;
  }
  void InclusiveSum(T input, T &output, CUDA_ON_CPU_CALLER) { InclusiveScan(input, output, cub::Sum(), line); }
  void InclusiveSum(T input, T &output, T &aggregate, CUDA_ON_CPU_CALLER) { InclusiveScan(input, output, cub::Sum(), aggregate, line); }
  template <int Items>
  void InclusiveSum(T (&input)[Items], T (&output)[Items], CUDA_ON_CPU_CALLER) { InclusiveScan(input, output, cub::Sum(), line); }
  template <int Items>
  void InclusiveSum(T (&input)[Items], T (&output)[Items], T &aggregate, CUDA_ON_CPU_CALLER) {
    InclusiveScan(input, output, cub::Sum(), aggregate, line);
  }
  void ExclusiveSum(T input, T &output, CUDA_ON_CPU_CALLER) { ExclusiveScan(input, output, T{}, cub::Sum(), line); }
  void ExclusiveSum(T input, T &output, T &aggregate, CUDA_ON_CPU_CALLER) { ExclusiveScan(input, output, T{}, cub::Sum(), aggregate, line); }
  template <int Items>
  void ExclusiveSum(T (&input)[Items], T (&output)[Items], CUDA_ON_CPU_CALLER) { ExclusiveScan(input, output, T{}, cub::Sum(), line); }
  template <int Items>
  void ExclusiveSum(T (&input)[Items], T (&output)[Items], T &aggregate, CUDA_ON_CPU_CALLER) {
    ExclusiveScan(input, output, T{}, cub::Sum(), aggregate, line);
  }

 private:
  struct Found {
    bool has_before;
    T before, all;  // the prefix of this thread's value; the total of the block
  };

  template <class Operator>
  Found scan(T input, Operator combine, int line) {
    int rank = cuda_on_cpu::thread_rank(), own = rank / 32, last_rank = own * 32 + 31 < threads ? own * 32 + 31 : threads - 1;
    storage_.marks.begin();
    T inclusive = details::warp_inclusive_scan(input, combine, 32, line);
    T below = details::warp_shifted(inclusive, inclusive, 32, line);
    if (rank == last_rank) *total(own) = inclusive;
    __syncthreads(line);
    Found found = {rank % 32 != 0, below, *total(0)};
    for (int warp = 1; warp <= warps; warp++) {
      if (warp == own) found.before = found.has_before ? combine(found.all, below) : found.all, found.has_before = true;
      if (warp < warps) found.all = combine(found.all, *total(warp));
    }
    storage_.marks.end();
    return found;
  }
  T *total(int warp) { return reinterpret_cast<T *>(storage_.bytes[warp]); }
  TempStorage &storage_;
};

}  // namespace cub
