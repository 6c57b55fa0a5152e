#include "bulk_operations.h"

#include <cstring>

namespace cuda_on_cpu {

namespace {

template <class To, class From>
To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

// Round to nearest, ties to even; NaN stays one.
uint16_t bf16_of(float x) {
  uint32_t bits = bits_as<uint32_t>(x);
  if (x != x) return 0x7fff;
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
float of_bf16(uint16_t bits) { return bits_as<float>(static_cast<uint32_t>(bits) << 16); }

float of_f16(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31) return bits_as<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent) return bits_as<float>(sign | (exponent + 112) << 23 | fraction << 13);
  float tiny = static_cast<float>(fraction) * 0x1p-24f;
  return sign ? -tiny : tiny;
}
uint16_t f16_of(float x) {
  uint32_t bits = bits_as<uint32_t>(x), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
  if (x != x) return 0x7fff;
  if (rest >= 0x47800000) return static_cast<uint16_t>(sign | 0x7c00);  // 65536 and more
  if (rest < 0x38800000) {                                             // below 2^-14: in steps of 2^-24
    float steps = bits_as<float>(rest) * 0x1p24f + 0x1p23f;            // rounds to an integer
    return static_cast<uint16_t>(sign | (bits_as<uint32_t>(steps) & 0x7fffff));
  }
  uint32_t rounded = rest + 0xfff + (rest >> 13 & 1);
  return static_cast<uint16_t>(sign | ((rounded >> 13) - (112 << 10)));
}

template <class T>
T sum(T a, T b) { return static_cast<T>(a + b); }
// Integers wrap.
template <>
int32_t sum(int32_t a, int32_t b) { return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b)); }
template <>
int64_t sum(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }

template <class T>
T combined(T a, T b, BulkOperation operation) {
  switch (operation) {
    case bulk_add: return sum(a, b);
    case bulk_min: return b < a ? b : a;
    case bulk_max: return a < b ? b : a;
    case bulk_inc: return a >= b ? T(0) : sum(a, T(1));
    case bulk_dec: return a == T(0) || a > b ? b : sum(a, T(-1));
    default: return b;
  }
}

template <class T>
void each(void *into, const void *value, uint64_t bytes, BulkOperation operation) {
  for (uint64_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    T a, b;
    memcpy(&a, static_cast<char *>(into) + at, sizeof a);
    memcpy(&b, static_cast<const char *>(value) + at, sizeof b);
    T made = combined(a, b, operation);
    memcpy(static_cast<char *>(into) + at, &made, sizeof made);
  }
}

// The smaller and the larger of two, as PTX has it: a NaN only if both are.
template <uint16_t (*of)(float), float (*widened)(uint16_t)>
void each_half(void *into, const void *value, uint64_t bytes, BulkOperation operation) {
  for (uint64_t at = 0; at + 2 <= bytes; at += 2) {
    uint16_t a, b;
    memcpy(&a, static_cast<char *>(into) + at, 2);
    memcpy(&b, static_cast<const char *>(value) + at, 2);
    float x = widened(a), y = widened(b);
    bool takes_b = x != x || (operation == bulk_min ? y < x : x < y);
    uint16_t made = operation == bulk_add ? of(x + y) : takes_b ? b : a;
    memcpy(static_cast<char *>(into) + at, &made, 2);
  }
}

void each_bit(char *into, const char *value, uint64_t bytes, BulkOperation operation) {
  for (uint64_t i = 0; i < bytes; i++) {
    auto a = static_cast<unsigned char>(into[i]), b = static_cast<unsigned char>(value[i]);
    into[i] = static_cast<char>(operation == bulk_and ? a & b : operation == bulk_or ? a | b : a ^ b);
  }
}

}  // namespace

uint32_t bytes_of_type(BulkType type) {
  switch (type) {
    case bulk_f16: case bulk_bf16: return 2;
    case bulk_u64: case bulk_s64: case bulk_f64: return 8;
    case bulk_bytes: return 1;
    default: return 4;
  }
}

void reduce(void *into, const void *value, uint64_t bytes, BulkOperation operation, BulkType type) {
  if (operation == bulk_copy) {
    memmove(into, value, bytes);
    return;
  }
  if (operation == bulk_and || operation == bulk_or || operation == bulk_xor)
    return each_bit(static_cast<char *>(into), static_cast<const char *>(value), bytes, operation);
  switch (type) {
    case bulk_u32: return each<uint32_t>(into, value, bytes, operation);
    case bulk_s32: return each<int32_t>(into, value, bytes, operation);
    case bulk_u64: return each<uint64_t>(into, value, bytes, operation);
    case bulk_s64: return each<int64_t>(into, value, bytes, operation);
    case bulk_f32: return each<float>(into, value, bytes, operation);
    case bulk_f64: return each<double>(into, value, bytes, operation);
    case bulk_f16: return each_half<f16_of, of_f16>(into, value, bytes, operation);
    case bulk_bf16: return each_half<bf16_of, of_bf16>(into, value, bytes, operation);
    case bulk_bytes: memmove(into, value, bytes);
  }
}

}  // namespace cuda_on_cpu
