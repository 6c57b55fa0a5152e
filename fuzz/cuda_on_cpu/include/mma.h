// nvcuda::wmma: matrix products by tensor cores, a warp at a time.
//
// CUDA leaves open where an element of a matrix lies in a fragment; here lane l has elements l, l + 32, ... row by row,
// and where hardware keeps copies of elements, so do the lanes. A product is computed when all 32 lanes have come, as
// tensor cores do (cuda_on_cpu/tensor_core.h). Loads and stores are each lane's own.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_on_cpu/tensor_core.h"

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}
// Named by headers; there are no fragments of them.
namespace experimental {
namespace precision {
struct u4;
struct s4;
struct b1;
}  // namespace precision
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}  // namespace experimental
template <class... Given>
void bmma_sync(Given &&...) { cuda_on_cpu_refused("the cpu device does not have wmma::bmma_sync"); }

namespace details {

// The number of a kind of element, its shape in the multiplier, and how many copies of a and b are kept.
template <class T, int m, int n, int k>
struct Kind;
template <class T, int a, int b>
struct Known {
  using type = T;
  static constexpr int copies_of_a = a, copies_of_b = b;
};
template <> struct Kind<__half, 16, 16, 16> : Known<__half, 2, 2> {};
template <> struct Kind<__half, 32, 8, 16> : Known<__half, 1, 4> {};
template <> struct Kind<__half, 8, 32, 16> : Known<__half, 4, 1> {};
template <> struct Kind<__nv_bfloat16, 16, 16, 16> : Known<__nv_bfloat16, 1, 1> {};
template <> struct Kind<__nv_bfloat16, 32, 8, 16> : Known<__nv_bfloat16, 1, 1> {};
template <> struct Kind<__nv_bfloat16, 8, 32, 16> : Known<__nv_bfloat16, 1, 1> {};
template <> struct Kind<precision::tf32, 16, 16, 8> : Known<float, 1, 1> {};
template <> struct Kind<signed char, 16, 16, 16> : Known<signed char, 1, 1> {};
template <> struct Kind<signed char, 32, 8, 16> : Known<signed char, 1, 1> {};
template <> struct Kind<signed char, 8, 32, 16> : Known<signed char, 1, 1> {};
template <> struct Kind<unsigned char, 16, 16, 16> : Known<unsigned char, 1, 1> {};
template <> struct Kind<unsigned char, 32, 8, 16> : Known<unsigned char, 1, 1> {};
template <> struct Kind<unsigned char, 8, 32, 16> : Known<unsigned char, 1, 1> {};
template <> struct Kind<double, 8, 8, 4> : Known<double, 1, 1> {};

template <class T, int rows_, int cols_, int copies = 1>
struct Matrix {
  static constexpr int rows = rows_, cols = cols_, own = rows * cols / 32;
  static constexpr int num_elements = own * copies, num_storage_elements = num_elements;
  using element_type = T;
  using storage_element_type = T;
  static constexpr int lane_of(int row, int col) { return (row * cols + col) % 32; }
  static constexpr int index_of(int row, int col) { return (row * cols + col) / 32; }
  T x[num_elements];
};

}  // namespace details

template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment;
template <int m, int n, int k, class T, class Layout>
struct fragment<matrix_a, m, n, k, T, Layout>
    : details::Matrix<typename details::Kind<T, m, n, k>::type, m, k, details::Kind<T, m, n, k>::copies_of_a> {};
template <int m, int n, int k, class T, class Layout>
struct fragment<matrix_b, m, n, k, T, Layout>
    : details::Matrix<typename details::Kind<T, m, n, k>::type, k, n, details::Kind<T, m, n, k>::copies_of_b> {};
template <int m, int n, int k, class T>
struct fragment<accumulator, m, n, k, T, void> : details::Matrix<T, m, n> {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, __half> || std::is_same_v<T, int> || std::is_same_v<T, double>,
                "what wmma accumulates in: float, half, int or double");
};

namespace details {

template <class Fragment, class T>
CUDA_ON_CPU_INLINE void load(Fragment &to, const T *p, unsigned int stride, bool by_column) {
  for (int i = 0; i < Fragment::num_elements; i++) {
    int element = i % Fragment::own * 32 + cuda_on_cpu::lane();
    size_t row = element / Fragment::cols, col = element % Fragment::cols;
    to.x[i] = p[by_column ? col * stride + row : row * stride + col];
  }
}

// CUDA requires an address that is a multiple of 32 bytes, and rows (or columns) that begin at multiples of 16.
template <class T>
CUDA_ON_CPU_INLINE void meet(const T *p, unsigned int stride, int line) {
  cuda_on_cpu::collect(cuda_on_cpu::WarpOperation::ballot, ~0u, 0, line);
  cuda_on_cpu_must_be_aligned(p, 32, line);
  cuda_on_cpu_must_be_aligned(p + stride, 16, line);
}

}  // namespace details

template <class Use, int m, int n, int k, class T, class Layout, class S>
CUDA_ON_CPU_INLINE void load_matrix_sync(fragment<Use, m, n, k, T, Layout> &to, const S *p, unsigned int stride,
                                         CUDA_ON_CPU_LINE) {
  static_assert(!std::is_void_v<Layout>, "the layout of an accumulator is the fourth argument");
  details::meet(p, stride, line);
  details::load(to, p, stride, std::is_same_v<Layout, col_major>);
}
template <int m, int n, int k, class T>
CUDA_ON_CPU_INLINE void load_matrix_sync(fragment<accumulator, m, n, k, T> &to, const T *p, unsigned int stride,
                                         layout_t layout, CUDA_ON_CPU_LINE) {
  details::meet(p, stride, line);
  details::load(to, p, stride, layout == mem_col_major);
}
template <int m, int n, int k, class T>
CUDA_ON_CPU_INLINE void store_matrix_sync(T *p, const fragment<accumulator, m, n, k, T> &from, unsigned int stride,
                                          layout_t layout, CUDA_ON_CPU_LINE) {
  details::meet(p, stride, line);
  for (int i = 0; i < from.num_elements; i++) {
    int element = i * 32 + cuda_on_cpu::lane();
    size_t row = element / from.cols, col = element % from.cols;
    p[layout == mem_col_major ? col * stride + row : row * stride + col] = from.x[i];
  }
}
template <class Use, int m, int n, int k, class T, class Layout, class V>
static inline void fill_fragment(fragment<Use, m, n, k, T, Layout> &to, const V &value) {
  for (auto &x : to.x) x = value;
}

template <int m, int n, int k, class T, class LayoutA, class LayoutB, class D, class C>
static inline void mma_sync(fragment<accumulator, m, n, k, D> &d, const fragment<matrix_a, m, n, k, T, LayoutA> &a,
                            const fragment<matrix_b, m, n, k, T, LayoutB> &b, const fragment<accumulator, m, n, k, C> &c,
                            bool satf = false, CUDA_ON_CPU_LINE) {
  cuda_on_cpu::multiply(d, a, b, c, satf, line);
}

// To nearest, halfway away from 0: cvt.rna.tf32.f32. Without this call the lower digits are truncated.
static inline float __float_to_tf32(float x) {
  unsigned int bits = __float_as_uint(x);
  return (bits & 0x7f800000u) == 0x7f800000u ? x : __uint_as_float((bits + 0x1000u) & ~0x1fffu);
}

}  // namespace wmma
}  // namespace nvcuda
