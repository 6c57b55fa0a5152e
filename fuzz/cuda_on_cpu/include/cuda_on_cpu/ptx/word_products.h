// Products of a warp whose rounding PTX leaves open and which are not measured: sparse ones, those of floats of 6 and 4
// bits, of blocks with scales, and m8n8k4 of halves. A sum that is the same in any order is right; another ends the run.
// Also the sparse products of integers, which are exact.
#pragma once
#include "matrices.h"

namespace cuda_on_cpu {

// A factor: how many bits of a register it has, its number, and the least exponent of its format.
template <class Kind, int bits_, int shift, unsigned mask>
struct PtxCode {
  static constexpr int bits = bits_, least = Kind::least;
  CUDA_ON_CPU_UNCHECKED static double number(uint32_t code) { return static_cast<double>(Kind::widened(static_cast<uint8_t>(code >> shift & mask))); }
};
using ptx_w_e4m3 = PtxCode<E4m3, 8, 0, 0xff>;
using ptx_w_e5m2 = PtxCode<E5m2, 8, 0, 0xff>;
using ptx_w_e2m3 = PtxCode<E2m3, 8, 0, 0x3f>;
using ptx_w_e3m2 = PtxCode<E3m2, 8, 0, 0x3f>;
using ptx_w_e2m1 = PtxCode<E2m1, 8, 2, 0xf>;  // in the middle of a byte
using ptx_w_packed_e2m1 = PtxCode<E2m1, 4, 0, 0xf>;
template <int digits>
struct PtxSixteenCode {
  static constexpr int bits = 16, least = Narrow<digits>::least;
  CUDA_ON_CPU_UNCHECKED static double number(uint32_t code) { return static_cast<double>(Narrow<digits>::widened(static_cast<uint16_t>(code))); }
};
using ptx_w_f16 = PtxSixteenCode<11>;
using ptx_w_bf16 = PtxSixteenCode<8>;
struct ptx_w_tf32 {
  static constexpr int bits = 32, least = least_of_float;
  CUDA_ON_CPU_UNCHECKED static double number(uint32_t code) { return as_multiplied(from_bits<float>(code)); }
};
template <int bits_, bool is_signed>
struct PtxIntegerCode {
  static constexpr int bits = bits_, least = 0;
  CUDA_ON_CPU_UNCHECKED static double number(uint32_t code) { return is_signed && code >> (bits - 1) ? static_cast<double>(code) - (1 << bits) : code; }
};
using ptx_w_s8 = PtxIntegerCode<8, true>;
using ptx_w_u8 = PtxIntegerCode<8, false>;
using ptx_w_s4 = PtxIntegerCode<4, true>;
using ptx_w_u4 = PtxIntegerCode<4, false>;

struct ptx_scale_ {};
struct ptx_scale_ue8m0 {
  CUDA_ON_CPU_UNCHECKED static double number(uint32_t code) { return static_cast<double>(E8m0::widened(static_cast<uint8_t>(code))); }
};
struct ptx_scale_ue4m3 {
  CUDA_ON_CPU_UNCHECKED static double number(uint32_t code) { return static_cast<double>(E4m3::widened(static_cast<uint8_t>(code & 0x7f))); }
};

// A sum of terms; `exponent` is the largest that counts beside them. `kept`: the bits that any tensor core keeps at least,
// as an H100 does with 8-bit floats, or as PTX promises for others and for sums in halves.
CUDA_ON_CPU_UNCHECKED inline double ptx_exact_sum(const double *terms, int count, int exponent, int kept, int line) {
  if (!is_exact_in_any_order(terms, count, exponent, kept))
    cuda_on_cpu_refused_at("a product of a warp with sums that are not exact: PTX leaves open how they are rounded", line);
  double sum = 0;
  for (int i = 0; i < count; i++) sum += terms[i];
  return sum;
}

// m16n8k`k`: what each lane gives, as PTX's tables have it. `scales`: how many a row of A, or a column of B, has.
template <class A, class B, class C, int k, bool is_sparse, int scales, class Scale, bool clamps>
struct PtxWordProduct : TogetherWork {
  static constexpr bool is_integer = std::is_same_v<C, int>;
  static constexpr int stored = is_sparse ? k / 2 : k, of_a = 16 * stored * A::bits / 1024, of_b = 8 * k * B::bits / 1024,
                       of_c = static_cast<int>(4 * sizeof(C) / 4), given = of_a + of_b + of_c + (is_sparse ? 2 : 0) + (scales ? 6 : 0);
  static constexpr int kept = std::is_same_v<C, ptx_c_f16> ? 10 : A::bits <= 8 ? 13 : 23;
  const uint32_t *words;
  C *sums;
  int line;

