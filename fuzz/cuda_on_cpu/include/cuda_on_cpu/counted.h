// Numbers that know how they came about. In the count flavour a kernel's float and double are these: as large as the
// plain ones, with a trail kept beside memory, by address. A trail says how many additions and how many products with
// an exp lie on the way of any one term into the value, and by what it was divided. Additions are counted in three
// stages: those of the sum that the value is, those of sums that it was divided by, and those of sums that are inner
// ones by now, of which a function was taken or which were a factor. What a claim says of is sums, and each is in one.
//
// What a trail does not follow is bits that are moved as something else than numbers (memcpy, int4): where memory that
// had a trail holds other bits than were written, that is tallied as lost, and nothing may be read off the counts.
// Long, since C++ wants each operator and each function of mathematics once for every pair of types.
#pragma once
#include "math_functions.h"
#include "vectors.h"
#include "warp.h"

namespace cuda_on_cpu {

enum TrailFlag : uint32_t {
  is_constant = 1,     // made of literals alone
  is_exponential = 2,  // an exp, or a product of exps
  is_difference = 4,   // something was added or subtracted on the way
  is_reciprocal = 8,   // 1 / divisor
  is_quotient = 16,    // a / divisor
  is_product = 32,     // a * (1 / divisor)
  is_fast = 64,        // by __fdividef
  ends_in_difference = 128,  // what was done last is a subtraction, as of a shift or a mean
  is_step = 256,             // a part of a difference, as a mean takes it toward an element
};

struct Adds {
  uint32_t narrow, wide;  // wide: in double
  bool any() const { return narrow | wide; }
};

struct Trail {
  Adds sum, inner, divided;
  uint32_t rescales;
  uint32_t scalings;  // those, and what an input is weighed by
  uint32_t divisor;  // the bits of the last one
  uint32_t flags;
};

// What was seen of a run beside its values.
struct Tally {
  uint32_t lost;       // values whose trail was lost
  uint32_t crowded;    // the tables are full
  uint32_t exps;       // of something that is no literal
  uint32_t unshifted;  // those from whose argument nothing was subtracted
};

static Tally tally;

inline uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }
inline Adds larger(Adds a, Adds b) { return {larger(a.narrow, b.narrow), larger(a.wide, b.wide)}; }

// Two values become one, whatever is done.
inline Trail joined(const Trail &s, const Trail &t, uint32_t divisor, uint32_t flags) {
  return {larger(s.sum, t.sum), larger(s.inner, t.inner), larger(s.divided, t.divided), larger(s.rescales, t.rescales),
          larger(s.scalings, t.scalings), divisor, flags};
}

// A subtraction at the end of a value is no addition of a term to the sum that it is.
inline Trail without_difference(Trail t) {
  uint32_t &last = t.sum.narrow ? t.sum.narrow : t.sum.wide;
  if (last && t.flags & ends_in_difference) last--;
  return t;
}

inline Trail part_of(Trail t) {
  if (t.flags & ends_in_difference) t.flags |= is_step;
  return t;
}

// The sum that a value is becomes an inner one.
inline Trail closed(Trail t) {
  t = without_difference(t);
  t.inner = larger(t.inner, t.sum);
  t.sum = {0, 0};
  return t;
}

// Trails by number: equal ones are one. Number 0 is of a value that was loaded, 1 of a constant.
constexpr uint32_t most_trails = 1u << 20, trail_slots = 2 * most_trails;
struct Slot {
  uint32_t run, trail;
};

// The trail of each number in memory, by its address.
struct Noted {
  uintptr_t address;
  uint32_t run, trail, bits;
};
constexpr uint64_t most_noted = 1u << 21;

// A warp collective moves 64 bits: a number goes through it by its place among the last that did.
struct Moved {
  double value;
  uint32_t trail;
};
constexpr uint32_t most_moved = 1u << 16, most_integers = 1u << 12;

// What was noted in earlier runs counts no more; what was while the library was loaded, in every run.
constexpr uint32_t at_load = 1;
struct Tables {
  uint32_t run, trail_count, trails_at_load, next_moved;
  uint64_t noted_count;
  Trail trails[most_trails];
  Slot slots[trail_slots];
  Noted noted[most_noted], as_integer[most_integers];
  Moved moved[most_moved];
};

