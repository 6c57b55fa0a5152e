#include "tensor_products.h"

#include <cstring>

#include "tensor_sums.h"

namespace cuda_on_cpu {

namespace {

enum class Specials { infinity_and_nan, nan, none };
struct Format {
  uint32_t bytes, exponent_bits, fraction_bits;
  int least;
  Specials specials;
};

Format format_of(TensorType type) {
  switch (type) {
    case TensorType::f16: return {2, 5, 10, -14, Specials::infinity_and_nan};
    case TensorType::bf16: return {2, 8, 7, -126, Specials::infinity_and_nan};
    case TensorType::tf32: return {4, 8, 23, -126, Specials::infinity_and_nan};
    case TensorType::e4m3: return {1, 4, 3, -6, Specials::nan};
    case TensorType::e2m3: return {1, 2, 3, 0, Specials::none};
    case TensorType::e3m2: return {1, 3, 2, -2, Specials::none};
    case TensorType::e2m1:
    case TensorType::e2m1_packed: return {1, 2, 1, 0, Specials::none};
    default: return {1, 5, 2, -14, Specials::infinity_and_nan};
  }
}

uint32_t bits_of(TensorType type) {
  if (type == TensorType::e2m1 || type == TensorType::e2m1_packed) return 4;
  return type == TensorType::e2m3 || type == TensorType::e3m2 ? 6 : 8 * bytes_of(type);
}

double number_of(uint32_t bits, const Format &f) {
  uint32_t fraction_mask = (1u << f.fraction_bits) - 1, exponent_mask = (1u << f.exponent_bits) - 1;
  uint32_t fraction = bits & fraction_mask, exponent = bits >> f.fraction_bits & exponent_mask;
  bool is_negative = bits >> (f.fraction_bits + f.exponent_bits) & 1;
  double size;
  if (f.specials == Specials::infinity_and_nan && exponent == exponent_mask)
    size = fraction ? __builtin_nan("") : __builtin_inf();
  else if (f.specials == Specials::nan && exponent == exponent_mask && fraction == fraction_mask)
    size = __builtin_nan("");
  else
    size = static_cast<double>(exponent ? fraction + fraction_mask + 1 : fraction) *
           power_of_two((exponent ? static_cast<int>(exponent) - 1 : 0) + f.least - static_cast<int>(f.fraction_bits));
  return is_negative ? -size : size;
}

bool is_integer(TensorType type) { return type == TensorType::s8 || type == TensorType::u8; }

void take(Factors &into, uint32_t bits, TensorType type, uint32_t row, uint32_t k) {
  if (is_integer(type)) {
    into.value[row][k] = type == TensorType::s8 ? static_cast<int8_t>(bits) : static_cast<uint8_t>(bits);
    return;
  }
  Format f = format_of(type);
  if (type == TensorType::tf32) bits &= ~0x1fffu;
  double x = into.value[row][k] = number_of(bits, f);
  into.exponent[row][k] = x == 0 ? of_zero : exponent_from(x, f.least);
}

// All products of an instruction are added at once. How those of a sparse A are added was not measured.
double sum_of_floats(const Factors &a, const Factors &b, const uint8_t *places, uint32_t row, uint32_t column, double sum, const Wgmma &w, bool &is_known) {
  constexpr int bits_kept_of_8 = 13, digits_of_8 = 14;
  const bool is_narrow = bytes_of(w.a) == 1;
  const double sign = w.negates_a != w.negates_b ? -1 : 1;
  double terms[stored_bytes + 1];
  int exponent = sum == 0 ? least_counted : exponent_from(sum, least_of_float);
  uint32_t depth = depth_of(w.a);
  for (uint32_t k = 0; k < depth; k++) {
    terms[k] = sign * a.value[row][k] * b.value[column][places[k]];
    int own = a.exponent[row][k] + b.exponent[column][places[k]];
    if (own > exponent) exponent = own;
  }
  terms[depth] = sum;
  int count = static_cast<int>(depth) + 1;
  if (w.is_sparse && !is_exact_in_any_order(terms, count, exponent, w.sum == TensorType::f16 ? 10 : is_narrow ? bits_kept_of_8 : 23)) is_known = false;
  sum = cut_sum(terms, count, exponent, is_narrow ? bits_kept_of_8 : bits_kept);
  return w.sum == TensorType::f16 ? sum : cut_to_digits(sum, is_narrow ? digits_of_8 : 24);
}

int32_t sum_of_integers(const Factors &a, const Factors &b, const uint8_t *places, uint32_t row, uint32_t column, int32_t start, bool clamps) {
  int64_t sum = start;
  for (uint32_t k = 0; k < stored_bytes; k++) sum += static_cast<int64_t>(a.value[row][k] * b.value[column][places[k]]);
  if (clamps) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
  return static_cast<int32_t>(sum);
}

}  // namespace

// To the nearest, ties to even.
uint16_t half_of(double x) {
  auto sign = static_cast<uint16_t>(bits_of_double(x) >> 48 & 0x8000);
  if (x != x) return 0x7fff;
  double size = __builtin_fabs(x);
  if (size >= 65520) return sign | 0x7c00;
  int last = (size < 0x1p-14 ? -14 : exponent_from(size, -14)) - 10;
  double steps = size * power_of_two(-last);
  auto whole = static_cast<uint32_t>(steps);
  double rest = steps - whole;
  whole += rest > 0.5 || (rest == 0.5 && (whole & 1));
  return static_cast<uint16_t>(sign | (whole + (static_cast<uint32_t>(last + 24) << 10)));  // a carry goes into the exponent
}
double of_half(uint16_t bits) { return number_of(bits, format_of(TensorType::f16)); }

SharedMatrix matrix_of(uint64_t bits) {
  constexpr uint32_t spans[] = {16, 128, 64, 32};
  auto field = [bits](int at, int width) { return static_cast<uint32_t>(bits >> at & ((1u << width) - 1)); };
  return {field(0, 14) << 4, field(16, 14) << 4, field(32, 14) << 4, field(49, 3), spans[field(62, 2)]};
}

SharedMatrix matrix_of_tcgen05(uint64_t bits) {
  constexpr uint32_t spans[] = {16, 0, 128, 0, 64, 0, 32, 0};
  SharedMatrix made = matrix_of(bits);
  made.span = spans[bits >> 61];
  if (bits >> 52 & 1) made.span = 0;  // the distance along the leading axis as an address
  return made;
}

uint32_t bytes_of(TensorType type) {
  if (type == TensorType::tf32) return 4;
  return type == TensorType::f16 || type == TensorType::bf16 ? 2 : 1;
}

uint32_t chunk_at(const SharedMatrix &m, uint32_t major, uint32_t along, bool by_depth) {
  uint32_t at;
  if (m.span > 16)  // eight rows of a span each
    at = major % 8 * m.span + major / 8 * m.stride + along % m.span + (by_depth ? along / m.span * m.span : along / m.span * m.leading);
  else if (by_depth)
    at = major % 8 * 16 + major / 8 * m.stride + along / 16 * m.leading;
  else
    at = major % 8 * 16 + major / 8 * m.leading + along / 16 * m.stride;
  uint32_t address = m.start + at;
  return address ^ (address >> 3 & (m.span - 16));
}

void take_chunk(Factors &into, const void *chunk, TensorType type, uint32_t major, uint32_t along, bool by_depth, uint32_t first_row) {
  uint32_t bits = bits_of(type), count = type == TensorType::e2m1_packed ? 32 : chunk_bytes / bytes_of(type);
  uint32_t first = along / chunk_bytes * count;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t at = i * bits, word = 0;
    memcpy(&word, static_cast<const char *>(chunk) + at / 8, bits == 32 ? 4 : bits == 16 ? 2 : at % 8 + bits > 8 ? 2 : 1);
    uint32_t code = bits == 32 ? word : word >> at % 8 & ((1u << bits) - 1);
    by_depth ? take(into, code, type, first_row + major, first + i) : take(into, code, type, first_row + first + i, major);
  }
}

