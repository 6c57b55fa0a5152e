// cub::BlockLoad and BlockStore: each thread's items of a tile, side by side in its registers.
//
// Transposing modes go through shared memory; the caller supplies that, and the barrier before its reuse. The other
// modes use none.
#pragma once
#include "../operators.h"

namespace cub {

enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

namespace details {

// The place of a tile while its items move between threads; empty if they do not.
template <class T, int threads, int count>
struct Tile {
  Marks<count ? threads : 1> marks;
  alignas(alignof(T) > 4 ? alignof(T) : 4) unsigned char bytes[count * sizeof(T) + (count == 0)];
  T *items() { return reinterpret_cast<T *>(bytes); }
};

}  // namespace details

template <class T, int BlockDimX, int Items, BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT, int BlockDimY = 1,
          int BlockDimZ = 1, int LegacyArch = 0>
class BlockLoad {
  static constexpr int threads = BlockDimX * BlockDimY * BlockDimZ;
  static constexpr bool striped = Algorithm == BLOCK_LOAD_STRIPED, by_tile = Algorithm >= BLOCK_LOAD_TRANSPOSE;

 public:
  using TempStorage = details::Tile<T, threads, by_tile ? threads * Items : 0>;
  explicit BlockLoad(TempStorage &storage) : storage_(storage) {}
  BlockLoad() : storage_(nowhere()) { static_assert(!by_tile, "this way of loading takes a TempStorage"); }

  template <class Iterator>
  void Load(Iterator from, T (&items)[Items], CUDA_ON_CPU_CALLER) { load(from, items, threads * Items, nullptr, line); }
  template <class Iterator>
  void Load(Iterator from, T (&items)[Items], int valid, CUDA_ON_CPU_CALLER) { load(from, items, valid, nullptr, line); }
  template <class Iterator, class Default>
  void Load(Iterator from, T (&items)[Items], int valid, Default otherwise, CUDA_ON_CPU_CALLER) {
    T value = otherwise;
    load(from, items, valid, &value, line);
  }

 private:
  static TempStorage &nowhere() {
    static TempStorage empty;
    return empty;
  }
  template <class Iterator>
  void load(Iterator from, T (&items)[Items], int valid, const T *otherwise, int line) {
    int rank = cuda_on_cpu::thread_rank();
    if (by_tile) storage_.marks.begin();
    for (int i = 0; i < Items; i++) {
      int place = striped || by_tile ? i * threads + rank : rank * Items + i;
      if (otherwise) items[i] = *otherwise;
      if (place < valid) items[i] = from[place];
      if (by_tile && (place < valid || otherwise)) storage_.items()[place] = items[i];
    }
    if (!by_tile) return;
    __syncthreads(line);
    for (int i = 0; i < Items; i++)
      if (rank * Items + i < valid || otherwise) items[i] = storage_.items()[rank * Items + i];
    storage_.marks.end();
  }
  TempStorage &storage_;
};

template <class T, int BlockDimX, int Items, BlockStoreAlgorithm Algorithm = BLOCK_STORE_DIRECT, int BlockDimY = 1,
          int BlockDimZ = 1, int LegacyArch = 0>
class BlockStore {
  static constexpr int threads = BlockDimX * BlockDimY * BlockDimZ;
  static constexpr bool striped = Algorithm == BLOCK_STORE_STRIPED, by_tile = Algorithm >= BLOCK_STORE_TRANSPOSE;

 public:
  using TempStorage = details::Tile<T, threads, by_tile ? threads * Items : 0>;
  explicit BlockStore(TempStorage &storage) : storage_(storage) {}
  BlockStore() : storage_(nowhere()) { static_assert(!by_tile, "this way of storing takes a TempStorage"); }

  template <class Iterator>
  void Store(Iterator to, T (&items)[Items], int valid = threads * Items, CUDA_ON_CPU_CALLER) {
    int rank = cuda_on_cpu::thread_rank();
    if (by_tile) {
      storage_.marks.begin();
      for (int i = 0; i < Items; i++) storage_.items()[rank * Items + i] = items[i];
      __syncthreads(line);
    }
    for (int i = 0; i < Items; i++) {
      int place = striped || by_tile ? i * threads + rank : rank * Items + i;
      if (place < valid) to[place] = by_tile ? storage_.items()[place] : items[i];
    }
    if (by_tile) storage_.marks.end();
  }

 private:
  static TempStorage &nowhere() {
    static TempStorage empty;
    return empty;
  }
  TempStorage &storage_;
};

}  // namespace cub