// In memory of their own: what lies in the library is put back before every run, and these are 120 MB, mostly untouched.
struct OwnedTables {
  Tables *at = static_cast<Tables *>(calloc(1, sizeof(Tables)));
  OwnedTables() {
    at->run = at_load;
    at->trail_count = 2;
    at->trails[is_constant].flags = is_constant;
  }
  ~OwnedTables() { (free)(at); }  // not the free of a kernel
};
static OwnedTables owned_tables;
static Tables &tables = *owned_tables.at;

inline bool is_current(uint32_t run) { return run == tables.run || run == at_load; }

inline uint64_t scramble(uint64_t key) {
  key = (key ^ key >> 32) * 0x9E3779B97F4A7C15u;
  return (key ^ key >> 29) * 0xBF58476D1CE4E5B9u >> 20;
}

inline uint32_t number_of(const Trail &t) {
  bool has_adds = t.sum.any() | t.inner.any() | t.divided.any();
  if (!has_adds && !(t.scalings | t.divisor) && t.flags <= is_constant) return t.flags;
  uint64_t at = t.flags;
  uint32_t words[sizeof t / 4];
  memcpy(words, &t, sizeof t);
  for (uint32_t word : words) at = scramble(at ^ word);
  for (;; at++) {
    Slot &slot = tables.slots[at % trail_slots];
    if (!is_current(slot.run)) {
      if (tables.trail_count == most_trails) {
        tally.crowded++;
        return 0;
      }
      slot = {tables.run, tables.trail_count++};
      tables.trails[slot.trail] = t;
      return slot.trail;
    }
    if (!memcmp(&tables.trails[slot.trail], &t, sizeof t)) return slot.trail;
  }
}

inline Noted *find(const volatile void *p) {
  auto address = reinterpret_cast<uintptr_t>(p);
  for (uint64_t at = (address >> 2) + scramble(address >> 14);; at++) {  // neighbours lie side by side, pages anywhere
    Noted &one = tables.noted[at % most_noted];
    if (!is_current(one.run) || one.address == address) return &one;
  }
}

template <class T>
inline uint32_t hash_bits(T value) {
  uint64_t bits = to_bits(value);
  return static_cast<uint32_t>(bits ^ bits >> 32);
}

template <class T>
inline void note(const volatile void *p, T value, uint32_t trail) {
  Noted *one = find(p);
  if (!is_current(one->run) && ++tables.noted_count > most_noted / 2) {
    tally.crowded++;
    return;
  }
  *one = {reinterpret_cast<uintptr_t>(p), tables.run, trail, hash_bits(value)};
}

// What lies on the stack of the thread that asks, or near it.
inline bool is_local(const volatile void *p) {
  constexpr ptrdiff_t stack = 512 << 10;
  char here;
  ptrdiff_t away = reinterpret_cast<intptr_t>(p) - reinterpret_cast<intptr_t>(&here);
  return away < stack && away > -stack;
}

// A number that nobody has noted was loaded, if it lies in an array; a local one was put there as bits.
template <class T>
inline uint32_t trail_at(const volatile void *p, T value) {
  const Noted *one = find(p);
  bool is_noted = is_current(one->run);
  if (is_noted && one->bits == hash_bits(value)) return one->trail;
  if (is_noted || is_local(p)) tally.lost++;
  return 0;
}

template <class T>
struct Counted {
  T value;

  Counted() = default;
  template <class A, class = std::enable_if_t<std::is_arithmetic_v<A>>>
  constexpr Counted(A a) : value(static_cast<T>(a)) {
    if (!__builtin_is_constant_evaluated()) note(this, value, is_constant);
  }
  constexpr Counted(T a, uint32_t trail) : value(a) { note(this, value, trail); }
  constexpr Counted(const Counted &a) : value(a.value) {
    if (!__builtin_is_constant_evaluated()) note(this, value, a.trail());
  }
  Counted(const volatile Counted &a) : value(a.value) { note(this, value, a.trail()); }
  template <class A>
  Counted(const Counted<A> &a) : value(static_cast<T>(a.value)) {
    note(this, value, a.trail());
  }
  constexpr Counted &operator=(const Counted &a) {
    value = a.value;
    if (!__builtin_is_constant_evaluated()) note(this, value, a.trail());
    return *this;
  }
  void operator=(const Counted &a) volatile {
    value = a.value;
    note(this, a.value, a.trail());
  }
  void operator=(const volatile Counted &a) volatile { *this = Counted(a); }
  template <class A>
  explicit operator A() const {
    return static_cast<A>(value);
  }
  uint32_t trail() const { return trail_at(this, value); }
  uint32_t trail() const volatile { return trail_at(this, static_cast<T>(value)); }
  Counted operator-() const { return {-value, trail()}; }
  Counted operator+() const { return *this; }
  bool operator!() const { return !value; }
  Counted &operator++() { return *this = *this + 1; }
  Counted &operator--() { return *this = *this - 1; }
  Counted operator++(int) {
    Counted old = *this;
    ++*this;
    return old;
  }
};

