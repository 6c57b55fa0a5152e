// Numbers that know how they were computed. In the count flavour the float and double of a kernel are these: as large
// as the plain ones, with a trail (trails.h) that is kept apart from memory, by address. Here are the numbers and their
// operators; counted_functions.h has the mathematical functions.
//
// A trail does not follow bits that are moved as anything other than numbers (memcpy, int4): if memory that had a trail
// holds other bits than were written, the tally counts a lost trail, and the counts mean nothing.
#pragma once
#include "math_functions.h"
#include "trails.h"

namespace cuda_on_cpu {

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
  Counted(const Counted<A> &a) : value(static_cast<T>(a.value)) { note(this, value, a.trail()); }
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
  explicit operator A() const { return static_cast<A>(value); }
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
// One of the two is counted, and the other is counted or a plain number.
template <class A, class B>
constexpr bool are_numbers = (is_counted<A> || is_counted<B>) && std::is_arithmetic_v<Common<A, B>>;
template <class A, class B>
using Both = std::enable_if_t<are_numbers<A, B>, Counted<Common<A, B>>>;

// Adding 0 is exact; any other addition rounds, for each term of either side. A step toward an element is one addition.
template <class T>
CUDA_ON_CPU_OUT_OF_LINE Counted<T> sum_of(const Counted<T> &a, const Counted<T> &b, T value, uint32_t last = 0) {
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

// Whether a product scales a sum, or an exp, by an exp; an exp as the weight of an input scales nothing.
template <class T>
bool is_rescale(const Counted<T> &a, const Trail &s, const Counted<T> &b, const Trail &t) {
  return (s.flags & is_exponential && b.trail()) || (t.flags & is_exponential && a.trail());
}

template <class T>
CUDA_ON_CPU_OUT_OF_LINE Counted<T> product_of(const Counted<T> &a, const Counted<T> &b, T value) {
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
  if (!((s.flags | t.flags) & is_exponential)) {  // otherwise it is a rescale, or a weight, and the sum continues
    s = closed(s);
    t = closed(t);
  }
  Trail made = joined(s, t, 0, flags);
  made.rescales = s.rescales + t.rescales + is_rescale(a, s, b, t);
  made.scalings = s.scalings + t.scalings + ((s.flags | t.flags) & is_exponential ? 1 : 0);
  return {value, number_of(made)};
}

template <class T>
CUDA_ON_CPU_OUT_OF_LINE Counted<T> quotient_of(const Counted<T> &a, const Counted<T> &b, T value, uint32_t fast = 0) {
  Trail s = tables.trails[a.trail()], t = tables.trails[b.trail()];
  if (t.flags & is_constant) return {value, number_of(part_of(s))};
  uint32_t divisor = hash_bits(b.value) | 1u;  // never 0, which means none
  t.divided = larger(t.divided, t.sum);
  t.sum = {0, 0};
  return {value, number_of(joined(s, t, divisor, (s.flags & is_constant ? is_reciprocal : is_quotient) | fast))};
}

// A function that ends the sum in its argument.
template <class T>
CUDA_ON_CPU_OUT_OF_LINE Counted<T> function_of(const Counted<T> &a, T value, uint32_t flags = 0) {
  Trail t = tables.trails[a.trail()];
  if (t.flags & is_constant) return {value, is_constant};
  t = closed(t);
  t.inner = larger(t.inner, t.divided);
  return {value, number_of({{0, 0}, t.inner, {0, 0}, t.rescales, t.scalings, 0, flags})};
}

template <class T>
CUDA_ON_CPU_OUT_OF_LINE Counted<T> exp_of(const Counted<T> &a, T value) {
  uint32_t flags = tables.trails[a.trail()].flags;
  if (!(flags & is_constant)) {
    tally.exps++;
    if (!(flags & is_difference) && a.value - a.value == 0) tally.unshifted++;
  }
  return function_of(a, value, is_exponential);
}

// An exp of a constant base; any other power is a product.
template <class T>
CUDA_ON_CPU_OUT_OF_LINE Counted<T> power_of(const Counted<T> &a, const Counted<T> &b, T value) {
  return tables.trails[a.trail()].flags & is_constant ? exp_of(b, value) : function_of(a, value);
}

// A function that keeps the counts of its argument.
template <class T>
CUDA_ON_CPU_OUT_OF_LINE Counted<T> same_of(const Counted<T> &a, T value) {
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

inline uint64_t sent(double value, uint32_t trail) {
  uint32_t at = tables.next_moved++ % most_moved;
  tables.moved[at] = {value, trail};
  return moved_mark | at;
}
// None of a lane that does not take part.
inline const Moved *moved_by(uint64_t bits) {
  return bits >> 40 == moved_mark >> 40 ? &tables.moved[bits % most_moved] : nullptr;
}
template <class T>
Counted<T> received(uint64_t bits) {
  const Moved *one = moved_by(bits);
  if (!one) return {from_bits<T>(bits), 0};
  return {static_cast<T>(one->value), one->trail};
}
template <>
inline uint64_t to_bits(Counted<float> a) { return sent(static_cast<double>(a.value), a.trail()); }
template <>
inline uint64_t to_bits(Counted<double> a) { return sent(a.value, a.trail()); }
template <>
inline Counted<float> from_bits(uint64_t bits) { return received<float>(bits); }
template <>
inline Counted<double> from_bits(uint64_t bits) { return received<double>(bits); }

// Bits that become an integer and back (atomicCAS, atomicMax) keep the largest trail of a value with these bits.
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

template <class T>
Counted<T> chosen_of(const Counted<T> &a, const Counted<T> &b, T value) {
  return {value, to_bits(value) == to_bits(a.value) ? a.trail() : b.trail()};
}
#define CUDA_ON_CPU_COUNTED_CHOICE(name, T) \
  template <>                               \
  inline Counted<T> name(Counted<T> a, Counted<T> b) { return chosen_of(a, b, name<T>(a.value, b.value)); }
CUDA_ON_CPU_COUNTED_CHOICE(max_number, float)
CUDA_ON_CPU_COUNTED_CHOICE(min_number, float)
CUDA_ON_CPU_COUNTED_CHOICE(max_number, double)
CUDA_ON_CPU_COUNTED_CHOICE(min_number, double)
#undef CUDA_ON_CPU_COUNTED_CHOICE

}  // namespace cuda_on_cpu
