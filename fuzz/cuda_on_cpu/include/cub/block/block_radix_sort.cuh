// cub::BlockRadixSort: sorts a block's keys, and values with them; equal keys keep their order.
//
// Each thread finds its keys' places by comparing them with all others in shared memory; the caller supplies that, and
// the barrier before its reuse. Among floats -0 comes before 0, and NaNs come last by their bits, as in cub.
#pragma once
#include "block_load.cuh"

namespace cub {
namespace details {

// A number with the order that a radix sort gives the key, from bit `first` to before bit `last`.
template <class Key>
uint64_t radix(Key key, int first, int last) {
  constexpr int bits = 8 * sizeof(Key);
  uint64_t raw = cuda_on_cpu::to_bits(key), top = uint64_t{1} << (bits - 1), all = top | (top - 1);
  raw &= all;
  if constexpr (std::is_floating_point_v<Key>)
    raw = raw & top ? ~raw & all : raw | top;
  else if constexpr (std::is_signed_v<Key>)
    raw ^= top;
  return last - first >= 64 ? raw : raw >> first & ((uint64_t{1} << (last - first)) - 1);
}

struct NoValue {};

}  // namespace details

using NullType = details::NoValue;

template <class Key, int BlockDimX, int Items, class Value = NullType, int RadixBits = 4, bool MemoizeOuterScan = true,
          int InnerScan = 0, int SmemConfig = 0, int BlockDimY = 1, int BlockDimZ = 1, int LegacyArch = 0>
class BlockRadixSort {
  static constexpr int threads = BlockDimX * BlockDimY * BlockDimZ, count = threads * Items;
  static constexpr int every = 8 * sizeof(Key);

 public:
  struct TempStorage {
    details::Tile<Key, threads, count> keys;
    details::Tile<Value, threads, count> values;
  };
  explicit BlockRadixSort(TempStorage &storage) : storage_(storage) {}

  void Sort(Key (&keys)[Items], int first = 0, int last = every, CUDA_ON_CPU_CALLER) {
    Value none[Items];
    sort(keys, none, first, last, false, false, line);
  }
  void Sort(Key (&keys)[Items], Value (&values)[Items], int first = 0, int last = every, CUDA_ON_CPU_CALLER) {
    sort(keys, values, first, last, false, false, line);
  }
  void SortDescending(Key (&keys)[Items], int first = 0, int last = every, CUDA_ON_CPU_CALLER) {
    Value none[Items];
    sort(keys, none, first, last, true, false, line);
  }
  void SortDescending(Key (&keys)[Items], Value (&values)[Items], int first = 0, int last = every, CUDA_ON_CPU_CALLER) {
    sort(keys, values, first, last, true, false, line);
  }
  void SortBlockedToStriped(Key (&keys)[Items], int first = 0, int last = every, CUDA_ON_CPU_CALLER) {
    Value none[Items];
    sort(keys, none, first, last, false, true, line);
  }
  void SortBlockedToStriped(Key (&keys)[Items], Value (&values)[Items], int first = 0, int last = every, CUDA_ON_CPU_CALLER) {
    sort(keys, values, first, last, false, true, line);
  }

 private:
  void sort(Key (&keys)[Items], Value (&values)[Items], int first, int last, bool descending, bool to_striped, int line) {
    constexpr bool has_values = !std::is_same_v<Value, NullType>;
    int rank = cuda_on_cpu::thread_rank(), place[Items];
    storage_.keys.marks.begin();
    for (int i = 0; i < Items; i++) storage_.keys.items()[rank * Items + i] = keys[i];
    __syncthreads(line);
    for (int i = 0; i < Items; i++) {
      uint64_t own = details::radix(keys[i], first, last);
      place[i] = 0;
      for (int other = 0; other < count; other++) {
        uint64_t its = details::radix(storage_.keys.items()[other], first, last);
        bool is_before = descending ? its > own : its < own;
        place[i] += is_before || (its == own && other < rank * Items + i);
      }
    }
    __syncthreads(line);
    for (int i = 0; i < Items; i++) {
      storage_.keys.items()[place[i]] = keys[i];
      if constexpr (has_values) storage_.values.items()[place[i]] = values[i];
    }
    __syncthreads(line);
    for (int i = 0; i < Items; i++) {
      int from = to_striped ? i * threads + rank : rank * Items + i;
      keys[i] = storage_.keys.items()[from];
      if constexpr (has_values) values[i] = storage_.values.items()[from];
    }
    storage_.keys.marks.end();
  }
  TempStorage &storage_;
};

}  // namespace cub
