// cub's functions for whole arrays, each by a launch on the caller's stream, without waiting.
//
// As in cub, a call without temporary memory returns how much is needed; a call with it writes to it, so that a memory
// that is too small, or that two streams share, is detected. One thread does the work in the order of the array: cub
// promises no order for sums of floats.
#pragma once
#ifdef CUDA_ON_CPU_HOST
#include "../../cuda_on_cpu_host/launching.h"
#include <cub/block/block_radix_sort.cuh>

namespace cub {
namespace details {

template <class Iterator>
using ValueOf = std::decay_t<decltype(*std::declval<Iterator>())>;

// `body` gets as many words of the temporary memory as it wants.
template <class Body>
cudaError_t device_wide(void *temporary, size_t &bytes, long long words, cudaStream_t stream, int line, Body body) {
  size_t wanted = 256 + static_cast<size_t>(words) * sizeof(long long);
  if (!temporary) {
    bytes = wanted;
    return cudaSuccess;
  }
  if (bytes < wanted) return cudaErrorInvalidValue;
  auto *room = static_cast<long long *>(temporary);
  auto kernel = [](auto own, long long *words, size_t count) {  // each thread gets its own copy
    words[0] = words[count - 1] = 0;
    own(words);
  };
  cuda_on_cpu::Launch(line, 1, 1, 0, stream).of(0, kernel)(body, room, wanted / sizeof *room);
  return cudaSuccess;
}

template <class In, class Out, class Operator, class T>
cudaError_t reduced(void *temporary, size_t &bytes, In in, Out out, long long n, Operator combine, T initial, cudaStream_t stream, int line) {
  return device_wide(temporary, bytes, 0, stream, line, [=](long long *) {
    T sum = initial;
    for (long long i = 0; i < n; i++) sum = combine(sum, static_cast<T>(in[i]));
    *out = sum;
  });
}

template <class In, class Out, class Operator, class T>
cudaError_t scanned(void *temporary, size_t &bytes, In in, Out out, long long n, Operator combine, T initial, bool inclusive,
                    bool has_initial, cudaStream_t stream, int line) {
  return device_wide(temporary, bytes, 0, stream, line, [=](long long *) {
    T sum = initial;
    for (long long i = 0; i < n; i++) {
      T own = in[i];  // which may be the output's own memory
      T next = i == 0 && !has_initial ? own : combine(sum, own);
      out[i] = inclusive ? next : sum;
      sum = next;
    }
  });
}

// Merges runs of numbers, which keeps the order of equal ones; `write` gets the numbers in their order.
template <class Before, class Write>
cudaError_t merge_sorted(void *temporary, size_t &bytes, long long n, Before goes_first, Write write, cudaStream_t stream, int line) {
  return device_wide(temporary, bytes, 2 * n, stream, line, [=](long long *room) {
    long long *from = room, *to = room + n;
    for (long long i = 0; i < n; i++) from[i] = i;
    for (long long width = 1; width < n; width *= 2) {
      for (long long low = 0; low < n; low += 2 * width) {
        long long middle = low + width < n ? low + width : n, end = low + 2 * width < n ? low + 2 * width : n;
        for (long long left = low, right = middle, at = low; at < end; at++)
          to[at] = left < middle && (right == end || !goes_first(from[right], from[left])) ? from[left++] : from[right++];
      }
      auto *made = to;
      to = from, from = made;
    }
    write(from);
  });
}

template <class Key, class Value>
cudaError_t radix_sorted(void *temporary, size_t &bytes, const Key *keys_in, Key *keys_out, const Value *values_in, Value *values_out,
                         long long n, int first, int last, bool descending, cudaStream_t stream, int line) {
  auto goes_first = [=](long long a, long long b) {
    uint64_t x = radix(keys_in[a], first, last), y = radix(keys_in[b], first, last);
    return descending ? y < x : x < y;
  };
  auto write = [=](long long *from) {
    for (long long i = 0; i < n; i++) {
      keys_out[i] = keys_in[from[i]];
      if constexpr (!std::is_same_v<Value, NullType>) values_out[i] = values_in[from[i]];
    }
  };
  return merge_sorted(temporary, bytes, n, goes_first, write, stream, line);
}

// The elements that are kept, and their number. `rest`: the others follow from the end backwards.
template <class In, class Out, class Count, class Keep>
cudaError_t selected(void *temporary, size_t &bytes, In in, Out out, Count count, long long n, Keep keep, bool rest, cudaStream_t stream,
                     int line) {
  return device_wide(temporary, bytes, 0, stream, line, [=](long long *) {
    long long kept = 0;
    for (long long i = 0; i < n; i++) {
      auto own = in[i];
      if (keep(i, own))
        out[kept++] = own;
      else if (rest)
        out[n - 1 - (i - kept)] = own;
    }
    *count = static_cast<ValueOf<Count>>(kept);
  });
}

// Calls `each` with the number of each run of equal keys, its first place and its end.
template <class Keys, class Count, class Each>
cudaError_t by_run(void *temporary, size_t &bytes, Keys keys, Count count, long long n, Each each, cudaStream_t stream, int line) {
  return device_wide(temporary, bytes, 0, stream, line, [=](long long *) {
    long long runs = 0;
    for (long long i = 0, end; i < n; i = end) {
      for (end = i + 1; end < n && keys[end] == keys[i];) end++;
      each(runs++, i, end);
    }
    *count = static_cast<ValueOf<Count>>(runs);
  });
}

}  // namespace details

// Two arrays that take turns: the current one is the input, and afterwards the output.
template <class T>
struct DoubleBuffer {
  T *d_buffers[2];
  int selector = 0;
  DoubleBuffer() = default;
  DoubleBuffer(T *current, T *alternate) : d_buffers{current, alternate} {}
  T *Current() { return d_buffers[selector]; }
  T *Alternate() { return d_buffers[selector ^ 1]; }
};

struct DeviceReduce {
  template <class In, class Out, class Operator, class T>
  static cudaError_t Reduce(void *temporary, size_t &bytes, In in, Out out, long long n, Operator combine, T initial,
                            cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {
    return details::reduced(temporary, bytes, in, out, n, combine, initial, stream, line);
  }
  template <class In, class Out>
  static cudaError_t Sum(void *temporary, size_t &bytes, In in, Out out, long long n, cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {
    using T = details::ValueOf<Out>;
    return details::reduced(temporary, bytes, in, out, n, cub::Sum(), T{}, stream, line);
  }
  template <class In, class Out>
  static cudaError_t Max(void *temporary, size_t &bytes, In in, Out out, long long n, cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {
    using T = details::ValueOf<In>;
    return details::reduced(temporary, bytes, in, out, n, cub::Max(), std::numeric_limits<T>::lowest(), stream, line);
  }
  template <class In, class Out>
  static cudaError_t Min(void *temporary, size_t &bytes, In in, Out out, long long n, cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {
    using T = details::ValueOf<In>;
    return details::reduced(temporary, bytes, in, out, n, cub::Min(), std::numeric_limits<T>::max(), stream, line);
  }
  template <class Keys, class KeysOut, class In, class Out, class Count, class Operator>
  static cudaError_t ReduceByKey(void *temporary, size_t &bytes, Keys keys, KeysOut keys_out, In in, Out out, Count count,
                                 Operator combine, long long n, cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {
    auto each = [=](long long run, long long first, long long end) {
      auto key = keys[first];
      auto sum = in[first];
      for (long long i = first + 1; i < end; i++) sum = combine(sum, in[i]);
      keys_out[run] = key, out[run] = sum;
    };
    return details::by_run(temporary, bytes, keys, count, n, each, stream, line);
  }
  template <class In, class Out>
  static cudaError_t ArgMax(void *temporary, size_t &bytes, In in, Out out, int n, cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {
    return arg(temporary, bytes, in, out, n, cub::Max(), stream, line);
  }
  template <class In, class Out>
  static cudaError_t ArgMin(void *temporary, size_t &bytes, In in, Out out, int n, cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {
    return arg(temporary, bytes, in, out, n, cub::Min(), stream, line);
  }

 private:
  template <class In, class Out, class Better>
  static cudaError_t arg(void *temporary, size_t &bytes, In in, Out out, int n, Better better, cudaStream_t stream, int line) {
    return details::device_wide(temporary, bytes, 0, stream, line, [=](long long *) {
      int best = 0;
      for (int i = 1; i < n; i++)
        if (in[i] != in[best] && better(in[i], in[best]) == in[i]) best = i;
      out->key = best;
      out->value = in[best];
    });
  }
};

struct DeviceScan {
  template <class In, class Out>
  static cudaError_t InclusiveSum(void *temporary, size_t &bytes, In in, Out out, long long n, cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {
    using T = details::ValueOf<Out>;
    return details::scanned(temporary, bytes, in, out, n, cub::Sum(), T{}, true, false, stream, line);
  }
  template <class In, class Out>
  static cudaError_t ExclusiveSum(void *temporary, size_t &bytes, In in, Out out, long long n, cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {
    using T = details::ValueOf<Out>;
    return details::scanned(temporary, bytes, in, out, n, cub::Sum(), T{}, false, true, stream, line);
  }
  template <class In, class Out, class Operator>
  static cudaError_t InclusiveScan(void *temporary, size_t &bytes, In in, Out out, Operator combine, long long n,
                                   cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {
    using T = details::ValueOf<In>;
    return details::scanned(temporary, bytes, in, out, n, combine, T{}, true, false, stream, line);
  }
  template <class In, class Out, class Operator, class T>
  static cudaError_t ExclusiveScan(void *temporary, size_t &bytes, In in, Out out, Operator combine, T initial, long long n,
                                   cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {
    return details::scanned(temporary, bytes, in, out, n, combine, initial, false, true, stream, line);
  }
};

struct DeviceRadixSort {
#define CUDA_ON_CPU_SORT(Keys, Pairs, descending)                                                                              \
  template <class Key>                                                                                                         \
  static cudaError_t Keys(void *temporary, size_t &bytes, const Key *in, Key *out, long long n, int first = 0,                 \
                          int last = 8 * sizeof(Key), cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {                             \
    return details::radix_sorted<Key, NullType>(temporary, bytes, in, out, nullptr, nullptr, n, first, last, descending, stream, line); \
  }                                                                                                                            \
  template <class Key>                                                                                                         \
  static cudaError_t Keys(void *temporary, size_t &bytes, DoubleBuffer<Key> &keys, long long n, int first = 0,                 \
                          int last = 8 * sizeof(Key), cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {                             \
    cudaError_t error = Keys(temporary, bytes, static_cast<const Key *>(keys.Current()), keys.Alternate(), n, first, last, stream, line); \
    if (temporary && error == cudaSuccess) keys.selector ^= 1;                                                                 \
    return error;                                                                                                              \
  }                                                                                                                            \
  template <class Key, class Value>                                                                                            \
  static cudaError_t Pairs(void *temporary, size_t &bytes, const Key *in, Key *out, const Value *values_in, Value *values_out, \
                           long long n, int first = 0, int last = 8 * sizeof(Key), cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {\
    return details::radix_sorted(temporary, bytes, in, out, values_in, values_out, n, first, last, descending, stream, line);  \
  }                                                                                                                            \
  template <class Key, class Value>                                                                                            \
  static cudaError_t Pairs(void *temporary, size_t &bytes, DoubleBuffer<Key> &keys, DoubleBuffer<Value> &values, long long n,  \
                           int first = 0, int last = 8 * sizeof(Key), cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {             \
    cudaError_t error = Pairs(temporary, bytes, static_cast<const Key *>(keys.Current()), keys.Alternate(),                    \
                              static_cast<const Value *>(values.Current()), values.Alternate(), n, first, last, stream, line); \
    if (temporary && error == cudaSuccess) keys.selector ^= 1, values.selector ^= 1;                                           \
    return error;                                                                                                              \
  }
  CUDA_ON_CPU_SORT(SortKeys, SortPairs, false)
  CUDA_ON_CPU_SORT(SortKeysDescending, SortPairsDescending, true)
#undef CUDA_ON_CPU_SORT
};

#define CUDA_ON_CPU_SELECT(rest)                                                                                                   \
  template <class In, class Out, class Count, class Select>                                                                        \
  static cudaError_t If(void *temporary, size_t &bytes, In in, Out out, Count count, long long n, Select select,                   \
                        cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {                                                               \
    auto keep = [=](long long, auto own) { return select(own); };                                                                  \
    return details::selected(temporary, bytes, in, out, count, n, keep, rest, stream, line);                                       \
  }                                                                                                                                \
  template <class In, class Flags, class Out, class Count>                                                                         \
  static cudaError_t Flagged(void *temporary, size_t &bytes, In in, Flags flags, Out out, Count count, long long n,                \
                             cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {                                                          \
    auto keep = [=](long long i, auto) { return flags[i]; };                                                                       \
    return details::selected(temporary, bytes, in, out, count, n, keep, rest, stream, line);                                       \
  }
struct DeviceSelect {
  CUDA_ON_CPU_SELECT(false)
  template <class In, class Out, class Count>
  static cudaError_t Unique(void *temporary, size_t &bytes, In in, Out out, Count count, long long n, cudaStream_t stream = 0,
                            CUDA_ON_CPU_LINE) {
    auto keep = [=](long long i, auto own) { return i == 0 || !(own == in[i - 1]); };
    return details::selected(temporary, bytes, in, out, count, n, keep, false, stream, line);
  }
};
struct DevicePartition {
  CUDA_ON_CPU_SELECT(true)
};
#undef CUDA_ON_CPU_SELECT

struct DeviceRunLengthEncode {
  template <class In, class Out, class Lengths, class Count>
  static cudaError_t Encode(void *temporary, size_t &bytes, In in, Out out, Lengths lengths, Count count, long long n,
                            cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {
    auto each = [=](long long run, long long first, long long end) {
      out[run] = in[first];
      lengths[run] = static_cast<details::ValueOf<Lengths>>(end - first);
    };
    return details::by_run(temporary, bytes, in, count, n, each, stream, line);
  }
};

// An argument of their own in each segment: `Reduce(..., segments, begins, ends, combine, initial)`.
struct DeviceSegmentedReduce {
  template <class In, class Out, class Begins, class Ends, class Operator, class T>
  static cudaError_t Reduce(void *temporary, size_t &bytes, In in, Out out, long long segments, Begins begins, Ends ends,
                            Operator combine, T initial, cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {
    return details::device_wide(temporary, bytes, 0, stream, line, [=](long long *) {
      for (long long one = 0; one < segments; one++) {
        T sum = initial;
        for (long long i = begins[one]; i < ends[one]; i++) sum = combine(sum, static_cast<T>(in[i]));
        out[one] = sum;
      }
    });
  }
#define CUDA_ON_CPU_SEGMENTED(name, From, initial)                                                                                 \
  template <class In, class Out, class Begins, class Ends>                                                                         \
  static cudaError_t name(void *temporary, size_t &bytes, In in, Out out, long long segments, Begins begins, Ends ends,            \
                          cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {                                                             \
    using T = details::ValueOf<From>;                                                                                              \
    return Reduce(temporary, bytes, in, out, segments, begins, ends, cub::name(), initial, stream, line);                          \
  }
  CUDA_ON_CPU_SEGMENTED(Sum, Out, T{})
  CUDA_ON_CPU_SEGMENTED(Max, In, std::numeric_limits<T>::lowest())
  CUDA_ON_CPU_SEGMENTED(Min, In, std::numeric_limits<T>::max())
#undef CUDA_ON_CPU_SEGMENTED
};

struct DeviceMergeSort {
#define CUDA_ON_CPU_SORT(Keys, Pairs)                                                                                              \
  template <class Key, class Before>                                                                                               \
  static cudaError_t Keys(void *temporary, size_t &bytes, Key keys, long long n, Before before, cudaStream_t stream = 0,           \
                          CUDA_ON_CPU_LINE) {                                                                                      \
    return Pairs(temporary, bytes, keys, static_cast<NullType *>(nullptr), n, before, stream, line);                               \
  }                                                                                                                                \
  template <class Key, class Value, class Before>                                                                                  \
  static cudaError_t Pairs(void *temporary, size_t &bytes, Key keys, Value values, long long n, Before before,                     \
                           cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {                                                            \
    auto write = [=](long long *from) {                                                                                            \
      for (long long i = 0; i < n; i++) {                                                                                          \
        long long at = from[i];                                                                                                    \
        while (at < i) at = from[at]; /* where it has gone meanwhile */                                                            \
        auto key = keys[i];                                                                                                        \
        keys[i] = keys[at], keys[at] = key;                                                                                        \
        if constexpr (!std::is_same_v<Value, NullType *>) {                                                                        \
          auto value = values[i];                                                                                                  \
          values[i] = values[at], values[at] = value;                                                                              \
        }                                                                                                                          \
      }                                                                                                                            \
    };                                                                                                                             \
    auto goes_first = [=](long long a, long long b) { return before(keys[a], keys[b]); };                                          \
    return details::merge_sorted(temporary, bytes, n, goes_first, write, stream, line);                                            \
  }
  CUDA_ON_CPU_SORT(SortKeys, SortPairs)
  CUDA_ON_CPU_SORT(StableSortKeys, StableSortPairs)
#undef CUDA_ON_CPU_SORT
};

struct DeviceHistogram {
  template <class In, class Count, class Level>
  static cudaError_t HistogramEven(void *temporary, size_t &bytes, In in, Count *bins, int levels, Level lower, Level upper,
                                   long long n, cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {
    return details::device_wide(temporary, bytes, 0, stream, line, [=](long long *) {
      for (int bin = 0; bin < levels - 1; bin++) bins[bin] = 0;
      for (long long i = 0; i < n; i++) {
        auto own = in[i];
        if (own < lower || !(own < upper)) continue;
        int bin = static_cast<int>((static_cast<double>(own) - static_cast<double>(lower)) * (levels - 1) /
                                   (static_cast<double>(upper) - static_cast<double>(lower)));
        bins[bin]++;
      }
    });
  }
};

}  // namespace cub
#endif
