// cub::BlockReduce: the values of a block combined in thread 0.
//
// For every algorithm: by shuffles within warps, then thread 0 over the warps' results, as in
// BLOCK_REDUCE_WARP_REDUCTIONS. The caller supplies the shared memory, and the barrier before its reuse.
#pragma once
#include "../warp/warp_reduce.cuh"

namespace cub {

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS,
  BLOCK_REDUCE_WARP_REDUCTIONS_NONDETERMINISTIC
};

template <class T, int BlockDimX, BlockReduceAlgorithm Algorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int BlockDimY = 1,
          int BlockDimZ = 1, int LegacyArch = 0>
class BlockReduce {
  static constexpr int threads = BlockDimX * BlockDimY * BlockDimZ, warps = (threads + 31) / 32;

 public:
  // Bytes, so that it can be in a union and has no constructor, whatever T has.
  struct TempStorage {
    alignas(alignof(T) > 4 ? alignof(T) : 4) unsigned char bytes[warps][sizeof(T)];
  };
  explicit BlockReduce(TempStorage &storage) : storage_(storage) {}

  template <class Operator>
  T Reduce(T input, Operator combine, int num_valid = threads, CUDA_ON_CPU_LINE) {
    return reduce(input, combine, num_valid, line);
  }
  template <int Items, class Operator>
  T Reduce(T (&inputs)[Items], Operator combine, CUDA_ON_CPU_LINE) {
    return reduce(details::thread_reduce(inputs, combine), combine, threads, line);
  }
  T Sum(T input, int num_valid = threads, CUDA_ON_CPU_LINE) { return reduce(input, cub::Sum(), num_valid, line); }
  template <int Items>
  T Sum(T (&inputs)[Items], CUDA_ON_CPU_LINE) {
    return reduce(details::thread_reduce(inputs, cub::Sum()), cub::Sum(), threads, line);
  }

 private:
  template <class Operator>
  T reduce(T input, Operator combine, int valid, int line) {
    int rank = cuda_on_cpu::thread_rank(), first = rank & ~31;
    int in_warp = valid - first < 32 ? valid - first : 32;
    T value = details::warp_reduce(input, combine, 32, in_warp, line);
    if (rank == first) *partial(rank / 32) = value;
    __syncthreads(line);
    if (rank == 0)
      for (int warp = 1; warp < warps && warp * 32 < valid; warp++) value = combine(value, *partial(warp));
    return value;
  }
  T *partial(int warp) { return reinterpret_cast<T *>(storage_.bytes[warp]); }
  TempStorage &storage_;
};

}  // namespace cub
