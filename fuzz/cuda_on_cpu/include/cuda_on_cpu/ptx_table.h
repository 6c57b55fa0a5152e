// The targets of ptx_table.py for single PTX instructions that CUDA C++ has no name for.
#pragma once
#include "mbarrier.h"
#include "ptx.h"
#include "ptx_registers.h"
#include "threads.h"
#include "warp.h"
#ifndef CUDA_ON_CPU_COUNT
#include "ptx_convert.h"
#include "tensor_core.h"
#endif

CUDA_ON_CPU_IMPORT void cuda_on_cpu_named_barrier(uint32_t number, uint32_t threads, bool waits, int line);

namespace cuda_on_cpu {

template <class Address>
CUDA_ON_CPU_INLINE Address ptx_at(Address address, long offset) {
  if constexpr (std::is_pointer_v<Address>)
    return reinterpret_cast<Address>(reinterpret_cast<uintptr_t>(address) + static_cast<uintptr_t>(offset));
  else
    return static_cast<Address>(address + static_cast<Address>(offset));
}

// The clamp operand of shfl: 31, or 0 for `up`, means a whole warp; the bits above are the mask that divides it.
constexpr int ptx_width(unsigned int clamp) { return 32 - static_cast<int>(clamp >> 8 & 31); }

CUDA_ON_CPU_INLINE uint32_t ptx_lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t made = 0;
  for (uint32_t place = 0; place < 8; place++)
    if (table >> place & 1) made |= (place & 4 ? a : ~a) & (place & 2 ? b : ~b) & (place & 1 ? c : ~c);
  return made;
}
CUDA_ON_CPU_INLINE uint32_t ptx_bfe(uint32_t value, uint32_t start, uint32_t bits) {
  start &= 255, bits &= 255;
  uint64_t moved = start > 31 ? 0 : value >> start;
  return static_cast<uint32_t>(bits > 31 ? moved : moved & ((uint64_t{1} << bits) - 1));
}

// Loads and stores of up to four values at once, aligned as a whole.
template <class T, int count>
struct PtxVector {
  typedef T type __attribute__((vector_size(count * sizeof(T))));
};
template <class T, int count>
CUDA_ON_CPU_INLINE T ptx_part(const typename PtxVector<T, count>::type &from, int i) { return from[i]; }

template <class T, class... Out>
CUDA_ON_CPU_INLINE void ptx_load(const void *from, Out &...out) {
  if constexpr (sizeof...(Out) == 1) {
    (ptx_move(out, *static_cast<const T *>(from)), ...);
  } else {
    using Vector = typename PtxVector<T, sizeof...(Out)>::type;
    Vector read = *static_cast<const Vector *>(from);
    int i = 0;
    (ptx_move(out, static_cast<T>(read[i++])), ...);
  }
}
template <class T, class... In>
CUDA_ON_CPU_INLINE void ptx_store(void *to, In... in) {
  auto as_it_is = [](auto value) {
    T made;
    ptx_move(made, value);
    return made;
  };
  if constexpr (sizeof...(In) == 1) {
    ((*static_cast<T *>(to) = as_it_is(in)), ...);
  } else {
    using Vector = typename PtxVector<T, sizeof...(In)>::type;
    *static_cast<Vector *>(to) = Vector{as_it_is(in)...};
  }
}
template <class T, class Address, class... Out>
CUDA_ON_CPU_INLINE void ptx_load_shared(Address from, Out &...out) {
  ptx_load<T>(cuda_on_cpu_shared_at(uint64_t(from)), out...);
}
template <class T, class Address, class... In>
CUDA_ON_CPU_INLINE void ptx_store_shared(Address to, In... in) {
  ptx_store<T>(cuda_on_cpu_shared_at(uint64_t(to)), in...);
}
template <class T, class... Out>
CUDA_ON_CPU_INLINE void ptx_load(uint64_t from, Out &...out) { ptx_load<T>(reinterpret_cast<const void *>(from), out...); }
template <class T, class... In>
CUDA_ON_CPU_INLINE void ptx_store(uint64_t to, In... in) { ptx_store<T>(reinterpret_cast<void *>(to), in...); }

// Barriers by number, 0 to 15; without a count, for the whole block.
static inline void ptx_barrier(int line, uint32_t number) {
  if (number == 0) return cuda_on_cpu_barrier(line);
  cuda_on_cpu_named_barrier(number, blockDim.x * blockDim.y * blockDim.z, true, line);
}
static inline void ptx_barrier(int line, uint32_t number, uint32_t threads) { cuda_on_cpu_named_barrier(number, threads, true, line); }
static inline void ptx_arrive(int line, uint32_t number, uint32_t threads) { cuda_on_cpu_named_barrier(number, threads, false, line); }