  CUDA_ON_CPU_UNCHECKED static const PtxWordProduct &of(const uint64_t *lanes, int lane) { return *reinterpret_cast<const PtxWordProduct *>(lanes[lane]); }

  // An element of a matrix of rows that lie along registers from `first` on, `blocks` registers for each part of k.
  template <class Code>
  CUDA_ON_CPU_UNCHECKED static uint32_t code(const uint64_t *lanes, int first, int blocks, int row, int at) {
    constexpr int each = 32 / Code::bits;
    uint32_t word = of(lanes, row % 8 * 4 + at % (4 * each) / each).words[first + row / 8 + blocks * (at / (4 * each))];
    return static_cast<uint32_t>(uint64_t{word} >> at % each * Code::bits & ((uint64_t{1} << Code::bits) - 1));
  }

  // The element of k that a stored one of a row is. Of each four, or of two of tf32, half are stored; of 4-bit elements, of
  // four pairs. CuTe's ELayouts say where the four bits of such a chunk lie.
  CUDA_ON_CPU_UNCHECKED static int place(const uint64_t *lanes, int row, int at, int line) {
    if constexpr (!is_sparse) {
      return at;
    } else {
      constexpr int pair = A::bits == 4 ? 2 : 1, kept_of_chunk = A::bits == 32 ? 1 : 2 * pair, chunks = stored / kept_of_chunk;
      const int chunk = at / kept_of_chunk, own = at % kept_of_chunk;
      const uint32_t selector = of(lanes, 0).words[of_a + of_b + of_c + 1];
      const bool is_whole = chunks == 16;  // all lanes give metadata
      const int lane = row % 8 * 4 + (is_whole ? row / 8 + chunk / 8 * 2 : static_cast<int>(selector % 2) * 2 + chunk / 4);
      const int nibble = is_whole ? chunk % 8 : row / 8 * 4 + chunk % 4;
      const uint32_t bits = of(lanes, lane).words[of_a + of_b + of_c] >> 4 * nibble & 15, low = bits & 3, high = bits >> 2;
      if (selector > (is_whole ? 0 : 1) || low == high || (A::bits == 32 && (low % 2 || high != low + 1)))
        cuda_on_cpu_refused_at("mma.sp with metadata or a selector that PTX leaves undefined", line);
      if constexpr (A::bits == 32) return chunk * 2 + static_cast<int>(low / 2);
      else return chunk * 4 * pair + static_cast<int>(own / pair ? high : low) * pair + own % pair;
    }
  }

  // A row's or a column's scale number `part`; byte and thread are selected by the words behind the scales'.
  CUDA_ON_CPU_UNCHECKED static double scale(const uint64_t *lanes, bool is_a, int row, int part, int line) {
    if constexpr (scales == 0) {
      return 1;
    } else {
      constexpr int first = given - 6;
      const PtxWordProduct &any = of(lanes, 0);
      const uint32_t byte = any.words[first + (is_a ? 1 : 4)], thread = any.words[first + (is_a ? 2 : 5)];
      const bool fits = scales == 1 ? byte < 4 : scales == 2 ? byte % 2 == 0 && byte < 4 : byte == 0;
      if (!fits || thread > (is_a ? 1 : 3)) cuda_on_cpu_refused_at("mma with a selector of scales that PTX leaves undefined", line);
      const int lane = row % 8 * 4 + static_cast<int>(is_a ? 2 * thread + row / 8 : thread);
      return Scale::number(of(lanes, lane).words[first + (is_a ? 0 : 3)] >> 8 * (byte + static_cast<uint32_t>(part)) & 255);
    }
  }

  // A number with its scale, and its exponent: a denormal number has that of the least normal one.
  struct Factor {
    double value;
    int exponent;
  };
  template <class Code>
  CUDA_ON_CPU_UNCHECKED static Factor factor(uint32_t bits, double scale) {
    double own = Code::number(bits);
    return {own * scale, own == 0 || scale == 0 ? of_zero : exponent_from(own, Code::least) + exponent_from(scale, -1022)};
  }

