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

// Merges runs of the keys' numbers, which keeps the order of equal keys.
template <class Key, class Value>
cudaError_t radix_sorted(void *temporary, size_t &bytes, const Key *keys_in, Key *keys_out, const Value *values_in, Value *values_out,
                         long long n, int first, int last, bool descending, cudaStream_t stream, int line) {
  return device_wide(temporary, bytes, 2 * n, stream, line, [=](long long *room) {
    long long *from = room, *to = room + n;
    auto goes_first = [=](long long a, long long b) {
      uint64_t x = radix(keys_in[a], first, last), y = radix(keys_in[b], first, last);
      return descending ? y < x : x < y;
    };
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
    for (long long i = 0; i < n; i++) {
      keys_out[i] = keys_in[from[i]];
      if constexpr (!std::is_same_v<Value, NullType>) values_out[i] = values_in[from[i]];
    }
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

struct DeviceSelect {
  template <class In, class Out, class Count, class Select>
  static cudaError_t If(void *temporary, size_t &bytes, In in, Out out, Count count, long long n, Select select,
                        cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {
    return details::device_wide(temporary, bytes, 0, stream, line, [=](long long *) {
      long long kept = 0;
      for (long long i = 0; i < n; i++)
        if (auto own = in[i]; select(own)) out[kept++] = own;
      *count = static_cast<details::ValueOf<Count>>(kept);
    });
  }
  template <class In, class Flags, class Out, class Count>
  static cudaError_t Flagged(void *temporary, size_t &bytes, In in, Flags flags, Out out, Count count, long long n,
                             cudaStream_t stream = 0, CUDA_ON_CPU_LINE) {
    return details::device_wide(temporary, bytes, 0, stream, line, [=](long long *) {
      long long kept = 0;
      for (long long i = 0; i < n; i++)
        if (flags[i]) out[kept++] = in[i];
      *count = static_cast<details::ValueOf<Count>>(kept);
    });
  }
  template <class In, class Out, class Count>
  static cudaError_t Unique(void *temporary, size_t &bytes, In in, Out out, Count count, long long n, cudaStream_t stream = 0,
                            CUDA_ON_CPU_LINE) {
    return details::device_wide(temporary, bytes, 0, stream, line, [=](long long *) {
      long long kept = 0;
      for (long long i = 0; i < n; i++)
        if (i == 0 || !(in[i] == in[i - 1])) out[kept++] = in[i];
      *count = static_cast<details::ValueOf<Count>>(kept);
    });
  }
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