#ifndef CUDA_ON_CPU_COUNT
// The factors of a tensor core, as registers of 32 bits hold them.
template <int digits>
struct PtxSixteen {
  using Kind = Narrow<digits>;
  uint16_t bits;
  PtxSixteen() = default;
  explicit PtxSixteen(double x) : bits(Kind::of(x)) {}
  operator float() const { return Kind::widened(bits); }
};
using ptx_m_f16 = PtxSixteen<11>;
using ptx_m_bf16 = PtxSixteen<8>;
using ptx_m_tf32 = float;
template <class Kind_>
struct PtxEight {
  using Kind = Kind_;
  uint8_t bits;
  operator float() const { return Kind::widened(bits); }
};
using ptx_m_e4m3 = PtxEight<E4m3>;
using ptx_m_e5m2 = PtxEight<E5m2>;
using ptx_m_s8 = int8_t;
using ptx_m_u8 = uint8_t;
using ptx_c_f32 = float;
using ptx_c_f16 = PtxSixteen<11>;
using ptx_c_s32 = int;

// Fragments of mma.m16n8, by PTX's tables: a register has `each` adjacent elements, and four lanes hold a row of 4
// `each`.
template <class T, int rows_, int cols_, bool by_column>
struct PtxFragment {
  using element_type = T;
  static constexpr int rows = rows_, cols = cols_, each = 4 / sizeof(T), own = rows * cols / 32, registers = own / each;
  T x[own];
  static constexpr int lane_of(int row, int col) {
    int across = by_column ? row : col, along = by_column ? col : row;
    return along % 8 * 4 + across % (4 * each) / each;
  }
  static constexpr int index_of(int row, int col) {
    int across = by_column ? row : col, along = by_column ? col : row, folds = by_column ? 1 : rows / 8;
    return across % each + each * (along / 8) + folds * each * (across / (4 * each));
  }
};
// A lane has two adjacent elements of the sums, whatever their size.
template <class T>
struct PtxSum {
  using element_type = T;
  static constexpr int rows = 16, cols = 8, own = 4, registers = 4 * sizeof(T) / 4;
  T x[own];
  static constexpr int lane_of(int row, int col) { return row % 8 * 4 + col / 2; }
  static constexpr int index_of(int row, int col) { return col % 2 + 2 * (row / 8); }
};

template <int left, class... Rest>
CUDA_ON_CPU_INLINE void ptx_give(const uint32_t *, const Rest &...) {}
template <int left, class First, class... Rest>
CUDA_ON_CPU_INLINE void ptx_give(const uint32_t *from, First &first, Rest &...rest) {
  if constexpr (left > 0) {
    static_assert(sizeof first == 4, "a register of 32 bits");
    __builtin_memcpy(&first, from, 4);
    ptx_give<left - 1>(from + 1, rest...);
  }
}
template <class T>
CUDA_ON_CPU_INLINE uint32_t ptx_bits(const T &value) {
  static_assert(sizeof value == 4, "a register of 32 bits");
  uint32_t bits;
  __builtin_memcpy(&bits, &value, 4);
  return bits;
}

template <class C, class A, class B, int k, bool satf, class... Register>
CUDA_ON_CPU_INLINE void ptx_mma(int line, Register &&...given) {
  PtxSum<C> d, c;
  PtxFragment<A, 16, k, false> a;
  PtxFragment<B, k, 8, true> b;
  static_assert(sizeof...(given) == 2 * c.registers + a.registers + b.registers, "as many registers as the shape has");
  const uint32_t bits[] = {ptx_bits(given)...}, *from = bits + d.registers;
  __builtin_memcpy(a.x, from, sizeof a.x);
  __builtin_memcpy(b.x, from + a.registers, sizeof b.x);
  __builtin_memcpy(c.x, from + a.registers + b.registers, sizeof c.x);
  multiply(d, a, b, c, satf, line);
  uint32_t made[d.registers];
  __builtin_memcpy(made, d.x, sizeof made);
  ptx_give<d.registers>(made, given...);
}

// Lanes 8 m to 8 m + 7 give the addresses of matrix m's rows; each lane reads two elements of each matrix, side by
// side, or one below the other if it is transposed.
template <int matrices, bool transposed, class Address, class... Out>
CUDA_ON_CPU_INLINE void ptx_ldmatrix(int line, Address address, Out &...out) {
  auto own = reinterpret_cast<uint64_t>(cuda_on_cpu_shared_at(uint64_t(address)));
  if (lane() < 8 * matrices) cuda_on_cpu_must_be_aligned(reinterpret_cast<const void *>(own), 16, line);
  int matrix = 0;
  auto load = [&](auto &to) {
    uint32_t bits = 0;
    if constexpr (transposed) {
      for (int i = 0; i < 2; i++) {
        auto *row = reinterpret_cast<const uint16_t *>(__shfl_sync(~0u, own, 8 * matrix + lane() % 4 * 2 + i, 32, line));
        bits |= static_cast<uint32_t>(row[lane() / 4]) << (16 * i);
      }
    } else {
      auto *row = reinterpret_cast<const uint32_t *>(__shfl_sync(~0u, own, 8 * matrix + lane() / 4, 32, line));
      bits = row[lane() % 4];
    }
    __builtin_memcpy(&to, &bits, 4);
    matrix++;
  };
  (load(out), ...);
}
#endif

}  // namespace cuda_on_cpu
