// cub's iterators that compute their elements.
#pragma once
#include <cub/operators.h>
#include <cstddef>
#include <iterator>

namespace cub {
namespace details {

// What all of them have in common: `Own::at(place)` is the element at a place.
template <class Own, class Value>
struct Computing {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Value;
  using difference_type = ptrdiff_t;
  using pointer = Value *;
  using reference = Value;
  ptrdiff_t place = 0;

  Value operator*() const { return own().at(place); }
  Value operator[](ptrdiff_t i) const { return own().at(place + i); }
  Own &operator+=(ptrdiff_t n) { return place += n, static_cast<Own &>(*this); }
  Own &operator++() { return *this += 1; }
  Own operator+(ptrdiff_t n) const { return Own(own()) += n; }
  ptrdiff_t operator-(const Own &other) const { return place - other.place; }
  bool operator==(const Own &other) const { return place == other.place; }
  bool operator!=(const Own &other) const { return place != other.place; }

 private:
  const Own &own() const { return static_cast<const Own &>(*this); }
};

}  // namespace details

template <class T, class Offset = ptrdiff_t>
struct CountingInputIterator : details::Computing<CountingInputIterator<T, Offset>, T> {
  T first;
  CountingInputIterator(T first) : first(first) {}
  T at(ptrdiff_t place) const { return first + static_cast<T>(place); }
};
template <class T, class Offset = ptrdiff_t>
struct ConstantInputIterator : details::Computing<ConstantInputIterator<T, Offset>, T> {
  T value;
  ConstantInputIterator(T value) : value(value) {}
  T at(ptrdiff_t) const { return value; }
};
template <class T, class Function, class In, class Offset = ptrdiff_t>
struct TransformInputIterator : details::Computing<TransformInputIterator<T, Function, In, Offset>, T> {
  In in;
  Function function;
  TransformInputIterator(In in, Function function) : in(in), function(function) {}
  T at(ptrdiff_t place) const { return function(in[place]); }
};
template <class In, class Offset = ptrdiff_t, class T = std::decay_t<decltype(*std::declval<In>())>>
struct ArgIndexInputIterator : details::Computing<ArgIndexInputIterator<In, Offset, T>, KeyValuePair<Offset, T>> {
  In in;
  ArgIndexInputIterator(In in) : in(in) {}
  KeyValuePair<Offset, T> at(ptrdiff_t place) const { return {static_cast<Offset>(place), in[place]}; }
};

}  // namespace cub