template <class T>
struct CountedOf {
  using type = Counted<T>;
};
template <class T>
struct CountedOf<Counted<T>> {
  using type = Counted<T>;
};
template <class T>
struct PlainOf {
  using type = T;
};
template <class T>
struct PlainOf<Counted<T>> {
  using type = T;
};
template <class T>
constexpr bool is_counted = !std::is_same_v<T, typename PlainOf<T>::type>;
template <class A, class B>
using Common = std::common_type_t<typename PlainOf<A>::type, typename PlainOf<B>::type>;
// One of the two is counted, and the other counted or a plain number.
template <class A, class B>
constexpr bool are_numbers = (is_counted<A> || is_counted<B>) && std::is_arithmetic_v<Common<A, B>>;
template <class A, class B>
using Both = std::enable_if_t<are_numbers<A, B>, Counted<Common<A, B>>>;

// To add 0 is exact; any other addition rounds, for each term of either side. A step toward an element is one addition.
template <class T>
Counted<T> sum_of(const Counted<T> &a, const Counted<T> &b, T value, uint32_t last = 0) {
  Trail s = tables.trails[a.trail()], t = tables.trails[b.trail()];
  uint32_t flags = s.flags & t.flags & is_constant ? uint32_t{is_constant} : is_difference | last;
  if (a.value == 0 || b.value == 0) {
    Trail &left = a.value == 0 ? t : s;
    left.flags = (left.flags & ~uint32_t{is_constant}) | (flags & (is_constant | is_difference));
    return {value, number_of(left)};
  }
  if (flags == is_constant) return {value, is_constant};
  if (!last && s.flags & is_step) s = without_difference(s);
  if (!last && t.flags & is_step) t = without_difference(t);
  Trail made = joined(s, t, 0, flags);
  (sizeof(T) == 8 ? made.sum.wide : made.sum.narrow)++;
  return {value, number_of(made)};
}

// Whether a product scales a sum, or an exp, by an exp; where an input is weighed by one, nothing is.
template <class T>
bool is_rescale(const Counted<T> &a, const Trail &s, const Counted<T> &b, const Trail &t) {
  return (s.flags & is_exponential && b.trail()) || (t.flags & is_exponential && a.trail());
}

template <class T>
Counted<T> product_of(const Counted<T> &a, const Counted<T> &b, T value) {
  Trail s = tables.trails[a.trail()], t = tables.trails[b.trail()];
  if (s.flags & is_constant) return {value, number_of(part_of(t))};
  if (t.flags & is_constant) return {value, number_of(part_of(s))};
  bool by_reciprocal = (s.flags ^ t.flags) & is_reciprocal;
  if (by_reciprocal) {
    const Trail &inverse = s.flags & is_reciprocal ? s : t;
    return {value, number_of(joined(s, t, inverse.divisor, is_product | (inverse.flags & is_fast)))};
  }
  if (a.value == 0 || b.value == 0) return {value, 0};
  uint32_t flags = (s.flags & t.flags & is_exponential) | ((s.flags | t.flags) & is_difference);
  if (!((s.flags | t.flags) & is_exponential)) {  // else it is a rescale, or a weight, and the sum goes on
    s = closed(s);
    t = closed(t);
  }
  Trail made = joined(s, t, 0, flags);
  made.rescales = s.rescales + t.rescales + is_rescale(a, s, b, t);
  made.scalings = s.scalings + t.scalings + ((s.flags | t.flags) & is_exponential ? 1 : 0);
  return {value, number_of(made)};
}