  CUDA_ON_CPU_UNCHECKED static void all(const uint64_t *lanes) {
    const int line = of(lanes, 0).line;
    Factor a[16][stored], b[8][k];
    int place_of[16][stored];
    double terms[stored + 1];
    for (int row = 0; row < 16; row++)
      for (int i = 0; i < stored; i++) {
        int at = place_of[row][i] = place(lanes, row, i, line);
        a[row][i] = factor<A>(code<A>(lanes, 0, 2, row, i), scale(lanes, true, row, at * scales / k, line));
      }
    for (int col = 0; col < 8; col++)
      for (int i = 0; i < k; i++) b[col][i] = factor<B>(code<B>(lanes, of_a, 1, col, i), scale(lanes, false, col, i * scales / k, line));
    C made[16][8];
    for (int row = 0; row < 16; row++)
      for (int col = 0; col < 8; col++) {
        const int lane = row % 8 * 4 + col / 2, own = col % 2 + row / 8 * 2;
        C start;
        __builtin_memcpy(&start, reinterpret_cast<const char *>(of(lanes, lane).words + of_a + of_b) + static_cast<int>(sizeof(C)) * own, sizeof(C));
        if constexpr (is_integer) {
          int64_t sum = start;
          for (int i = 0; i < stored; i++) sum += static_cast<int64_t>(a[row][i].value * b[col][place_of[row][i]].value);
          made[row][col] = clamps ? saturate<int>(static_cast<double>(sum)) : static_cast<int>(sum);
        } else {
          double sum = static_cast<double>(static_cast<float>(start));
          int exponent = sum == 0 ? least_counted : exponent_from(sum, least_of_float);
          for (int i = 0; i < stored; i++) {
            const Factor &left = a[row][i], &right = b[col][place_of[row][i]];
            terms[i] = left.value * right.value;
            if (left.exponent + right.exponent > exponent) exponent = left.exponent + right.exponent;
          }
          terms[stored] = sum;
          made[row][col] = static_cast<C>(ptx_exact_sum(terms, stored + 1, exponent, kept, line));
        }
      }
    for (int row = 0; row < 16; row++)
      for (int col = 0; col < 8; col++) of(lanes, row % 8 * 4 + col / 2).sums[col % 2 + row / 8 * 2] = made[row][col];
  }
};

// A register of 32 bits, or a selector, which has fewer or is a constant.
template <class T>
CUDA_ON_CPU_INLINE uint32_t ptx_word(const T &value) {
  if constexpr (ptx_is_integer<T>) return static_cast<uint32_t>(value);
  else return ptx_bits(value);
}
template <int left, class... Rest>
CUDA_ON_CPU_INLINE void ptx_give_doubles(const double *, const Rest &...) {}
template <int left, class First, class... Rest>
CUDA_ON_CPU_INLINE void ptx_give_doubles(const double *from, First &first, Rest &...rest) {
  if constexpr (left > 0) {
    ptx_put(first, *from);
    ptx_give_doubles<left - 1>(from + 1, rest...);
  }
}
template <class A, class B, class C, int k, bool is_sparse, int scales, class Scale, bool clamps, class... Register>
CUDA_ON_CPU_INLINE void ptx_mma_words(int line, Register &&...all) {
  using Own = PtxWordProduct<A, B, C, k, is_sparse, scales, Scale, clamps>;
  static_assert(sizeof...(all) == Own::of_c + Own::given, "as many registers as the shape has");
  alignas(16) const uint32_t words[] = {ptx_word(all)...};
  alignas(16) C sums[4];
  Own own = {{&Own::all}, words + Own::of_c, sums, line};
  cuda_on_cpu_warp(WarpOperation::together, ~0u, reinterpret_cast<uint64_t>(&own), 0, line);
  alignas(16) uint32_t made[Own::of_c];
  __builtin_memcpy(made, sums, sizeof made);
  ptx_give_words<Own::of_c>(made, all...);
}

// m8n8k4 of halves: four products, each by four lanes and the four 16 lanes on, which have the lower rows of A and the right
// columns of B. Sums in halves are rows; of floats two by two.
template <class C, bool a_by_column, bool b_by_column>
struct PtxEights : TogetherWork {
  static constexpr bool are_halves = std::is_same_v<C, ptx_c_f16>;
  uint16_t a[4], b[4];
  alignas(16) C sums[8];  // copied by 16 bytes
  int line;

