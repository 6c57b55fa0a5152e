// How a tensor core adds, as measured on an H100 and an H200 (benchmarks/tightness/gpu_tensor_cores.py and
// gpu_hopper_tensor_cores.py): the terms of a step, the incoming sum among them, are cut toward zero some bits below the
// largest exponent, and the total is cut to a float, or to fewer digits. The exponent is that of the factors: a denormal
// factor has its format's smallest exponent, as has a denormal sum; zeros do not count, and nothing counts as less than
// 2^-133.
#pragma once
#include <cstdint>

#define TENSOR_SUM static inline __attribute__((always_inline, no_sanitize("thread", "undefined")))

namespace cuda_on_cpu {

constexpr int least_counted = -133, of_zero = -(1 << 20), bits_kept = 25, least_of_float = -126;

TENSOR_SUM uint64_t bits_of_double(double x) {
  uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}
TENSOR_SUM double double_of_bits(uint64_t bits) {
  double x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}
TENSOR_SUM bool is_finite(double x) { return x - x == 0; }

// For a normal double.
TENSOR_SUM double power_of_two(int exponent) { return double_of_bits(static_cast<uint64_t>(exponent + 1023) << 52); }

// The stored exponent, in a format whose smallest is `least`, of a number other than 0 that is a normal double.
TENSOR_SUM int exponent_from(double x, int least) {
  int own = static_cast<int>(bits_of_double(x) >> 52 & 0x7ff) - 1023;
  if (own == 1024) return 0;  // the result is not a number to be truncated
  return own < least ? least : own;
}

// Toward 0: the first `digits` digits, or the multiples of 2^-149.
TENSOR_SUM double cut_to_digits(double x, int digits) {
  if (x == 0 || !is_finite(x)) return x;
  int last = exponent_from(x, -1022) - digits + 1;
  if (last >= -149) return double_of_bits(bits_of_double(x) & ~((uint64_t{1} << (53 - digits)) - 1));
  return __builtin_trunc(x * power_of_two(149)) * power_of_two(-149);
}
TENSOR_SUM float cut_to_float(double x) { return static_cast<float>(cut_to_digits(x, 24)); }

// The sum of finite terms below 4 times 2 to this exponent. With 25 bits kept: 27 digits each, and 17 are exact in a double.
TENSOR_SUM double cut_sum(const double *terms, int count, int exponent, int kept = bits_kept) {
  double plain = 0;
  for (int i = 0; i < count; i++) plain += terms[i];
  if (!is_finite(plain)) return plain;
  int last = exponent - kept;
  double up = power_of_two(-last);
  int64_t sum = 0;
  for (int i = 0; i < count; i++) sum += static_cast<int64_t>(terms[i] * up);
  return static_cast<double>(sum) * power_of_two(last);
}

// Whether a sum of terms is the same in whatever order and steps they are added, if a step keeps so many bits below the
// largest exponent, and the exponents that count are not above `exponent`.
TENSOR_SUM bool is_exact_in_any_order(const double *terms, int count, int exponent, int kept) {
  double size = 0;
  int last = 1 << 20;
  for (int i = 0; i < count; i++) {
    if (!is_finite(terms[i])) return true;
    if (terms[i] == 0) continue;
    size += __builtin_fabs(terms[i]);
    uint64_t bits = bits_of_double(terms[i]);
    int lowest = static_cast<int>(bits >> 52 & 0x7ff) - 1075 + __builtin_ctzll(bits | uint64_t{1} << 52);
    if (lowest < last) last = lowest;
  }
  return size == 0 || (exponent - kept <= last && size < power_of_two(last + kept));
}

}  // namespace cuda_on_cpu