template <class T>
Counted<T> quotient_of(const Counted<T> &a, const Counted<T> &b, T value, uint32_t fast = 0) {
  Trail s = tables.trails[a.trail()], t = tables.trails[b.trail()];
  if (t.flags & is_constant) return {value, number_of(part_of(s))};
  uint32_t divisor = hash_bits(b.value) | 1u;  // never 0, which means none
  t.divided = larger(t.divided, t.sum);
  t.sum = {0, 0};
  return {value, number_of(joined(s, t, divisor, (s.flags & is_constant ? is_reciprocal : is_quotient) | fast))};
}

// A function that ends the sum that its argument is.
template <class T>
Counted<T> function_of(const Counted<T> &a, T value, uint32_t flags = 0) {
  Trail t = tables.trails[a.trail()];
  if (t.flags & is_constant) return {value, is_constant};
  t = closed(t);
  t.inner = larger(t.inner, t.divided);
  return {value, number_of({{0, 0}, t.inner, {0, 0}, t.rescales, t.scalings, 0, flags})};
}

template <class T>
Counted<T> exp_of(const Counted<T> &a, T value) {
  uint32_t flags = tables.trails[a.trail()].flags;
  if (!(flags & is_constant)) {
    tally.exps++;
    if (!(flags & is_difference) && a.value - a.value == 0) tally.unshifted++;
  }
  return function_of(a, value, is_exponential);
}

// An exp of a constant base; any other power is a product.
template <class T>
Counted<T> power_of(const Counted<T> &a, const Counted<T> &b, T value) {
  return tables.trails[a.trail()].flags & is_constant ? exp_of(b, value) : function_of(a, value);
}

// A function that leaves what its argument counts as it is.
template <class T>
Counted<T> same_of(const Counted<T> &a, T value) {
  Trail t = tables.trails[a.trail()];
  t.flags &= is_constant | is_difference;
  return {value, number_of(t)};
}

#define CUDA_ON_CPU_COUNTED(symbol, result)                                    \
  template <class A, class B>                                                  \
  Both<A, B> operator symbol(A a, B b) {                                       \
    using T = Common<A, B>;                                                    \
    Counted<T> x = a, y = b;                                                   \
    return result(x, y, static_cast<T>(x.value symbol y.value));               \
  }                                                                            \
  template <class A, class B>                                                  \
  std::enable_if_t<are_numbers<Counted<A>, B>, Counted<A> &> operator symbol##=(Counted<A> &a, B b) { \
    return a = Counted<A>(a symbol b);                                         \
  }                                                                            \
  template <class A, class B>                                                  \
  std::enable_if_t<are_numbers<Counted<A>, B>> operator symbol##=(volatile Counted<A> &a, B b) { \
    a = Counted<A>(Counted<A>(a) symbol b);                                    \
  }
template <class T>
Counted<T> difference_of(const Counted<T> &a, const Counted<T> &b, T value) {
  return sum_of(a, b, value, ends_in_difference);
}
CUDA_ON_CPU_COUNTED(+, sum_of)
CUDA_ON_CPU_COUNTED(-, difference_of)
CUDA_ON_CPU_COUNTED(*, product_of)
CUDA_ON_CPU_COUNTED(/, quotient_of)
#undef CUDA_ON_CPU_COUNTED

#define CUDA_ON_CPU_COMPARED(symbol)                                             \
  template <class A, class B>                                                    \
  std::enable_if_t<are_numbers<A, B>, bool> operator symbol(A a, B b) {          \
    using T = Common<A, B>;                                                      \
    return static_cast<T>(a) symbol static_cast<T>(b);                           \
  }
CUDA_ON_CPU_COMPARED(<)
CUDA_ON_CPU_COMPARED(>)
CUDA_ON_CPU_COMPARED(<=)
CUDA_ON_CPU_COMPARED(>=)
CUDA_ON_CPU_COMPARED(==)
CUDA_ON_CPU_COMPARED(!=)
#undef CUDA_ON_CPU_COMPARED

constexpr uint64_t moved_mark = uint64_t{0xC0F4ED} << 40;

