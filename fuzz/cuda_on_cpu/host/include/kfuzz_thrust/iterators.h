// Iterators that compute their elements, and function objects.
#pragma once
#include "memory.h"

namespace thrust {
namespace details {

// What all of them have in common: a place, and `at(place)`, the element there.
template <class Own, class Value>
struct Making {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Value;
  using difference_type = ptrdiff_t;
  using pointer = const Value *;
  using reference = Value;
  ptrdiff_t place = 0;

  Value operator*() const { return own().at(place); }
  Value operator[](ptrdiff_t i) const { return own().at(place + i); }
  Own &operator+=(ptrdiff_t n) { return place += n, own(); }
  Own &operator-=(ptrdiff_t n) { return place -= n, own(); }
  Own &operator++() { return *this += 1; }
  Own &operator--() { return *this -= 1; }
  Own operator++(int) {
    Own before = own();
    ++*this;
    return before;
  }
  friend Own operator+(Own it, ptrdiff_t n) { return it += n; }
  friend Own operator-(Own it, ptrdiff_t n) { return it -= n; }
  friend ptrdiff_t operator-(const Own &a, const Own &b) { return a.place - b.place; }
  friend bool operator==(const Own &a, const Own &b) { return a.place == b.place; }
  friend bool operator!=(const Own &a, const Own &b) { return a.place != b.place; }
  friend bool operator<(const Own &a, const Own &b) { return a.place < b.place; }

