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