template <class T>
uint64_t sent(const Counted<T> &a) {
  uint32_t at = tables.next_moved++ % most_moved;
  tables.moved[at] = {static_cast<double>(a.value), a.trail()};
  return moved_mark | at;
}
template <class T>
Counted<T> received(uint64_t bits) {
  if (bits >> 40 != moved_mark >> 40) return {from_bits<T>(bits), 0};  // of a lane that took no part
  const Moved &one = tables.moved[bits % most_moved];
  return {static_cast<T>(one.value), one.trail};
}
template <>
inline uint64_t to_bits(Counted<float> a) { return sent(a); }
template <>
inline uint64_t to_bits(Counted<double> a) { return sent(a); }
template <>
inline Counted<float> from_bits(uint64_t bits) { return received<float>(bits); }
template <>
inline Counted<double> from_bits(uint64_t bits) { return received<double>(bits); }

// Bits that are taken for an integer and back (atomicCAS, atomicMax) keep the largest trail of a value of these bits.
template <class T>
uint64_t as_bits(const Counted<T> &a) {
  uint32_t number = a.trail(), bits = hash_bits(a.value);
  Noted &one = tables.as_integer[scramble(bits) % most_integers];
  if (is_current(one.run) && one.bits == bits) {
    Trail s = tables.trails[one.trail], t = tables.trails[number];
    number = number_of(joined(s, t, 0, t.flags));
  } else if (is_current(one.run) && tables.trails[one.trail].sum.any()) {
    tally.lost++;
  }
  one = {0, tables.run, number, bits};
  return to_bits(a.value);
}
template <class T>
Counted<T> of_bits(uint64_t bits) {
  T value = from_bits<T>(bits);
  const Noted &one = tables.as_integer[scramble(hash_bits(value)) % most_integers];
  bool is_known = is_current(one.run) && one.bits == hash_bits(value);
  return {value, is_known ? one.trail : is_constant + 0u};
}

using counted_float = Counted<float>;
using counted_double = Counted<double>;
template <>
constexpr bool is_trivial<counted_float> = true;
template <>
constexpr bool is_trivial<counted_double> = true;

template <>
inline counted_float max_number(counted_float a, counted_float b) {
  float most = max_number<float>(a.value, b.value);
  return {most, to_bits(most) == to_bits(a.value) ? a.trail() : b.trail()};
}
template <>
inline counted_float min_number(counted_float a, counted_float b) {
  float least = min_number<float>(a.value, b.value);
  return {least, to_bits(least) == to_bits(a.value) ? a.trail() : b.trail()};
}

// The fast functions, by CUDA's own recipes in float.
#define CUDA_ON_CPU_COUNTED_FAST(name, result)                              \
  template <class T>                                                        \
  Counted<T> name(Counted<T> a) {                                           \
    return result(a, static_cast<T>(name(static_cast<float>(a.value))));    \
  }
CUDA_ON_CPU_COUNTED_FAST(fast_exp, exp_of)
CUDA_ON_CPU_COUNTED_FAST(fast_exp10, exp_of)
CUDA_ON_CPU_COUNTED_FAST(exp10_of, exp_of)
CUDA_ON_CPU_COUNTED_FAST(fast_log, function_of)
CUDA_ON_CPU_COUNTED_FAST(fast_log10, function_of)
CUDA_ON_CPU_COUNTED_FAST(fast_tan, function_of)
#undef CUDA_ON_CPU_COUNTED_FAST
template <class A, class B>
std::enable_if_t<are_numbers<A, B>, counted_float> fast_pow(A a, B b) {
  counted_float x = a, y = b;
  return power_of(x, y, fast_pow(x.value, y.value));
}
template <class A, class B>
std::enable_if_t<are_numbers<A, B>, counted_float> fast_divide(A a, B b) {
  counted_float x = a, y = b;
  return quotient_of(x, y, fast_divide(x.value, y.value), is_fast);
}

}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_COUNTED_FUNCTION(name, result, T)                                          \
  static inline cuda_on_cpu::Counted<T> name(cuda_on_cpu::Counted<T> a) {                      \
    return cuda_on_cpu::result(a, static_cast<T>(name(a.value)));                              \
  }