  CUDA_ON_CPU_UNCHECKED static void all(const uint64_t *lanes) {
    const PtxEights *of[32];
    C made[32][8];
    for (int lane = 0; lane < 32; lane++) of[lane] = reinterpret_cast<const PtxEights *>(lanes[lane]);
    for (int lane = 0; lane < 32; lane++)
      for (int i = 0; i < 8; i++) {
        const int first = lane % 16 / 4 * 4, upper = lane / 16;
        const int row = are_halves ? lane % 4 + 4 * upper : lane % 2 + i % 4 / 2 * 2 + 4 * upper;
        const int col = are_halves ? i : i / 4 * 4 + lane % 4 / 2 * 2 + i % 2;
        double terms[5];
        terms[4] = static_cast<double>(static_cast<float>(of[lane]->sums[i]));
        int exponent = terms[4] == 0 ? least_counted : exponent_from(terms[4], least_of_float);
        for (int k = 0; k < 4; k++) {
          const uint16_t left = of[first + row / 4 * 16 + (a_by_column ? k : row % 4)]->a[a_by_column ? row % 4 : k];
          const uint16_t right = of[first + col / 4 * 16 + (b_by_column ? col % 4 : k)]->b[b_by_column ? k : col % 4];
          const double x = ptx_w_f16::number(left), y = ptx_w_f16::number(right);
          terms[k] = x * y;
          if (terms[k] == 0) continue;
          const int own = exponent_from(x, ptx_w_f16::least) + exponent_from(y, ptx_w_f16::least);
          if (own > exponent) exponent = own;
        }
        made[lane][i] = static_cast<C>(ptx_exact_sum(terms, 5, exponent, are_halves ? 10 : 23, of[lane]->line));
      }
    for (int lane = 0; lane < 32; lane++) __builtin_memcpy(const_cast<PtxEights *>(of[lane])->sums, made[lane], sizeof made[lane]);
  }
};
template <class C, bool a_by_column, bool b_by_column, class... Register>
CUDA_ON_CPU_INLINE void ptx_mma_eights(int line, Register &&...all) {
  using Own = PtxEights<C, a_by_column, b_by_column>;
  constexpr int of_c = static_cast<int>(8 * sizeof(C) / 4);
  static_assert(sizeof...(all) == 2 * of_c + 4, "as many registers as the shape has");
  alignas(16) const uint32_t words[] = {ptx_bits(all)...};
  Own own;
  own.work = &Own::all, own.line = line;
  __builtin_memcpy(own.a, words + of_c, sizeof own.a);
  __builtin_memcpy(own.b, words + of_c + 2, sizeof own.b);
  __builtin_memcpy(own.sums, words + of_c + 4, sizeof own.sums);
  cuda_on_cpu_warp(WarpOperation::together, ~0u, reinterpret_cast<uint64_t>(&own), 0, line);
  alignas(16) uint32_t made[of_c];
  __builtin_memcpy(made, own.sums, sizeof made);
  ptx_give_words<of_c>(made, all...);
}

// Matrices of doubles: a lane has one element of each register.
template <int rows, int k, class... Register>
CUDA_ON_CPU_INLINE void ptx_mma_doubles(int line, Register &&...all) {
  PtxSum<double, rows> d, c;
  PtxFragment<double, rows, k, false, 1> a;
  PtxFragment<double, k, 8, true, 1> b;
  static_assert(sizeof...(all) == 2 * d.own + a.own + b.own, "as many registers as the shape has");
  const double given[] = {ptx_as<double>(all)...}, *from = given + d.own;
  __builtin_memcpy(a.x, from, sizeof a.x);
  __builtin_memcpy(b.x, from + a.own, sizeof b.x);
  __builtin_memcpy(c.x, from + a.own + b.own, sizeof c.x);
  multiply(d, a, b, c, false, line);
  ptx_give_doubles<d.own>(d.x, all...);
}

}  // namespace cuda_on_cpu