void take_word(Factors &into, uint32_t word, TensorType type, uint32_t row, uint32_t k) {
  uint32_t bits = bits_of(type);
  for (uint32_t i = 0; i * bits < 32; i++) take(into, bits == 32 ? word : word >> (i * bits) & ((1u << bits) - 1), type, row, k + i);
}

void take_words(Factors &into, const uint32_t *words, TensorType type, uint32_t thread) {
  uint32_t bytes = bytes_of(type), each = 4 / bytes;
  for (uint32_t word = 0; word < 4; word++)
    for (uint32_t i = 0; i < each; i++) {
      uint32_t row = thread / 32 * 16 + thread % 32 / 4 + word % 2 * 8, k = thread % 4 * each + i + word / 2 * 4 * each;
      uint32_t bits = words[word] >> (8 * bytes * i);
      take(into, bytes == 4 ? bits : bits & ((1u << 8 * bytes) - 1), type, row, k);
    }
}

// As in CuTe's layouts of metadata. Each of 8-bit elements' four lanes has half of a row; of others two lanes have half of two rows.
bool take_places(Places &into, const Wgmma &w, uint32_t thread) {
  const uint32_t bytes = bytes_of(w.a), lane = thread % 4, top = thread / 32 * 16 + thread % 32 / 4;
  const bool is_whole = bytes == 1;
  if (w.selector > (is_whole ? 0 : 1)) return false;
  if (!is_whole && lane / 2 != w.selector) return true;
  const uint32_t chunk = bytes == 4 ? 2 : 4, kept = chunk / 2, chunks = is_whole ? 8 : 4, half = is_whole ? lane / 2 : lane % 2;
  for (uint32_t i = 0; i < 8; i++) {
    const uint32_t row = top + 8 * (is_whole ? lane % 2 : i / chunks), at = half * chunks + i % chunks;
    const uint32_t low = w.metadata >> 4 * i & 3, high = w.metadata >> (4 * i + 2) & 3;
    if (low == high || (bytes == 4 && (low % 2 || high != low + 1))) return false;
    uint8_t *to = into.of[row] + at * kept;
    to[0] = static_cast<uint8_t>(at * chunk + (bytes == 4 ? low / 2 : low));
    if (bytes != 4) to[1] = static_cast<uint8_t>(at * chunk + high);
  }
  return true;
}