#define CUDA_ON_CPU_COUNTED_FUNCTIONS(name, result)        \
  CUDA_ON_CPU_COUNTED_FUNCTION(name##f, result, float)     \
  CUDA_ON_CPU_COUNTED_FUNCTION(name, result, double)       \
  CUDA_ON_CPU_COUNTED_FUNCTION(name, result, float)
#ifdef expf  // -use_fast_math
static inline cuda_on_cpu::Counted<double> exp(cuda_on_cpu::Counted<double> a) {
  return cuda_on_cpu::exp_of(a, exp(a.value));
}
#else
CUDA_ON_CPU_COUNTED_FUNCTIONS(exp, exp_of)
#endif
CUDA_ON_CPU_COUNTED_FUNCTIONS(exp2, exp_of)
#ifndef logf  // -use_fast_math
CUDA_ON_CPU_COUNTED_FUNCTIONS(log, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(log10, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(tan, function_of)
#endif
CUDA_ON_CPU_COUNTED_FUNCTIONS(log2, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(log1p, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(expm1, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(sqrt, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(rsqrt, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(cbrt, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(tanh, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(sinh, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(cosh, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(erf, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(erfc, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(sin, function_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(cos, function_of)
CUDA_ON_CPU_COUNTED_FUNCTION(__fsqrt_rn, function_of, float)
CUDA_ON_CPU_COUNTED_FUNCTION(__frsqrt_rn, function_of, float)
CUDA_ON_CPU_COUNTED_FUNCTIONS(fabs, same_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(floor, same_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(ceil, same_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(trunc, same_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(round, same_of)
CUDA_ON_CPU_COUNTED_FUNCTIONS(rint, same_of)
#undef CUDA_ON_CPU_COUNTED_FUNCTIONS
#undef CUDA_ON_CPU_COUNTED_FUNCTION

namespace cuda_on_cpu {

template <class A, class B>
Both<A, B> power(A a, B b) {
  using T = Common<A, B>;
  Counted<T> x = a, y = b;
  return power_of(x, y, static_cast<T>(pow(x.value, y.value)));
}

}  // namespace cuda_on_cpu

#ifndef powf  // -use_fast_math
template <class A, class B>
static inline cuda_on_cpu::Both<A, B> powf(A a, B b) {
  return cuda_on_cpu::power(a, b);
}
#endif
template <class A, class B>
static inline cuda_on_cpu::Both<A, B> pow(A a, B b) {
  return cuda_on_cpu::power(a, b);
}

#define CUDA_ON_CPU_COUNTED_TEST(name)                                    \
  template <class T>                                                      \
  static inline bool name(cuda_on_cpu::Counted<T> a) {                    \
    return std::name(a.value);                                            \
  }
CUDA_ON_CPU_COUNTED_TEST(isnan)
CUDA_ON_CPU_COUNTED_TEST(isinf)
CUDA_ON_CPU_COUNTED_TEST(isfinite)
CUDA_ON_CPU_COUNTED_TEST(signbit)
#undef CUDA_ON_CPU_COUNTED_TEST

#define CUDA_ON_CPU_COUNTED_ROUNDED(letter, T)                                                                       \
  static inline cuda_on_cpu::Counted<T> __##letter##add_rn(cuda_on_cpu::Counted<T> a, cuda_on_cpu::Counted<T> b) { return a + b; } \
  static inline cuda_on_cpu::Counted<T> __##letter##sub_rn(cuda_on_cpu::Counted<T> a, cuda_on_cpu::Counted<T> b) { return a - b; } \
  static inline cuda_on_cpu::Counted<T> __##letter##mul_rn(cuda_on_cpu::Counted<T> a, cuda_on_cpu::Counted<T> b) { return a * b; } \
  static inline cuda_on_cpu::Counted<T> __##letter##div_rn(cuda_on_cpu::Counted<T> a, cuda_on_cpu::Counted<T> b) { return a / b; } \
  static inline cuda_on_cpu::Counted<T> __##letter##rcp_rn(cuda_on_cpu::Counted<T> a) { return T(1) / a; }
CUDA_ON_CPU_COUNTED_ROUNDED(f, float)
CUDA_ON_CPU_COUNTED_ROUNDED(d, double)
#undef CUDA_ON_CPU_COUNTED_ROUNDED

namespace cuda_on_cpu {

template <class T>
Counted<T> fused(Counted<T> a, Counted<T> b, Counted<T> c) {
  Counted<T> product = product_of(a, b, a.value * b.value);
  return sum_of(product, c, static_cast<T>(std::fma(a.value, b.value, c.value)));
}

}  // namespace cuda_on_cpu

static inline cuda_on_cpu::counted_float fmaf(cuda_on_cpu::counted_float a, cuda_on_cpu::counted_float b,
                                              cuda_on_cpu::counted_float c) {
  return cuda_on_cpu::fused(a, b, c);
}
static inline cuda_on_cpu::counted_double fma(cuda_on_cpu::counted_double a, cuda_on_cpu::counted_double b,
                                              cuda_on_cpu::counted_double c) {
  return cuda_on_cpu::fused(a, b, c);
}
static inline cuda_on_cpu::counted_float __fmaf_rn(cuda_on_cpu::counted_float a, cuda_on_cpu::counted_float b,
                                                   cuda_on_cpu::counted_float c) {
  return cuda_on_cpu::fused(a, b, c);
}
template <class A, class B>
static inline cuda_on_cpu::Both<A, B> max(A a, B b) {
  return a > b ? cuda_on_cpu::Both<A, B>(a) : cuda_on_cpu::Both<A, B>(b);
}
template <class A, class B>
static inline cuda_on_cpu::Both<A, B> min(A a, B b) {
  return a < b ? cuda_on_cpu::Both<A, B>(a) : cuda_on_cpu::Both<A, B>(b);
}
template <class A, class B>
static inline cuda_on_cpu::Both<A, B> fmax(A a, B b) {
  return max(a, b);
}

#define CUDA_ON_CPU_COUNTED_ATOMIC(name, now)                                                              \
  template <class T, class B>                                                                              \
  static inline cuda_on_cpu::Counted<T> name(cuda_on_cpu::Counted<T> *p, B value) {                        \
    cuda_on_cpu::Counted<T> old = *p;                                                                      \
    *p = now;                                                                                              \
    return old;                                                                                            \
  }
CUDA_ON_CPU_COUNTED_ATOMIC(atomicAdd, old + value)
CUDA_ON_CPU_COUNTED_ATOMIC(atomicAdd_block, old + value)
CUDA_ON_CPU_COUNTED_ATOMIC(atomicAdd_system, old + value)
CUDA_ON_CPU_COUNTED_ATOMIC(atomicExch, value)
#undef CUDA_ON_CPU_COUNTED_ATOMIC

namespace cuda_on_cpu {
CUDA_ON_CPU_VECTOR(counted_float, counted_float, 8, 16)
CUDA_ON_CPU_VECTOR(counted_double, counted_double, 16, 16)

inline int counted_float_as_int(counted_float a) { return static_cast<int>(as_bits(a)); }
inline unsigned int counted_float_as_uint(counted_float a) { return static_cast<unsigned int>(as_bits(a)); }
inline counted_float counted_int_as_float(int bits) { return of_bits<float>(static_cast<unsigned int>(bits)); }
inline counted_float counted_uint_as_float(unsigned int bits) { return of_bits<float>(bits); }
inline long long counted_double_as_longlong(counted_double a) { return static_cast<long long>(as_bits(a)); }
inline counted_double counted_longlong_as_double(long long bits) { return of_bits<double>(static_cast<uint64_t>(bits)); }
}  // namespace cuda_on_cpu

template <>
struct std::numeric_limits<cuda_on_cpu::counted_float> : std::numeric_limits<float> {};
template <>
struct std::numeric_limits<cuda_on_cpu::counted_double> : std::numeric_limits<double> {};

// From Python, around a run: forget what was noted; the trails of so many numbers in a row; what was tallied.
CUDA_ON_CPU_IMPORT void cuda_on_cpu_count_begin() {
  cuda_on_cpu::Tables &tables = cuda_on_cpu::tables;
  if (tables.run == cuda_on_cpu::at_load) tables.trails_at_load = tables.trail_count;
  tables.run++;
  tables.trail_count = tables.trails_at_load;
  tables.noted_count = tables.next_moved = 0;
  cuda_on_cpu::tally = {};
}
CUDA_ON_CPU_IMPORT void cuda_on_cpu_trails_of(const char *first, uint64_t count, uint64_t step, cuda_on_cpu::Trail *out) {
  for (uint64_t i = 0; i < count; i++) {
    const cuda_on_cpu::Noted *one = cuda_on_cpu::find(first + i * step);
    out[i] = cuda_on_cpu::is_current(one->run) ? cuda_on_cpu::tables.trails[one->trail] : cuda_on_cpu::Trail{};
  }
}
CUDA_ON_CPU_IMPORT void cuda_on_cpu_tally(cuda_on_cpu::Tally *out) { *out = cuda_on_cpu::tally; }
