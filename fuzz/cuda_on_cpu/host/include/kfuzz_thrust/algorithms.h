// The algorithms, each with and without a policy before it. Long: there are fifty, of a few lines each.
#pragma once
#include "iterators.h"
#include "vectors.h"

namespace thrust {
namespace details {

template <class Iterator>
Policy policy_of() {
  return {Place<Iterator>::on_device, nullptr};
}

template <class It, class T>
void fill(const Policy &policy, It first, It last, const T &value, int line) {
  if (!policy.on_device) return std::fill(first, last, value);
  for_each_index(policy, static_cast<size_t>(last - first), line, [to = raw(first), value](size_t i) { to[i] = value; });
}

template <class It, class T>
void sequence(const Policy &policy, It first, It last, T start, T step, int line) {
  auto value = [start, step](size_t i) { return static_cast<ElementOf<It>>(start + static_cast<T>(i) * step); };
  if (!policy.on_device)
    for (size_t i = 0; first != last; ++first) *first = value(i++);
  else
    for_each_index(policy, static_cast<size_t>(last - first), line, [to = raw(first), value](size_t i) { to[i] = value(i); });
}

template <class It, class Function>
void tabulate(const Policy &policy, It first, It last, Function function, int line) {
  if (!policy.on_device)
    for (ptrdiff_t i = 0; first != last; ++first) *first = function(i++);
  else
    for_each_index(policy, static_cast<size_t>(last - first), line, [to = raw(first), function](size_t i) { to[i] = function(static_cast<ptrdiff_t>(i)); });
}

template <class It, class Function>
void generate(const Policy &policy, It first, It last, Function function, int line) {
  if (!policy.on_device) return std::generate(first, last, function);
  for_each_index(policy, static_cast<size_t>(last - first), line, [to = raw(first), function](size_t i) { to[i] = Function(function)(); });
}

template <class It, class Function>
It for_each(const Policy &policy, It first, It last, Function function, int line) {
  if (!policy.on_device)  // by places, since a function may take int &, which the reference of a device_ptr is not
    for (ptrdiff_t i = 0; i < last - first; i++) function(raw(first)[i]);
  else
    for_each_index(policy, static_cast<size_t>(last - first), line, [from = raw(first), function](size_t i) { Function{function}(from[i]); });
  return last;
}

template <class It, class Out, class Function>
Out transform(const Policy &policy, It first, It last, Out out, Function function, int line) {
  if (!policy.on_device) return std::transform(first, last, out, function);
  auto each = [from = raw(first), to = raw(out), function](size_t i) { to[i] = function(from[i]); };
  for_each_index(policy, static_cast<size_t>(last - first), line, each);
  return out + (last - first);
}
template <class It, class Second, class Out, class Function>
Out transform(const Policy &policy, It first, It last, Second second, Out out, Function function, int line) {
  if (!policy.on_device) return std::transform(first, last, second, out, function);
  auto each = [a = raw(first), b = raw(second), to = raw(out), function](size_t i) { to[i] = function(a[i], b[i]); };
  for_each_index(policy, static_cast<size_t>(last - first), line, each);
  return out + (last - first);
}

template <class It>
bool is_on_device(It it) {
  if constexpr (!std::is_pointer_v<It>) return Place<It>::on_device;
  else {
    cudaPointerAttributes at;
    cudaPointerGetAttributes(&at, it);
    return at.type == cudaMemoryTypeDevice;
  }
}

// Between host and device by a copy of bytes, from device to device by a launch.
template <class It, class Out>
Out copy(const Policy &policy, It first, It last, Out out, int line) {
  constexpr bool from_device = Place<It>::on_device, to_device = Place<Out>::on_device;
  size_t count = static_cast<size_t>(last - first);
  if constexpr (to_device && !from_device) {
    if (!is_on_device(first)) {
      std::vector<ElementOf<Out>> values(first, last);
      if (count) cudaMemcpyAsync(raw(out), values.data(), count * sizeof(ElementOf<Out>), cudaMemcpyHostToDevice, policy.stream, line);
      if (policy.waits) cudaStreamSynchronize(policy.stream);
      return out + (last - first);
    }
  }
  if constexpr (from_device && !to_device) {
    if (!is_on_device(out)) {
      std::vector<ElementOf<It>> values(count);
      ElementOf<It> *there = nullptr;
      if (count && cudaMalloc(&there, count * sizeof *there, line) != cudaSuccess) throw std::bad_alloc();
      for_each_index({true, policy.stream}, count, line, [from = raw(first), there](size_t i) { there[i] = from[i]; });
      if (count) cudaMemcpyAsync(values.data(), there, count * sizeof *there, cudaMemcpyDeviceToHost, policy.stream, line);
      if (there) cudaFree(there, line);
      return std::copy(values.begin(), values.end(), out);
    }
  }
  if constexpr (std::is_same_v<typename std::iterator_traits<Out>::iterator_category, std::output_iterator_tag>) {
    return std::copy(first, last, out);
  } else {
    if (!policy.on_device) return std::copy(first, last, out);
    for_each_index(policy, count, line, [from = raw(first), to = raw(out)](size_t i) { to[i] = from[i]; });
    return out + (last - first);
  }
}

template <class It, class T, class Operator>
T reduce(const Policy &policy, It first, It last, T initial, Operator combine, int line) {
  if (!policy.on_device) return std::accumulate(first, last, initial, combine);
  return in_order<T>(policy, line, [from = raw(first), n = last - first, initial, combine] {
    T sum = initial;
    for (ptrdiff_t i = 0; i < n; i++) sum = combine(sum, from[i]);
    return sum;
  });
}

template <class It, class Second, class T, class Sum, class Product>
T inner_product(const Policy &policy, It first, It last, Second second, T initial, Sum sum, Product product, int line) {
  if (!policy.on_device) return std::inner_product(first, last, second, initial, sum, product);
  return in_order<T>(policy, line, [a = raw(first), b = raw(second), n = last - first, initial, sum, product] {
    T all = initial;
    for (ptrdiff_t i = 0; i < n; i++) all = sum(all, product(a[i], b[i]));
    return all;
  });
}

template <class It, class Predicate>
ptrdiff_t count_if(const Policy &policy, It first, It last, Predicate predicate, int line) {
  if (!policy.on_device) return std::count_if(first, last, predicate);
  return in_order<ptrdiff_t>(policy, line, [from = raw(first), n = last - first, predicate] {
    ptrdiff_t found = 0;
    for (ptrdiff_t i = 0; i < n; i++) found += predicate(from[i]) ? 1 : 0;
    return found;
  });
}

// The first element for which it holds, or the end.
template <class It, class Predicate>
It find_if(const Policy &policy, It first, It last, Predicate predicate, int line) {
  if (!policy.on_device) return std::find_if(first, last, predicate);
  return first + in_order<ptrdiff_t>(policy, line, [from = raw(first), n = last - first, predicate] {
    ptrdiff_t i = 0;
    while (i < n && !predicate(from[i])) i++;
    return i;
  });
}

template <class It, class Better>
It best(const Policy &policy, It first, It last, Better better, int line) {
  if (first == last) return last;
  if (!policy.on_device) {
    It found = first;
    for (It it = first; it != last; ++it)
      if (better(*it, *found)) found = it;
    return found;
  }
  return first + in_order<ptrdiff_t>(policy, line, [from = raw(first), n = last - first, better] {
    ptrdiff_t found = 0;
    for (ptrdiff_t i = 1; i < n; i++)
      if (better(from[i], from[found])) found = i;
    return found;
  });
}

template <class It, class Out, class T, class Operator>
Out scan(const Policy &policy, It first, It last, Out out, T initial, Operator combine, bool inclusive, int line) {
  auto all = [n = last - first, initial, combine, inclusive](auto from, auto to) {
    T sum = initial;
    for (ptrdiff_t i = 0; i < n; i++) {
      T own = from[i], next = inclusive && i == 0 ? own : combine(sum, own);
      to[i] = inclusive ? next : sum;
      sum = next;
    }
  };
  if (!policy.on_device)
    all(first, out);
  else
    by_one(policy, line, [from = raw(first), to = raw(out), all] { all(from, to); });
  return out + (last - first);
}

template <class It>
std::pair<It, It> both(It a, It b) { return {a, b}; }

// Merging runs: equal elements keep their order. `values` move with their keys, if there are any.
template <class Key, class Value, class Before>
void merge_sort(Key *keys, Value *values, ptrdiff_t n, Key *more_keys, Value *more_values, Before before) {
  Key *from = keys, *to = more_keys;
  Value *from_values = values, *to_values = more_values;
  for (ptrdiff_t width = 1; width < n; width *= 2) {
    for (ptrdiff_t low = 0; low < n; low += 2 * width) {
      ptrdiff_t middle = low + width < n ? low + width : n, end = low + 2 * width < n ? low + 2 * width : n;
      for (ptrdiff_t left = low, right = middle, at = low; at < end; at++) {
        ptrdiff_t next = left < middle && (right == end || !before(from[right], from[left])) ? left++ : right++;
        to[at] = from[next];
        if (values) to_values[at] = from_values[next];
      }
    }
    std::swap(from, to);
    std::swap(from_values, to_values);
  }
  for (ptrdiff_t i = 0; from != keys && i < n; i++) {
    keys[i] = from[i];
    if (values) values[i] = from_values[i];
  }
}

template <class Key, class Value, class Before>
void sort_there(const Policy &policy, Key *keys, Value *values, ptrdiff_t n, Before before, int line) {
  Key *more_keys = nullptr;
  Value *more_values = nullptr;
  if (n < 2) return;
  if (cudaMalloc(&more_keys, static_cast<size_t>(n) * sizeof(Key), line) != cudaSuccess) throw std::bad_alloc();
  if (values && cudaMalloc(&more_values, static_cast<size_t>(n) * sizeof(Value), line) != cudaSuccess) throw std::bad_alloc();
  by_one(policy, line, [=] { merge_sort(keys, values, n, more_keys, more_values, before); });
  cudaFree(more_keys, line);
  if (values) cudaFree(more_values, line);
}

template <class It, class Before>
void sort(const Policy &policy, It first, It last, Before before, int line) {
  if (!policy.on_device) return std::stable_sort(first, last, before);
  sort_there(policy, &*raw(first), static_cast<char *>(nullptr), last - first, before, line);
}

template <class It, class Values, class Before>
void sort_by_key(const Policy &policy, It first, It last, Values values, Before before, int line) {
  if (policy.on_device) return sort_there(policy, &*raw(first), &*raw(values), last - first, before, line);
  std::vector<ElementOf<It>> keys(first, last), more_keys(keys.size());
  std::vector<ElementOf<Values>> with(values, values + (last - first)), more(with.size());
  merge_sort(keys.data(), with.data(), last - first, more_keys.data(), more.data(), before);
  std::copy(keys.begin(), keys.end(), first);
  std::copy(with.begin(), with.end(), values);
}

// The elements that are kept, in their order; their number.
template <class It, class Out, class Keep>
ptrdiff_t kept(const Policy &policy, It first, It last, Out out, Keep keep, int line) {
  auto all = [n = last - first, keep](auto from, auto to) {
    ptrdiff_t made = 0;
    for (ptrdiff_t i = 0; i < n; i++)
      if (keep(from, i)) to[made++] = from[i];
    return made;
  };
  if (!policy.on_device) return all(first, out);
  return in_order<ptrdiff_t>(policy, line, [from = raw(first), to = raw(out), all] { return all(from, to); });
}

template <class It, class Stencil, class Out, class Predicate>
Out copy_if(const Policy &policy, It first, It last, Stencil stencil, Out out, Predicate predicate, int line) {
  return out + kept(policy, first, last, out, [predicate, at = raw(stencil)](auto, ptrdiff_t i) { return predicate(at[i]); }, line);
}
template <class It, class Out, class Predicate>
Out copy_if(const Policy &policy, It first, It last, Out out, Predicate predicate, int line) {
  return out + kept(policy, first, last, out, [predicate](auto from, ptrdiff_t i) { return predicate(from[i]); }, line);
}
template <class It, class Predicate>
It remove_if(const Policy &policy, It first, It last, Predicate predicate, int line) {
  return first + kept(policy, first, last, first, [predicate](auto from, ptrdiff_t i) { return !predicate(from[i]); }, line);
}

template <class It, class Equal>
It unique(const Policy &policy, It first, It last, Equal equal, int line) {
  auto all = [n = last - first, equal](auto at) {
    ptrdiff_t made = n ? 1 : 0;
    for (ptrdiff_t i = 1; i < n; i++)
      if (!equal(at[made - 1], at[i])) at[made++] = at[i];
    return made;
  };
  if (!policy.on_device) return first + all(first);
  return first + in_order<ptrdiff_t>(policy, line, [at = raw(first), all] { return all(at); });
}

// Sums of runs of equal keys.
template <class It, class Values, class OutKeys, class OutValues, class Equal, class Operator>
std::pair<OutKeys, OutValues> reduce_by_key(const Policy &policy, It first, It last, Values values, OutKeys keys_out,
                                            OutValues values_out, Equal equal, Operator combine, int line) {
  auto all = [n = last - first, equal, combine](auto keys, auto from, auto to_keys, auto to) {
    ptrdiff_t made = 0;
    for (ptrdiff_t i = 0; i < n; made++) {
      ptrdiff_t begin = i;
      std::conditional_t<std::is_same_v<OutValues, discard_iterator>, ElementOf<Values>, ElementOf<OutValues>> sum = from[i];
      for (i++; i < n && equal(keys[begin], keys[i]); i++) sum = combine(sum, from[i]);
      to_keys[made] = keys[begin];
      to[made] = sum;
    }
    return made;
  };
  ptrdiff_t made;
  if (policy.on_device)
    made = in_order<ptrdiff_t>(policy, line, [=, k = raw(first), v = raw(values), ko = raw(keys_out), vo = raw(values_out)] { return all(k, v, ko, vo); });
  else
    made = all(first, values, keys_out, values_out);
  return {keys_out + made, values_out + made};
}

template <class It, class From, class Out>
Out gather(const Policy &policy, It first, It last, From from, Out out, int line) {
  auto each = [map = raw(first), from = raw(from), to = raw(out)](size_t i) { to[i] = from[map[i]]; };
  if (policy.on_device)
    for_each_index(policy, static_cast<size_t>(last - first), line, each);
  else
    for (ptrdiff_t i = 0; i < last - first; i++) each(static_cast<size_t>(i));
  return out + (last - first);
}
template <class It, class Map, class Out>
void scatter(const Policy &policy, It first, It last, Map map, Out out, int line) {
  auto each = [from = raw(first), map = raw(map), to = raw(out)](size_t i) { to[map[i]] = from[i]; };
  if (policy.on_device)
    for_each_index(policy, static_cast<size_t>(last - first), line, each);
  else
    for (ptrdiff_t i = 0; i < last - first; i++) each(static_cast<size_t>(i));
}

template <class It>
void reverse(const Policy &policy, It first, It last, int line) {
  if (!policy.on_device) return std::reverse(first, last);
  for_each_index(policy, static_cast<size_t>(last - first) / 2, line, [at = raw(first), n = last - first](size_t i) {
    auto left = at[i];
    at[i] = at[n - 1 - static_cast<ptrdiff_t>(i)];
    at[n - 1 - static_cast<ptrdiff_t>(i)] = left;
  });
}

template <class It, class Before>
bool is_sorted(const Policy &policy, It first, It last, Before before, int line) {
  if (!policy.on_device) return std::is_sorted(first, last, before);
  ptrdiff_t pairs = last - first > 1 ? last - first - 1 : 0;
  auto is_inverted = [at = raw(first), before](ptrdiff_t i) { return before(at[i + 1], at[i]); };
  return count_if(policy, counting_iterator<ptrdiff_t>(0), counting_iterator<ptrdiff_t>(pairs), is_inverted, line) == 0;
}

// A new value for each element, from it and the one before it; the first keeps its own.
template <class It, class Out, class F>
Out adjacent_difference(const Policy &policy, It first, It last, Out out, F function, int line) {
  if (!policy.on_device) return std::adjacent_difference(first, last, out, function);
  by_one(policy, line, [from = raw(first), to = raw(out), n = last - first, function] {
    ElementOf<It> before{};
    for (ptrdiff_t i = 0; i < n; i++) {
      ElementOf<It> own = from[i];
      to[i] = i ? function(own, before) : own;
      before = own;
    }
  });
  return out + (last - first);
}

// The elements for which it holds come first; both parts keep their order.
template <class It, class F>
It partition(const Policy &policy, It first, It last, F predicate, int line) {
  if (!policy.on_device) return std::stable_partition(first, last, predicate);
  sort(policy, first, last, [predicate](const auto &a, const auto &b) { return predicate(a) && !predicate(b); }, line);
  return first + count_if(policy, first, last, predicate, line);
}

// The number of elements before the place of a value in a sorted range; for one value, or for each of several.
template <class It, class T, class F>
ptrdiff_t bound(const Policy &policy, It first, It last, const T &value, F before, int line) {
  return find_if(policy, first, last, [value, before](const auto &one) { return !before(one, value); }, line) - first;
}
template <class It, class Values, class Out, class F>
Out bounds(const Policy &policy, It first, It last, Values values, Values end, Out out, F before, int line) {
  auto place = [from = raw(first), n = last - first, before](const auto &value) {
    ptrdiff_t low = 0;
    for (ptrdiff_t high = n; low < high;) {
      ptrdiff_t middle = (low + high) / 2;
      before(from[middle], value) ? low = middle + 1 : high = middle;
    }
    return low;
  };
  return transform(policy, values, end, out, place, line);
}

// A scan within each run of equal keys.
template <class It, class Values, class Out, class T>
Out scan_by_key(const Policy &policy, It first, It last, Values values, Out out, T initial, bool inclusive, int line) {
  auto all = [n = last - first, initial, inclusive](auto keys, auto from, auto to) {
    T sum = initial;
    for (ptrdiff_t i = 0; i < n; i++) {
      if (i && !(keys[i - 1] == keys[i])) sum = initial;
      T own = from[i];
      to[i] = inclusive ? sum + own : sum;
      sum = sum + own;
    }
  };
  if (!policy.on_device)
    all(first, values, out);
  else
    by_one(policy, line, [keys = raw(first), from = raw(values), to = raw(out), all] { all(keys, from, to); });
  return out + (last - first);
}

template <class It, class Second, class Out, class F>
Out merge(const Policy &policy, It first, It last, Second second, Second end, Out out, F before, int line) {
  Out middle = copy(policy, first, last, out, line), done = copy(policy, second, end, middle, line);
  sort(policy, out, done, before, line);
  return done;
}

// What two sorted ranges hold: of elements in the first alone (1), in both (2), and in the second alone (4).
template <class It, class Second, class Out, class F>
Out set_of(const Policy &policy, It first, It last, Second second, Second end, Out out, F before, int wanted, int line) {
  auto all = [n = last - first, m = end - second, before, wanted](auto a, auto b, auto to) {
    ptrdiff_t made = 0;
    for (ptrdiff_t i = 0, j = 0; i < n || j < m;) {
      bool left = j == m || (i < n && before(a[i], b[j])), right = !left && (i == n || before(b[j], a[i]));
      if (wanted & (left ? 1 : right ? 4 : 2)) {
        if (right)
          to[made++] = b[j];
        else
          to[made++] = a[i];
      }
      i += !right, j += !left;
    }
    return made;
  };
  if (!policy.on_device) return out + all(first, second, out);
  return out + in_order<ptrdiff_t>(policy, line, [a = raw(first), b = raw(second), to = raw(out), all] { return all(a, b, to); });
}

// For each element of which the stencil says so: `each(i)`.
template <class It, class Stencil, class Predicate, class Each>
void for_some(const Policy &policy, It first, It last, Stencil stencil, Predicate predicate, Each each, int line) {
  auto some = [stencil = raw(stencil), predicate, each](ptrdiff_t i) {
    if (predicate(stencil[i])) each(i);
  };
  for_each(policy, counting_iterator<ptrdiff_t>(0), counting_iterator<ptrdiff_t>(last - first), some, line);
}
template <class It, class Stencil, class Out, class F, class Predicate>
Out transform_if(const Policy &policy, It first, It last, Stencil stencil, Out out, F function, Predicate predicate, int line) {
  auto each = [from = raw(first), to = raw(out), function](ptrdiff_t i) { to[i] = function(from[i]); };
  return for_some(policy, first, last, stencil, predicate, each, line), out + (last - first);
}
template <class It, class Map, class Stencil, class Out, class Predicate>
void scatter_if(const Policy &policy, It first, It last, Map map, Stencil stencil, Out out, Predicate predicate, int line) {
  auto each = [from = raw(first), map = raw(map), to = raw(out)](ptrdiff_t i) { to[map[i]] = from[i]; };
  for_some(policy, first, last, stencil, predicate, each, line);
}
template <class It, class Stencil, class From, class Out, class Predicate>
Out gather_if(const Policy &policy, It first, It last, Stencil stencil, From from, Out out, Predicate predicate, int line) {
  auto each = [map = raw(first), from = raw(from), to = raw(out)](ptrdiff_t i) { to[i] = from[map[i]]; };
  return for_some(policy, first, last, stencil, predicate, each, line), out + (last - first);
}
// The number of the first place of which `holds` says so; n if there is none.
template <class Holds>
ptrdiff_t find_place(const Policy &policy, ptrdiff_t n, Holds holds, int line) {
  counting_iterator<ptrdiff_t> first(0);
  return find_if(policy, first, first + n, holds, line) - first;
}
template <class It, class Second, class Equal>
std::pair<It, Second> mismatch(const Policy &policy, It first, It last, Second second, Equal equal, int line) {
  auto differs = [a = raw(first), b = raw(second), equal](ptrdiff_t i) { return !equal(a[i], b[i]); };
  ptrdiff_t at = find_place(policy, last - first, differs, line);
  return {first + at, second + at};
}
template <class It, class Second>
Second swap_ranges(const Policy &policy, It first, It last, Second second, int line) {
  auto each = [a = raw(first), b = raw(second)](ptrdiff_t i) {
    ElementOf<It> own = a[i];
    a[i] = b[i], b[i] = own;
  };
  return for_each(policy, counting_iterator<ptrdiff_t>(0), counting_iterator<ptrdiff_t>(last - first), each, line), second + (last - first);
}
template <class It, class OutKeys, class Values, class OutValues>
std::pair<OutKeys, OutValues> unique_by_key_copy(const Policy &policy, It first, It last, Values values, OutKeys keys_out, OutValues out, int line) {
  return reduce_by_key(policy, first, last, values, keys_out, out, equal_to<>(), [](const auto &a, const auto &) { return a; }, line);
}
template <class It, class True, class False, class F>
std::pair<True, False> partition_copy(const Policy &policy, It first, It last, True yes, False no, F predicate, int line) {
  True end = copy_if(policy, first, last, yes, predicate, line);
  return {end, copy_if(policy, first, last, no, [predicate](const auto &x) { return !predicate(x); }, line)};
}
struct Itself {
  template <class T>
  bool operator()(const T &x) const { return static_cast<bool>(x); }
};

}  // namespace details

#define CUDA_ON_CPU_WITHOUT_BRACKETS(...) __VA_ARGS__
// Two functions: chosen by a policy, or by where the first iterator, It, says that the elements are.
#define CUDA_ON_CPU_THRUST(name, templates, parameters, call)                                                                   \
  template <CUDA_ON_CPU_WITHOUT_BRACKETS templates, class = std::enable_if_t<!details::is_policy<It>>>                          \
  auto name(CUDA_ON_CPU_WITHOUT_BRACKETS parameters, details::Caller line = {__builtin_LINE()}) {                               \
    details::Policy policy = details::policy_of<It>();                                                                          \
    return details::call;                                                                                                       \
  }                                                                                                                             \
  template <class By, CUDA_ON_CPU_WITHOUT_BRACKETS templates, class = std::enable_if_t<details::is_policy<By>>>                 \
  auto name(const By &policy, CUDA_ON_CPU_WITHOUT_BRACKETS parameters, details::Caller line = {__builtin_LINE()}) {             \
    return details::call;                                                                                                       \
  }

CUDA_ON_CPU_THRUST(fill, (class It, class T), (It first, It last, const T &value), fill(policy, first, last, value, line))
CUDA_ON_CPU_THRUST(fill_n, (class It, class T), (It first, ptrdiff_t n, const T &value), fill(policy, first, first + n, value, line))
CUDA_ON_CPU_THRUST(sequence, (class It), (It first, It last), sequence(policy, first, last, details::ElementOf<It>(0), details::ElementOf<It>(1), line))
CUDA_ON_CPU_THRUST(sequence, (class It, class T), (It first, It last, T start), sequence(policy, first, last, start, T(1), line))
CUDA_ON_CPU_THRUST(sequence, (class It, class T), (It first, It last, T start, T step), sequence(policy, first, last, start, step, line))
CUDA_ON_CPU_THRUST(tabulate, (class It, class F), (It first, It last, F function), tabulate(policy, first, last, function, line))
CUDA_ON_CPU_THRUST(generate, (class It, class F), (It first, It last, F function), generate(policy, first, last, function, line))
CUDA_ON_CPU_THRUST(for_each, (class It, class F), (It first, It last, F function), for_each(policy, first, last, function, line))
CUDA_ON_CPU_THRUST(for_each_n, (class It, class F), (It first, ptrdiff_t n, F function), for_each(policy, first, first + n, function, line))
CUDA_ON_CPU_THRUST(copy, (class It, class Out), (It first, It last, Out out), copy(policy, first, last, out, line))
CUDA_ON_CPU_THRUST(copy_n, (class It, class Out), (It first, ptrdiff_t n, Out out), copy(policy, first, first + n, out, line))
CUDA_ON_CPU_THRUST(transform, (class It, class Out, class F), (It first, It last, Out out, F function), transform(policy, first, last, out, function, line))
CUDA_ON_CPU_THRUST(transform, (class It, class Second, class Out, class F), (It first, It last, Second second, Out out, F function),
                   transform(policy, first, last, second, out, function, line))
CUDA_ON_CPU_THRUST(reduce, (class It), (It first, It last), reduce(policy, first, last, details::ElementOf<It>(), plus<>(), line))
CUDA_ON_CPU_THRUST(reduce, (class It, class T), (It first, It last, T initial), reduce(policy, first, last, initial, plus<>(), line))
CUDA_ON_CPU_THRUST(reduce, (class It, class T, class F), (It first, It last, T initial, F combine), reduce(policy, first, last, initial, combine, line))
CUDA_ON_CPU_THRUST(transform_reduce, (class It, class U, class T, class F), (It first, It last, U unary, T initial, F combine),
                   reduce(policy, first, last, initial, [unary, combine](const T &a, const auto &b) { return combine(a, unary(b)); }, line))
CUDA_ON_CPU_THRUST(inner_product, (class It, class Second, class T), (It first, It last, Second second, T initial),
                   inner_product(policy, first, last, second, initial, plus<>(), multiplies<>(), line))
CUDA_ON_CPU_THRUST(inner_product, (class It, class Second, class T, class F, class G), (It first, It last, Second second, T initial, F sum, G product),
                   inner_product(policy, first, last, second, initial, sum, product, line))
CUDA_ON_CPU_THRUST(count, (class It, class T), (It first, It last, const T &value),
                   count_if(policy, first, last, [value](const auto &one) { return one == value; }, line))
CUDA_ON_CPU_THRUST(count_if, (class It, class F), (It first, It last, F predicate), count_if(policy, first, last, predicate, line))
CUDA_ON_CPU_THRUST(find, (class It, class T), (It first, It last, const T &value),
                   find_if(policy, first, last, [value](const auto &one) { return one == value; }, line))
CUDA_ON_CPU_THRUST(find_if, (class It, class F), (It first, It last, F predicate), find_if(policy, first, last, predicate, line))
CUDA_ON_CPU_THRUST(all_of, (class It, class F), (It first, It last, F predicate), count_if(policy, first, last, predicate, line) == last - first)
CUDA_ON_CPU_THRUST(any_of, (class It, class F), (It first, It last, F predicate), count_if(policy, first, last, predicate, line) > 0)
CUDA_ON_CPU_THRUST(none_of, (class It, class F), (It first, It last, F predicate), count_if(policy, first, last, predicate, line) == 0)
CUDA_ON_CPU_THRUST(max_element, (class It), (It first, It last), best(policy, first, last, [](const auto &a, const auto &b) { return b < a; }, line))
CUDA_ON_CPU_THRUST(min_element, (class It), (It first, It last), best(policy, first, last, [](const auto &a, const auto &b) { return a < b; }, line))
CUDA_ON_CPU_THRUST(is_sorted, (class It), (It first, It last), is_sorted(policy, first, last, less<>(), line))
CUDA_ON_CPU_THRUST(is_sorted, (class It, class F), (It first, It last, F before), is_sorted(policy, first, last, before, line))
CUDA_ON_CPU_THRUST(inclusive_scan, (class It, class Out), (It first, It last, Out out),
                   scan(policy, first, last, out, details::ElementOf<It>(), plus<>(), true, line))
CUDA_ON_CPU_THRUST(inclusive_scan, (class It, class Out, class F), (It first, It last, Out out, F combine),
                   scan(policy, first, last, out, details::ElementOf<It>(), combine, true, line))
CUDA_ON_CPU_THRUST(exclusive_scan, (class It, class Out), (It first, It last, Out out),
                   scan(policy, first, last, out, details::ElementOf<It>(), plus<>(), false, line))
CUDA_ON_CPU_THRUST(exclusive_scan, (class It, class Out, class T), (It first, It last, Out out, T initial),
                   scan(policy, first, last, out, initial, plus<>(), false, line))
CUDA_ON_CPU_THRUST(exclusive_scan, (class It, class Out, class T, class F), (It first, It last, Out out, T initial, F combine),
                   scan(policy, first, last, out, initial, combine, false, line))
CUDA_ON_CPU_THRUST(sort, (class It), (It first, It last), sort(policy, first, last, less<>(), line))
CUDA_ON_CPU_THRUST(sort, (class It, class F), (It first, It last, F before), sort(policy, first, last, before, line))
CUDA_ON_CPU_THRUST(stable_sort, (class It), (It first, It last), sort(policy, first, last, less<>(), line))
CUDA_ON_CPU_THRUST(stable_sort, (class It, class F), (It first, It last, F before), sort(policy, first, last, before, line))
CUDA_ON_CPU_THRUST(sort_by_key, (class It, class Values), (It first, It last, Values values), sort_by_key(policy, first, last, values, less<>(), line))
CUDA_ON_CPU_THRUST(sort_by_key, (class It, class Values, class F), (It first, It last, Values values, F before),
                   sort_by_key(policy, first, last, values, before, line))
CUDA_ON_CPU_THRUST(copy_if, (class It, class Out, class F), (It first, It last, Out out, F predicate), copy_if(policy, first, last, out, predicate, line))
CUDA_ON_CPU_THRUST(remove_if, (class It, class F), (It first, It last, F predicate), remove_if(policy, first, last, predicate, line))
CUDA_ON_CPU_THRUST(remove, (class It, class T), (It first, It last, const T &value),
                   remove_if(policy, first, last, [value](const auto &one) { return one == value; }, line))
CUDA_ON_CPU_THRUST(replace_if, (class It, class F, class T), (It first, It last, F predicate, const T &value),
                   transform(policy, first, last, first, [predicate, value](details::ElementOf<It> one) { return predicate(one) ? static_cast<details::ElementOf<It>>(value) : one; }, line))
CUDA_ON_CPU_THRUST(replace, (class It, class T), (It first, It last, const T &old, const T &value),
                   transform(policy, first, last, first, [old, value](const auto &one) { return one == old ? value : one; }, line))
CUDA_ON_CPU_THRUST(partition, (class It, class F), (It first, It last, F predicate), partition(policy, first, last, predicate, line))
CUDA_ON_CPU_THRUST(stable_partition, (class It, class F), (It first, It last, F predicate), partition(policy, first, last, predicate, line))
CUDA_ON_CPU_THRUST(adjacent_difference, (class It, class Out), (It first, It last, Out out), adjacent_difference(policy, first, last, out, minus<>(), line))
CUDA_ON_CPU_THRUST(adjacent_difference, (class It, class Out, class F), (It first, It last, Out out, F function),
                   adjacent_difference(policy, first, last, out, function, line))
CUDA_ON_CPU_THRUST(equal, (class It, class Second), (It first, It last, Second second),
                   inner_product(policy, first, last, second, true, logical_and<>(), equal_to<>(), line))
CUDA_ON_CPU_THRUST(lower_bound, (class It, class T), (It first, It last, const T &value), bound(policy, first, last, value, less<>(), line) + first)
CUDA_ON_CPU_THRUST(upper_bound, (class It, class T), (It first, It last, const T &value), bound(policy, first, last, value, less_equal<>(), line) + first)
CUDA_ON_CPU_THRUST(binary_search, (class It, class T), (It first, It last, const T &value),
                   bound(policy, first, last, value, less<>(), line) < bound(policy, first, last, value, less_equal<>(), line))
CUDA_ON_CPU_THRUST(transform_inclusive_scan, (class It, class Out, class U, class F), (It first, It last, Out out, U unary, F combine),
                   scan(policy, make_transform_iterator(first, unary), make_transform_iterator(first, unary) + (last - first), out,
                        details::ElementOf<Out>(), combine, true, line))
CUDA_ON_CPU_THRUST(transform_exclusive_scan, (class It, class Out, class U, class T, class F), (It first, It last, Out out, U unary, T initial, F combine),
                   scan(policy, make_transform_iterator(first, unary), make_transform_iterator(first, unary) + (last - first), out, initial, combine, false, line))
CUDA_ON_CPU_THRUST(stable_sort_by_key, (class It, class Values), (It first, It last, Values values), sort_by_key(policy, first, last, values, less<>(), line))
CUDA_ON_CPU_THRUST(unique, (class It), (It first, It last), unique(policy, first, last, equal_to<>(), line))
CUDA_ON_CPU_THRUST(unique_copy, (class It, class Out), (It first, It last, Out out), unique(policy, out, copy(policy, first, last, out, line), equal_to<>(), line))
CUDA_ON_CPU_THRUST(unique_by_key, (class It, class Values), (It first, It last, Values values),
                   reduce_by_key(policy, first, last, values, first, values, equal_to<>(), [](const auto &a, const auto &) { return a; }, line))
CUDA_ON_CPU_THRUST(minmax_element, (class It), (It first, It last),
                   both(best(policy, first, last, [](const auto &a, const auto &b) { return a < b; }, line),
                                 best(policy, first, last, [](const auto &a, const auto &b) { return !(a < b); }, line)))
CUDA_ON_CPU_THRUST(copy_if, (class It, class Stencil, class Out, class F), (It first, It last, Stencil stencil, Out out, F predicate),
                   copy_if(policy, first, last, stencil, out, predicate, line))
CUDA_ON_CPU_THRUST(remove_copy_if, (class It, class Out, class F), (It first, It last, Out out, F predicate),
                   copy_if(policy, first, last, out, [predicate](const auto &one) { return !predicate(one); }, line))
CUDA_ON_CPU_THRUST(reverse_copy, (class It, class Out), (It first, It last, Out out), reverse(policy, out, copy(policy, first, last, out, line), line))
CUDA_ON_CPU_THRUST(generate_n, (class It, class F), (It first, ptrdiff_t n, F function), generate(policy, first, first + n, function, line))
CUDA_ON_CPU_THRUST(uninitialized_fill, (class It, class T), (It first, It last, const T &value), fill(policy, first, last, value, line))
#define CUDA_ON_CPU_SET(name, wanted)                                                                                           \
  CUDA_ON_CPU_THRUST(name, (class It, class Second, class Out), (It first, It last, Second second, Second end, Out out),        \
                     set_of(policy, first, last, second, end, out, less<>(), wanted, line))                                     \
  CUDA_ON_CPU_THRUST(name, (class It, class Second, class Out, class F), (It first, It last, Second second, Second end, Out out, F before), \
                     set_of(policy, first, last, second, end, out, before, wanted, line))
CUDA_ON_CPU_SET(set_union, 7)
CUDA_ON_CPU_SET(set_intersection, 2)
CUDA_ON_CPU_SET(set_difference, 1)
CUDA_ON_CPU_SET(set_symmetric_difference, 5)
CUDA_ON_CPU_THRUST(transform_if, (class It, class Out, class F, class G), (It first, It last, Out out, F function, G predicate),
                   transform_if(policy, first, last, first, out, function, predicate, line))
CUDA_ON_CPU_THRUST(transform_if, (class It, class Stencil, class Out, class F, class G), (It first, It last, Stencil stencil, Out out, F function, G predicate),
                   transform_if(policy, first, last, stencil, out, function, predicate, line))
CUDA_ON_CPU_THRUST(scatter_if, (class It, class Map, class Stencil, class Out), (It first, It last, Map map, Stencil stencil, Out out),
                   scatter_if(policy, first, last, map, stencil, out, details::Itself(), line))
CUDA_ON_CPU_THRUST(scatter_if, (class It, class Map, class Stencil, class Out, class F), (It first, It last, Map map, Stencil stencil, Out out, F predicate),
                   scatter_if(policy, first, last, map, stencil, out, predicate, line))
CUDA_ON_CPU_THRUST(gather_if, (class It, class Stencil, class From, class Out), (It first, It last, Stencil stencil, From from, Out out),
                   gather_if(policy, first, last, stencil, from, out, details::Itself(), line))
CUDA_ON_CPU_THRUST(find_if_not, (class It, class F), (It first, It last, F predicate),
                   find_if(policy, first, last, [predicate](const auto &x) { return !predicate(x); }, line))
CUDA_ON_CPU_THRUST(mismatch, (class It, class Second), (It first, It last, Second second), mismatch(policy, first, last, second, equal_to<>(), line))
CUDA_ON_CPU_THRUST(mismatch, (class It, class Second, class F), (It first, It last, Second second, F equal), mismatch(policy, first, last, second, equal, line))
CUDA_ON_CPU_THRUST(swap_ranges, (class It, class Second), (It first, It last, Second second), swap_ranges(policy, first, last, second, line))
CUDA_ON_CPU_THRUST(unique_by_key_copy, (class It, class Values, class Keys, class Out), (It first, It last, Values values, Keys keys, Out out),
                   unique_by_key_copy(policy, first, last, values, keys, out, line))
CUDA_ON_CPU_THRUST(partition_copy, (class It, class True, class False, class F), (It first, It last, True yes, False no, F predicate),
                   partition_copy(policy, first, last, yes, no, predicate, line))
CUDA_ON_CPU_THRUST(remove_copy, (class It, class Out, class T), (It first, It last, Out out, const T &value),
                   copy_if(policy, first, last, out, [value](const auto &x) { return !(x == value); }, line))
CUDA_ON_CPU_THRUST(replace_copy_if, (class It, class Out, class F, class T), (It first, It last, Out out, F predicate, const T &value),
                   transform(policy, first, last, out, [=](const auto &x) { return predicate(x) ? static_cast<details::ElementOf<It>>(value) : x; }, line))
CUDA_ON_CPU_THRUST(is_partitioned, (class It, class F), (It first, It last, F predicate),
                   find_place(policy, last - first - (first != last), [=, at = details::raw(first)](ptrdiff_t i) { return !predicate(at[i]) && predicate(at[i + 1]); }, line) == last - first - (first != last))
CUDA_ON_CPU_THRUST(equal_range, (class It, class T), (It first, It last, const T &value),
                   both(first + bound(policy, first, last, value, less<>(), line), first + bound(policy, first, last, value, less_equal<>(), line)))
CUDA_ON_CPU_THRUST(uninitialized_copy, (class It, class Out), (It first, It last, Out out), copy(policy, first, last, out, line))
CUDA_ON_CPU_THRUST(max_element, (class It, class F), (It first, It last, F before),
                   best(policy, first, last, [before](const auto &a, const auto &b) { return before(b, a); }, line))
CUDA_ON_CPU_THRUST(min_element, (class It, class F), (It first, It last, F before), best(policy, first, last, before, line))
CUDA_ON_CPU_THRUST(merge, (class It, class Second, class Out, class F), (It first, It last, Second second, Second end, Out out, F before),
                   merge(policy, first, last, second, end, out, before, line))
CUDA_ON_CPU_THRUST(merge, (class It, class Second, class Out), (It first, It last, Second second, Second end, Out out),
                   merge(policy, first, last, second, end, out, less<>(), line))
CUDA_ON_CPU_THRUST(lower_bound, (class It, class Values, class Out), (It first, It last, Values values, Values end, Out out),
                   bounds(policy, first, last, values, end, out, less<>(), line))
CUDA_ON_CPU_THRUST(upper_bound, (class It, class Values, class Out), (It first, It last, Values values, Values end, Out out),
                   bounds(policy, first, last, values, end, out, less_equal<>(), line))
CUDA_ON_CPU_THRUST(inclusive_scan_by_key, (class It, class Values, class Out), (It first, It last, Values values, Out out),
                   scan_by_key(policy, first, last, values, out, details::ElementOf<Values>(), true, line))
CUDA_ON_CPU_THRUST(exclusive_scan_by_key, (class It, class Values, class Out), (It first, It last, Values values, Out out),
                   scan_by_key(policy, first, last, values, out, details::ElementOf<Values>(), false, line))
CUDA_ON_CPU_THRUST(reduce_by_key, (class It, class Values, class Keys, class Sums, class E, class F),
                   (It first, It last, Values values, Keys keys, Sums sums, E equal, F combine),
                   reduce_by_key(policy, first, last, values, keys, sums, equal, combine, line))
CUDA_ON_CPU_THRUST(reduce_by_key, (class It, class Values, class Keys, class Sums), (It first, It last, Values values, Keys keys, Sums sums),
                   reduce_by_key(policy, first, last, values, keys, sums, equal_to<>(), plus<>(), line))
CUDA_ON_CPU_THRUST(gather, (class It, class From, class Out), (It first, It last, From from, Out out), gather(policy, first, last, from, out, line))
CUDA_ON_CPU_THRUST(scatter, (class It, class Map, class Out), (It first, It last, Map map, Out out), scatter(policy, first, last, map, out, line))
CUDA_ON_CPU_THRUST(reverse, (class It), (It first, It last), reverse(policy, first, last, line))

template <class T>
void swap(device_vector<T> &a, device_vector<T> &b) { a.swap(b); }

}  // namespace thrust
