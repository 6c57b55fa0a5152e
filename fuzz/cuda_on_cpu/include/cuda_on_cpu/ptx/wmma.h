// PTX's wmma: loads, products and stores of fragments whose layout PTX leaves open. Here it is that of mma.sync, side by
// side for more than 8 columns, as on GPUs: public kernels move registers of such a fragment by movmatrix.
#pragma once
#include "matrices.h"

namespace cuda_on_cpu {

// Factors as memory holds them, and as many of them as a register has.
struct ptx_n_f16 { using type = ptx_m_f16; };
struct ptx_n_bf16 { using type = ptx_m_bf16; };
struct ptx_n_tf32 { using type = float; };
struct ptx_n_s8 { using type = int8_t; };
struct ptx_n_u8 { using type = uint8_t; };
struct ptx_n_f64 { using type = double; };
template <class T>
constexpr int ptx_bytes_of_register = sizeof(T) == 8 ? 8 : 4;

template <class T, int rows, int cols>
using PtxWmmaA = PtxFragment<T, rows, cols, false, ptx_bytes_of_register<T> / sizeof(T)>;
template <class T, int rows_, int cols_>
struct PtxWmmaB {
  using element_type = T;
  static constexpr int rows = rows_, cols = cols_, own = rows * cols / 32, each = ptx_bytes_of_register<T> / sizeof(T);
  T x[own];
  static constexpr int lane_of(int row, int col) { return col % 8 * 4 + row % (4 * each) / each; }
  static constexpr int index_of(int row, int col) { return row % each + each * (row / (4 * each)) + rows / 4 * (col / 8); }
};
template <class T, int rows_, int cols_>
struct PtxWmmaSum {
  using element_type = T;
  static constexpr int rows = rows_, cols = cols_, own = rows * cols / 32;
  T x[own];
  static constexpr int lane_of(int row, int col) { return row % 8 * 4 + col % 8 / 2; }
  static constexpr int index_of(int row, int col) { return col % 2 + 2 * (row / 8) + rows / 4 * (col / 8); }
};

// The registers of a fragment: f16 has eight for a factor of each shape, so that some are copies.
template <class F, class... Register>
CUDA_ON_CPU_INLINE void ptx_wmma_give(const F &f, Register &...to) {
  constexpr int bytes = ptx_bytes_of_register<typename F::element_type>, count = sizeof f.x / bytes;
  static_assert(sizeof...(to) % count == 0, "as many registers as the shape has, or copies of them");
  int i = 0;
  auto give = [&](auto &one) {
    static_assert(sizeof one == bytes, "a register as wide as the type says");
    __builtin_memcpy(&one, reinterpret_cast<const char *>(f.x) + i++ % count * bytes, bytes);
  };
  (give(to), ...);
}
template <class F, int registers, class Words>
CUDA_ON_CPU_INLINE F ptx_wmma_take(const Words *&from) {
  F f;
  static_assert(sizeof f.x <= registers * sizeof *from, "as many registers as the shape has");
  __builtin_memcpy(f.x, from, sizeof f.x);
  from += registers;
  return f;
}

// PTX requires an address that is a multiple of 32 bytes, and rows (or columns) that begin at multiples of 16.
template <class T>
CUDA_ON_CPU_INLINE void ptx_wmma_meet(const T *p, uint32_t stride, int line) {
  collect(WarpOperation::ballot, ~0u, 0, line);
  cuda_on_cpu_must_be_aligned(p, 32, line);
  cuda_on_cpu_must_be_aligned(p + stride, 16, line);
}
template <class F, bool by_column, class Does>
CUDA_ON_CPU_INLINE void ptx_wmma_each(uint32_t stride, Does does) {
  const int me = lane();
  for (int row = 0; row < F::rows; row++)
    for (int col = 0; col < F::cols; col++)
      if (F::lane_of(row, col) == me) does(F::index_of(row, col), by_column ? size_t{stride} * col + row : size_t{stride} * row + col);
}
template <class F, bool by_column, class... Register>
CUDA_ON_CPU_INLINE void ptx_wmma_load(int line, const void *address, uint32_t stride, Register &...to) {
  auto *p = static_cast<const typename F::element_type *>(address);
  ptx_wmma_meet(p, stride, line);
  F f;
  ptx_wmma_each<F, by_column>(stride, [&](int index, size_t place) { f.x[index] = p[place]; });
  ptx_wmma_give(f, to...);
}
template <class F, bool by_column, class... Register>
CUDA_ON_CPU_INLINE void ptx_wmma_store(int line, void *address, uint32_t stride, const Register &...from) {
  using T = typename F::element_type;
  using Word = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  auto *p = static_cast<T *>(address);
  ptx_wmma_meet(p, stride, line);
  const Word words[] = {ptx_as<Word>(from)...}, *next = words;
  static_assert(sizeof words == sizeof(F::x), "as many registers as the shape has");
  const F f = ptx_wmma_take<F, sizeof...(from)>(next);
  ptx_wmma_each<F, by_column>(stride, [&](int index, size_t place) { p[place] = f.x[index]; });
}

// `of_a` and `of_b` registers of the factors, of which some may be copies.
template <class A, class B, class D, class C, int of_a, int of_b, bool satf, class... Register>
CUDA_ON_CPU_INLINE void ptx_wmma_mma(int line, Register &&...given) {
  constexpr int of_d = sizeof(D::x) / 4, of_c = sizeof(C::x) / 4;
  static_assert(sizeof...(given) == of_d + of_a + of_b + of_c, "as many registers as the shape has");
  const uint32_t words[] = {ptx_bits(given)...}, *next = words + of_d;
  const A a = ptx_wmma_take<A, of_a>(next);
  const B b = ptx_wmma_take<B, of_b>(next);
  const C c = ptx_wmma_take<C, of_c>(next);
  D d;
  multiply(d, a, b, c, satf, line);
  uint32_t made[of_d];
  __builtin_memcpy(made, d.x, sizeof made);
  ptx_give_words<of_d>(made, given...);
}

}  // namespace cuda_on_cpu
