// Tuples, and iterators over several ranges at once: an element is a tuple of references.
#pragma once
#include <tuple>

#include "iterators.h"

namespace thrust {

template <class... T>
using tuple = std::tuple<T...>;
using std::get;
using std::make_tuple;
using std::tie;
using std::tuple_element;
using std::tuple_size;

namespace details {

// What a kernel has of such an iterator.
template <class... Raw>
struct RawZip {
  std::tuple<Raw...> at;

  auto operator[](ptrdiff_t i) const {
    return std::apply([i](const auto &...one) { return std::tuple<decltype(one[i])...>(one[i]...); }, at);
  }
  friend RawZip operator+(RawZip it, ptrdiff_t n) {
    std::apply([n](auto &...one) { ((one = one + n), ...); }, it.at);
    return it;
  }
};

}  // namespace details

template <class Iterators>
class zip_iterator;
template <class... It>
class zip_iterator<std::tuple<It...>> {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::tuple<details::ElementOf<It>...>;
  using difference_type = ptrdiff_t;
  using pointer = void;
  using reference = std::tuple<typename std::iterator_traits<It>::reference...>;

  zip_iterator(std::tuple<It...> at) : at_(at) {}
  const std::tuple<It...> &get_iterator_tuple() const { return at_; }
  reference operator*() const {
    return std::apply([](const auto &...one) { return reference(*one...); }, at_);
  }
  reference operator[](ptrdiff_t i) const { return *(*this + i); }
  zip_iterator &operator+=(ptrdiff_t n) {
    std::apply([n](auto &...one) { ((one += n), ...); }, at_);
    return *this;
  }
  zip_iterator &operator-=(ptrdiff_t n) { return *this += -n; }
  zip_iterator &operator++() { return *this += 1; }
  zip_iterator &operator--() { return *this -= 1; }
  zip_iterator operator++(int) {
    zip_iterator before = *this;
    ++*this;
    return before;
  }
  friend zip_iterator operator+(zip_iterator it, ptrdiff_t n) { return it += n; }
  friend zip_iterator operator-(zip_iterator it, ptrdiff_t n) { return it -= n; }
  friend ptrdiff_t operator-(const zip_iterator &a, const zip_iterator &b) { return std::get<0>(a.at_) - std::get<0>(b.at_); }
  friend bool operator==(const zip_iterator &a, const zip_iterator &b) { return a - b == 0; }
  friend bool operator!=(const zip_iterator &a, const zip_iterator &b) { return a - b != 0; }
  friend bool operator<(const zip_iterator &a, const zip_iterator &b) { return a - b < 0; }

 private:
  std::tuple<It...> at_;
};
template <class... It>
zip_iterator<std::tuple<It...>> make_zip_iterator(std::tuple<It...> at) {
  return at;
}
template <class... It>
zip_iterator<std::tuple<It...>> make_zip_iterator(It... at) {
  return std::tuple<It...>(at...);
}

// A function of several arguments, given a tuple of them.
template <class Function>
struct zip_function {
  Function function;
  template <class Tuple>
  decltype(auto) operator()(Tuple &&all) const { return std::apply(function, static_cast<Tuple &&>(all)); }
};
template <class Function>
zip_function<Function> make_zip_function(Function function) {
  return {function};
}

namespace details {

template <class... It>
struct Place<zip_iterator<std::tuple<It...>>> {
  static constexpr bool on_device = (Place<It>::on_device && ...);
};
template <class... It>
auto raw(zip_iterator<std::tuple<It...>> it) {
  return std::apply([](auto... one) { return RawZip<decltype(raw(one))...>{{raw(one)...}}; }, it.get_iterator_tuple());
}

}  // namespace details
}  // namespace thrust