bool multiply(const Factors &a, const Factors &b, const Places &places, const Wgmma &w, uint32_t thread) {
  bool is_known = true;
  bool are_halves = w.sum == TensorType::f16;
  for (uint32_t i = 0; i < w.columns / 2; i++) {
    uint32_t row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + thread % 4 * 2 + i % 2;
    char *at = static_cast<char *>(w.sums[are_halves ? i / 2 : i]) + (are_halves ? i % 2 * 2 : 0);
    if (are_halves) {
      uint16_t bits = 0;
      if (w.adds) memcpy(&bits, at, 2);
      bits = half_of(sum_of_floats(a, b, places.of[row], row, column, of_half(bits), w, is_known));
      memcpy(at, &bits, 2);
    } else if (w.sum == TensorType::s32) {
      int32_t sum = 0;
      if (w.adds) memcpy(&sum, at, 4);
      sum = sum_of_integers(a, b, places.of[row], row, column, sum, w.clamps);
      memcpy(at, &sum, 4);
    } else {
      float sum = 0;
      if (w.adds) memcpy(&sum, at, 4);
      sum = static_cast<float>(sum_of_floats(a, b, places.of[row], row, column, static_cast<double>(sum), w, is_known));
      memcpy(at, &sum, 4);
    }
  }
  return is_known;
}

double scale_of(uint32_t code, bool is_power) {
  if (!is_power) return number_of(code & 0x7f, format_of(TensorType::e4m3));
  return code == 0xff ? __builtin_nan("") : power_of_two(static_cast<int>(code) - 127);
}

double tensor_sum(const Factors &a, const Factors &b, uint32_t row, uint32_t column, TensorType type, double sum, double sign, const Scales &scales) {
  double terms[most_depth + 1];
  int exponent = sum == 0 ? least_counted : exponent_from(sum, least_of_float), of_scales[4] = {};
  uint32_t depth = elements_of(type), each = scales.count ? depth / scales.count : depth;
  double scale[4] = {sign, sign, sign, sign};
  for (uint32_t i = 0; i < scales.count; i++) {
    scale[i] = sign * scales.a[i] * scales.b[i];
    of_scales[i] = scales.a[i] == 0 || scales.b[i] == 0 ? of_zero : exponent_from(scales.a[i], -1022) + exponent_from(scales.b[i], -1022);
  }
  for (uint32_t k = 0; k < depth; k++) {
    terms[k] = scale[k / each] * a.value[row][k] * b.value[column][k];
    int own = a.exponent[row][k] + b.exponent[column][k] + of_scales[k / each];
    if (own > exponent) exponent = own;
  }
  terms[depth] = sum;
  return cut_sum(terms, static_cast<int>(depth) + 1, exponent);
}

int32_t tensor_sum_of_integers(const Factors &a, const Factors &b, uint32_t row, uint32_t column, int32_t sum, bool clamps) {
  static constexpr Places places = every_place();
  return sum_of_integers(a, b, places.of[0], row, column, sum, clamps);
}

}  // namespace cuda_on_cpu