 private:
  Own &own() { return static_cast<Own &>(*this); }
  const Own &own() const { return static_cast<const Own &>(*this); }
};

struct Discarded {
  template <class T>
  const Discarded &operator=(const T &) const { return *this; }
};

template <class Iterator>
using ElementOf = typename std::iterator_traits<Iterator>::value_type;

}  // namespace details

template <class T>
struct counting_iterator : details::Making<counting_iterator<T>, T> {
  counting_iterator() = default;
  explicit counting_iterator(T first) { this->place = static_cast<ptrdiff_t>(first); }
  T at(ptrdiff_t place) const { return static_cast<T>(place); }
};
template <class T>
counting_iterator<T> make_counting_iterator(T first) { return counting_iterator<T>(first); }

template <class T>
struct constant_iterator : details::Making<constant_iterator<T>, T> {
  T value;
  constant_iterator(T value, ptrdiff_t place = 0) : value(value) { this->place = place; }
  T at(ptrdiff_t) const { return value; }
};
template <class T>
constant_iterator<T> make_constant_iterator(T value) { return constant_iterator<T>(value); }

template <class Function, class Iterator>
struct transform_iterator
    : details::Making<transform_iterator<Function, Iterator>, std::decay_t<decltype(std::declval<Function>()(std::declval<details::ElementOf<Iterator>>()))>> {
  using Raw = decltype(details::raw(std::declval<Iterator>()));
  Raw from;
  Function function;
  transform_iterator(Iterator from, Function function) : from(details::raw(from)), function(function) {}
  auto at(ptrdiff_t place) const { return function(from[place]); }
};
template <class Iterator, class Function>
transform_iterator<Function, Iterator> make_transform_iterator(Iterator from, Function function) {
  return transform_iterator<Function, Iterator>(from, function);
}

// The elements of `from` at the places that `map` names.
template <class From, class Map>
struct permutation_iterator : details::Making<permutation_iterator<From, Map>, details::ElementOf<From>> {
  decltype(details::raw(std::declval<From>())) from;
  decltype(details::raw(std::declval<Map>())) map;
  permutation_iterator(From from, Map map) : from(details::raw(from)), map(details::raw(map)) {}
  auto at(ptrdiff_t place) const { return from[map[place]]; }
};
template <class From, class Map>
permutation_iterator<From, Map> make_permutation_iterator(From from, Map map) { return {from, map}; }
namespace details {
template <class From, class Map>
struct Place<permutation_iterator<From, Map>> : Place<From> {};
template <class Function, class Iterator>
struct Place<transform_iterator<Function, Iterator>> {
  static constexpr bool on_device = Place<Iterator>::on_device;
};
// Elements come from nowhere: the place is that of the other iterators; alone, on the device, as in thrust.
template <class T>
struct Place<counting_iterator<T>> {
  static constexpr bool on_device = true;
};
template <class T>
struct Place<constant_iterator<T>> {
  static constexpr bool on_device = true;
};
}  // namespace details

// An output that keeps nothing.
struct discard_iterator : details::Making<discard_iterator, details::Discarded> {
  details::Discarded at(ptrdiff_t) const { return {}; }
};
inline discard_iterator make_discard_iterator() { return {}; }
namespace details {
template <>
struct Place<discard_iterator> {
  static constexpr bool on_device = true;
};
}  // namespace details
using std::advance;
using std::distance;

// Before CUDA 13, function objects had these bases.
template <class A, class Made>
struct unary_function {
  using argument_type = A;
  using result_type = Made;
};
template <class A, class B, class Made>
struct binary_function {
  using first_argument_type = A;
  using second_argument_type = B;
  using result_type = Made;
};

#define CUDA_ON_CPU_BINARY(name, sign)                                                        \
  template <class T = void>                                                                   \
  struct name {                                                                               \
    auto operator()(const T &a, const T &b) const { return a sign b; }                        \
  };                                                                                          \
  template <>                                                                                 \
  struct name<void> {                                                                         \
    template <class A, class B>                                                               \
    auto operator()(const A &a, const B &b) const { return a sign b; }                        \
  };
CUDA_ON_CPU_BINARY(plus, +)
CUDA_ON_CPU_BINARY(minus, -)
CUDA_ON_CPU_BINARY(multiplies, *)
CUDA_ON_CPU_BINARY(divides, /)
CUDA_ON_CPU_BINARY(modulus, %)
CUDA_ON_CPU_BINARY(bit_and, &)
CUDA_ON_CPU_BINARY(bit_or, |)
CUDA_ON_CPU_BINARY(bit_xor, ^)
CUDA_ON_CPU_BINARY(logical_and, &&)
CUDA_ON_CPU_BINARY(logical_or, ||)
CUDA_ON_CPU_BINARY(less, <)
CUDA_ON_CPU_BINARY(greater, >)
CUDA_ON_CPU_BINARY(less_equal, <=)
CUDA_ON_CPU_BINARY(greater_equal, >=)
CUDA_ON_CPU_BINARY(equal_to, ==)
CUDA_ON_CPU_BINARY(not_equal_to, !=)
#undef CUDA_ON_CPU_BINARY

// `_1 * a + _2`: an expression of its arguments.
namespace placeholders {
template <class F>
struct Formula {
  F of;
  template <class... T>
  auto operator()(const T &...x) const { return of(x...); }
};
template <class F>
Formula<F> formula(F of) { return {of}; }
template <class T, class... Given>
auto value_of(const T &x, const Given &...) { return x; }
template <class F, class... Given>
auto value_of(const Formula<F> &x, const Given &...given) { return x(given...); }
struct First {
  template <class T, class... Rest>
  auto operator()(const T &x, const Rest &...) const { return x; }
};
struct Second {
  template <class T, class U, class... Rest>
  auto operator()(const T &, const U &x, const Rest &...) const { return x; }
};
template <class T>
inline constexpr bool is_formula = false;
template <class F>
inline constexpr bool is_formula<Formula<F>> = true;
#define CUDA_ON_CPU_FORMULA(sign)                                                                                 \
  template <class A, class B, class = std::enable_if_t<is_formula<A> || is_formula<B>>>                           \
  auto operator sign(A a, B b) {                                                                                  \
    return formula([a, b](const auto &...given) { return value_of(a, given...) sign value_of(b, given...); });    \
  }
CUDA_ON_CPU_FORMULA(+)
CUDA_ON_CPU_FORMULA(-)
CUDA_ON_CPU_FORMULA(*)
CUDA_ON_CPU_FORMULA(/)
CUDA_ON_CPU_FORMULA(%)
CUDA_ON_CPU_FORMULA(&)
CUDA_ON_CPU_FORMULA(<)
CUDA_ON_CPU_FORMULA(>)
CUDA_ON_CPU_FORMULA(<=)
CUDA_ON_CPU_FORMULA(>=)
CUDA_ON_CPU_FORMULA(==)
CUDA_ON_CPU_FORMULA(!=)
CUDA_ON_CPU_FORMULA(&&)
CUDA_ON_CPU_FORMULA(||)
#undef CUDA_ON_CPU_FORMULA
inline constexpr Formula<First> _1{};
inline constexpr Formula<Second> _2{};
}  // namespace placeholders
template <class T>
struct maximum {
  T operator()(const T &a, const T &b) const { return a < b ? b : a; }
};
template <class T>
struct minimum {
  T operator()(const T &a, const T &b) const { return b < a ? b : a; }
};
template <class T>
struct negate {
  T operator()(const T &a) const { return -a; }
};
template <class T>
struct square {
  T operator()(const T &a) const { return a * a; }
};
template <class T>
struct logical_not {
  bool operator()(const T &a) const { return !a; }
};
template <class T>
struct identity {
  const T &operator()(const T &a) const { return a; }
};

template <class A, class B>
using pair = std::pair<A, B>;
using std::make_pair;

}  // namespace thrust
