// PTX's instructions on matrices: mma.sync, ldmatrix, stmatrix, movmatrix.
#pragma once
#include "../small_floats.h"
#include "../tensor_core.h"
#include "sixteen.h"

namespace cuda_on_cpu {

// The factors of a tensor core, as registers of 32 bits hold them.
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
using ptx_c_f32 = float;
using ptx_c_f16 = PtxSixteen<11>;

// Fragments of mma, by PTX's tables: a register has `each` adjacent elements, and four lanes hold a row of 4 `each`.
template <class T, int rows_, int cols_, bool by_column, int each = 4 / sizeof(T)>
struct PtxFragment {
  using element_type = T;
  static constexpr int rows = rows_, cols = cols_, own = rows * cols / 32, registers = own / each;
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
// A lane has two adjacent elements of each eight rows of the sums, whatever their size.
template <class T, int rows_ = 16>
struct PtxSum {
  using element_type = T;
  static constexpr int rows = rows_, cols = 8, own = rows / 4, registers = own * sizeof(T) / 4;
  T x[own];
  static constexpr int lane_of(int row, int col) { return row % 8 * 4 + col / 2; }
  static constexpr int index_of(int row, int col) { return col % 2 + 2 * (row / 8); }
};

template <int left, class... Rest>
CUDA_ON_CPU_INLINE void ptx_give_words(const uint32_t *, const Rest &...) {}
template <int left, class First, class... Rest>
CUDA_ON_CPU_INLINE void ptx_give_words(const uint32_t *from, First &first, Rest &...rest) {
  if constexpr (left > 0) {
    static_assert(sizeof first == 4, "a register of 32 bits");
    __builtin_memcpy(&first, from, 4);
    ptx_give_words<left - 1>(from + 1, rest...);
  }
}
template <class T>
CUDA_ON_CPU_INLINE uint32_t ptx_bits(const T &value) {
  static_assert(sizeof value == 4, "a register of 32 bits");
  uint32_t bits;
  __builtin_memcpy(&bits, &value, 4);
  return bits;
}

template <class C, class A, class B, int k, class... Register>
CUDA_ON_CPU_INLINE void ptx_mma(int line, Register &&...given) {
  PtxSum<C> d, c;
  PtxFragment<A, 16, k, false> a;
  PtxFragment<B, k, 8, true> b;
  static_assert(sizeof...(given) == 2 * c.registers + a.registers + b.registers, "as many registers as the shape has");
  const uint32_t bits[] = {ptx_bits(given)...}, *from = bits + d.registers;
  __builtin_memcpy(a.x, from, sizeof a.x);
  __builtin_memcpy(b.x, from + a.registers, sizeof b.x);
  __builtin_memcpy(c.x, from + a.registers + b.registers, sizeof c.x);
  multiply<k>(d, a, b, c, false, line);
  uint32_t made[d.registers];
  __builtin_memcpy(made, d.x, sizeof made);
  ptx_give_words<d.registers>(made, given...);
}

// Integers of `bits` bits as a register holds them, the first one lowest.
// A factor whose product is the exclusive or.
struct PtxXorBit {
  int16_t bit;
  PtxXorBit() = default;
  explicit PtxXorBit(int code) : bit(static_cast<int16_t>(code)) {}
  friend CUDA_ON_CPU_UNCHECKED int operator*(PtxXorBit a, PtxXorBit b) { return a.bit ^ b.bit; }
};
template <int bits, bool is_signed, class T>
CUDA_ON_CPU_INLINE void ptx_spread(const uint32_t *from, int count, T *to) {
  for (int i = 0; i < count; i++) {
    auto code = static_cast<int>(from[i * bits / 32] >> (i * bits % 32) & ((1u << bits) - 1));
    to[i] = static_cast<T>(is_signed && code >> (bits - 1) ? code - (1 << bits) : code);
  }
}
template <int rows, int k, int bits, bool a_signed, bool b_signed, bool satf, class T = int16_t, class... Register>
CUDA_ON_CPU_INLINE void ptx_mma_integers(int line, Register &&...given) {
  PtxSum<int, rows> d, c;
  PtxFragment<T, rows, k, false, 32 / bits> a;
  PtxFragment<T, k, 8, true, 32 / bits> b;
  static_assert(sizeof...(given) == 2 * c.registers + a.registers + b.registers, "as many registers as the shape has");
  const uint32_t words[] = {ptx_bits(given)...}, *from = words + d.registers;
  ptx_spread<bits, a_signed>(from, a.own, a.x);
  ptx_spread<bits, b_signed>(from + a.registers, b.own, b.x);
  __builtin_memcpy(c.x, from + a.registers + b.registers, sizeof c.x);
  multiply(d, a, b, c, satf, line);
  uint32_t made[d.registers];
  __builtin_memcpy(made, d.x, sizeof made);
  ptx_give_words<d.registers>(made, given...);
}

// All lanes of a warp read by one instruction: none goes on before all have read. Of what they have written before it says
// nothing.
template <class T>
CUDA_ON_CPU_INLINE T ptx_read_together(const T *at) {
  return static_cast<T>(cuda_on_cpu_read_together(at, sizeof(T)));
}
CUDA_ON_CPU_INLINE void ptx_all_have_read(int line) { __shfl_sync(~0u, 0, 0, 32, line); }

// Lanes 8 m to 8 m + 7 give the addresses of matrix m's rows; each lane reads two elements of each matrix, side by
// side, or one below the other if it is transposed.
template <int matrices, bool transposed, class Address, class... Out>
CUDA_ON_CPU_INLINE void ptx_ldmatrix(int line, Address address, Out &...out) {
  static_assert(sizeof...(out) == matrices, "as many registers as the shape has");
  auto own = reinterpret_cast<uint64_t>(ptx_shared(address));
  if (lane() < 8 * matrices) cuda_on_cpu_must_be_aligned(reinterpret_cast<const void *>(own), 16, line);
  int matrix = 0;
  auto load = [&](auto &to) {
    uint32_t bits = 0;
    if constexpr (transposed) {
      for (int i = 0; i < 2; i++) {
        auto *row = reinterpret_cast<const uint16_t *>(__shfl_sync(~0u, own, 8 * matrix + lane() % 4 * 2 + i, 32, line));
        bits |= static_cast<uint32_t>(ptx_read_together(row + lane() / 4)) << (16 * i);
      }
    } else {
      auto *row = reinterpret_cast<const uint32_t *>(__shfl_sync(~0u, own, 8 * matrix + lane() / 4, 32, line));
      bits = ptx_read_together(row + lane() % 4);
    }
    __builtin_memcpy(&to, &bits, 4);
    matrix++;
  };
  (load(out), ...);
  ptx_all_have_read(line);
}

// The reverse: each lane writes two elements of each matrix.
template <int matrices, bool transposed, class Address, class... In>
CUDA_ON_CPU_INLINE void ptx_stmatrix(int line, Address address, In... in) {
  static_assert(sizeof...(in) == matrices, "as many registers as the shape has");
  auto own = reinterpret_cast<uint64_t>(ptx_shared(address));
  if (lane() < 8 * matrices) cuda_on_cpu_must_be_aligned(reinterpret_cast<const void *>(own), 16, line);
  int matrix = 0;
  auto store = [&](uint32_t bits) {
    if constexpr (transposed) {
      for (int i = 0; i < 2; i++) {
        auto *row = reinterpret_cast<uint16_t *>(__shfl_sync(~0u, own, 8 * matrix + lane() % 4 * 2 + i, 32, line));
        row[lane() / 4] = static_cast<uint16_t>(bits >> (16 * i));
      }
    } else {
      auto *row = reinterpret_cast<uint32_t *>(__shfl_sync(~0u, own, 8 * matrix + lane() / 4, 32, line));
      row[lane() % 4] = bits;
    }
    matrix++;
  };
  (store(ptx_as<uint32_t>(in)), ...);
}

// Rows of 16 bytes whose elements have 8, 6 or 4 bits; each gets a byte, and lies at its lower end.
template <int bits>
CUDA_ON_CPU_INLINE uint32_t ptx_element_of_row(const uint8_t *row, int place) {
  int at = place * bits, first = at / 8, shift = at % 8;
  uint32_t both = ptx_read_together(row + first);
  if (shift + bits > 8) both |= static_cast<uint32_t>(ptx_read_together(row + first + 1)) << 8;
  return both >> shift & ((1u << bits) - 1);
}
// m8n16: a lane has four adjacent elements of a row. m16n16.trans: two registers of four below each other, 8 columns apart.
template <int matrices, int rows, int bits, class Address, class... Out>
CUDA_ON_CPU_INLINE void ptx_ldmatrix_bytes(int line, Address address, Out &...out) {
  constexpr int each = rows / 8;  // registers of a matrix
  static_assert(sizeof...(out) == matrices * each, "as many registers as the shape has");
  auto own = reinterpret_cast<uint64_t>(ptx_shared(address));
  if (lane() < rows * matrices) cuda_on_cpu_must_be_aligned(reinterpret_cast<const void *>(own), 16, line);
  int number = 0;
  auto load = [&](auto &to) {
    int first = number / each * rows, across = lane() / 4, along = lane() % 4 * 4;
    uint32_t made = 0;
    for (int i = 0; i < 4; i++) {
      int source = rows == 8 ? first + across : first + along + i;
      auto *row = reinterpret_cast<const uint8_t *>(__shfl_sync(~0u, own, source, 32, line));
      made |= ptx_element_of_row<bits>(row, rows == 8 ? along + i : across + number % each * 8) << (8 * i);
    }
    static_assert(sizeof to == 4, "a register of 32 bits");
    __builtin_memcpy(&to, &made, 4);
    number++;
  };
  (load(out), ...);
  ptx_all_have_read(line);
}
// m16n8.trans: of each matrix a lane has two adjacent bytes of a row, and two 8 rows below; each column is stored as a row.
template <int matrices, class Address, class... In>
CUDA_ON_CPU_INLINE void ptx_stmatrix_bytes(int line, Address address, In... in) {
  static_assert(sizeof...(in) == matrices, "as many registers as the shape has");
  auto own = reinterpret_cast<uint64_t>(ptx_shared(address));
  if (lane() < 8 * matrices) cuda_on_cpu_must_be_aligned(reinterpret_cast<const void *>(own), 16, line);
  int matrix = 0;
  auto store = [&](uint32_t bits) {
    for (int i = 0; i < 4; i++) {
      auto *row = reinterpret_cast<uint8_t *>(__shfl_sync(~0u, own, 8 * matrix + lane() % 4 * 2 + i % 2, 32, line));
      row[lane() / 4 + i / 2 * 8] = static_cast<uint8_t>(bits >> (8 * i));
    }
    matrix++;
  };
  (store(ptx_as<uint32_t>(in)), ...);
}

// A matrix that lies in the registers of a warp, transposed.
template <class Out, class In>
CUDA_ON_CPU_INLINE void ptx_movmatrix(int line, Out &&to, In from) {
  uint32_t made = 0;
  for (int i = 0; i < 2; i++) {
    uint32_t word = __shfl_sync(~0u, ptx_as<uint32_t>(from), (lane() % 4 * 2 + i) * 4 + lane() / 8, 32, line);
    made |= (word >> (lane() / 4 % 2 * 16) & 0xffffu) << (16 * i);
  }
  ptx_put(to, made);
}

}  // namespace cuda_on_cpu
