// What thrust's algorithms make, beside the standard library's; a function object with a bug runs as a kernel does.
// arguments: 2000
// bug: out-of-bounds
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/complex.h>
#include <thrust/copy.h>
#include <thrust/equal.h>
#include <thrust/count.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/random.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/merge.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/replace.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/transform_scan.h>
#include <thrust/unique.h>
#include <thrust/universal_vector.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <vector>

struct Neighbours {
  const int *a;
  int n;
  __device__ int operator()(int i) const {
#ifdef BUG
    return a[i] + a[i + 1];
#else
    return a[i] + a[i + 1 < n ? i + 1 : 0];
#endif
  }
};

struct IsOdd {
  __host__ __device__ bool operator()(int x) const { return x & 1; }
};

struct Axpy {
  float a;
  __host__ __device__ float operator()(float x, float y) const { return a * x + y; }
};

__global__ void twice(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}

#define CHECK(condition)                                        \
  if (!(condition)) {                                           \
    printf("line %d: " #condition " does not hold\n", __LINE__); \
    return 1;                                                   \
  }

int main(int, char **argv) {
  int n = atoi(argv[1]);
  thrust::host_vector<int> keys(n);
  for (int i = 0; i < n; i++) keys[i] = (i * 7919 + 5) % 1013;
  std::vector<int> want(keys.begin(), keys.end());

  thrust::device_vector<int> there = keys, places(n), sums(n);
  thrust::sequence(places.begin(), places.end());
  thrust::transform(places.begin(), places.end(), sums.begin(), Neighbours{thrust::raw_pointer_cast(there.data()), n});
  CHECK(sums[n - 1] == keys[n - 1] + keys[0]);

  CHECK(thrust::reduce(there.begin(), there.end()) == std::accumulate(want.begin(), want.end(), 0));
  CHECK(thrust::reduce(there.begin(), there.end(), -1, thrust::maximum<int>()) == *std::max_element(want.begin(), want.end()));
  CHECK(thrust::count_if(there.begin(), there.end(), IsOdd()) == std::count_if(want.begin(), want.end(), IsOdd()));
  CHECK(*thrust::max_element(there.begin(), there.end()) == *std::max_element(want.begin(), want.end()));

  thrust::device_vector<int> scanned(n);
  thrust::exclusive_scan(there.begin(), there.end(), scanned.begin(), 10);
  CHECK(scanned[3] == 10 + keys[0] + keys[1] + keys[2]);

  thrust::sort_by_key(there.begin(), there.end(), places.begin());
  std::sort(want.begin(), want.end());
  CHECK(thrust::is_sorted(there.begin(), there.end()) && !thrust::is_sorted(places.begin(), places.end()));
  CHECK(thrust::raw_pointer_cast(&there[3]) == thrust::raw_pointer_cast(there.data()) + 3);
  thrust::default_random_engine engine(7);
  thrust::uniform_int_distribution<int> die(1, 6);
  for (int i = 0; i < 100; i++) CHECK(die(engine) >= 1 && die(engine) <= 6);
  thrust::host_vector<int> sorted = there;
  CHECK(std::equal(sorted.begin(), sorted.end(), want.begin()));
  thrust::device_vector<int> first(keys);
  thrust::gather(places.begin(), places.end(), first.begin(), sums.begin());
  CHECK(thrust::host_vector<int>(sums) == sorted);
  auto end = thrust::unique(there.begin(), there.end());
  CHECK(end - there.begin() == std::unique(want.begin(), want.end()) - want.begin());

  thrust::device_vector<float> x(n, 1.5f), y(n);
  thrust::fill(y.begin(), y.end(), 2.0f);
  thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), Axpy{3});
  twice<<<(n + 255) / 256, 256>>>(thrust::raw_pointer_cast(y.data()), n);
  CHECK(y[n / 2] == 13.0f);
  CHECK(thrust::inner_product(x.begin(), x.end(), y.begin(), 0.0f) == 13.0f * 1.5f * n);
  float squares = thrust::transform_reduce(x.begin(), x.end(), thrust::square<float>(), 0.0f, thrust::plus<float>());
  CHECK(squares == 2.25f * n);

  thrust::universal_vector<int> both(keys), steps(n);
  thrust::adjacent_difference(both.begin(), both.end(), steps.begin());
  CHECK(steps[0] == keys[0] && steps[n - 1] == keys[n - 1] - keys[n - 2]);
  thrust::transform_inclusive_scan(both.begin(), both.end(), steps.begin(), thrust::negate<int>(), thrust::minimum<int>());
  CHECK(steps[n - 1] == -*std::max_element(keys.begin(), keys.end()));
  auto at = thrust::make_permutation_iterator(both.begin(), places.begin());
  CHECK(thrust::equal(at, at + n, there.begin()) == false && thrust::reduce(at, at + 2) == sorted[0] + sorted[1]);
  auto odd = thrust::partition(both.begin(), both.end(), IsOdd());
  CHECK(odd - both.begin() == std::count_if(keys.begin(), keys.end(), IsOdd()) && (both[0] & 1) && !(both[n - 1] & 1));
  thrust::replace_if(both.begin(), both.end(), IsOdd(), -7);
  thrust::sort(both.begin(), both.end());
  CHECK(thrust::upper_bound(both.begin(), both.end(), -7) == thrust::lower_bound(both.begin(), both.end(), -6));
  CHECK(!thrust::binary_search(both.begin(), both.end(), 3) && thrust::remove(both.begin(), both.end(), -7) < both.end());
  CHECK(thrust::norm(thrust::complex<float>(3, 4)) == 25);
  thrust::device_vector<int> some(4, 7);  // of ints, whose value is no line
  some.insert(some.begin() + 1, 3);
  some.erase(some.begin() + 3, some.end());
  thrust::copy(some.begin(), some.end(), std::ostream_iterator<int>(std::cout, " "));
  thrust::for_each(some.begin(), some.end(), [] __device__(int &x) { x *= 2; });
  CHECK(some.size() == 3 && some[0]++ == 14 && some[0] == 15 && some[1] == 6);
  auto [low, high] = thrust::minmax_element(some.begin(), some.end());
  CHECK(*low == 6 && *high == 15);
  const int runs[] = {5, 5, 5, 6, 6}, values[] = {1, 2, 3, 4, 5}, wanted[] = {1, 3, 6, 4, 9}, odd_of[] = {1, 3, 5}, at_bounds[] = {0, 3, 5};
  thrust::device_vector<int> keyed(runs, runs + 5), with(values, values + 5), out(5);
  thrust::inclusive_scan_by_key(keyed.begin(), keyed.end(), with.begin(), out.begin());
  CHECK(std::equal(wanted, wanted + 5, thrust::host_vector<int>(out).begin()));
  CHECK(thrust::copy_if(with.begin(), with.end(), with.begin(), out.begin(), IsOdd()) - out.begin() == 3);
  CHECK(std::equal(odd_of, odd_of + 3, thrust::host_vector<int>(out).begin()));
  thrust::lower_bound(keyed.begin(), keyed.end(), thrust::make_counting_iterator(5), thrust::make_counting_iterator(8), out.begin());
  CHECK(std::equal(at_bounds, at_bounds + 3, thrust::host_vector<int>(out).begin()));
  auto ends = thrust::unique_by_key(keyed.begin(), keyed.end(), with.begin());
  CHECK(ends.first - keyed.begin() == 2 && keyed[1] == 6 && with[1] == 4);
  CHECK(thrust::merge(some.begin(), some.end(), with.begin(), with.begin() + 2, out.begin()) == out.end() && out[0] == 1);
  const int left[] = {1, 2, 2, 4, 7}, right[] = {2, 2, 2, 4, 5}, squared[] = {1, 2, 2, 4, 49};
  thrust::device_vector<int> a(left, left + 5), b(right, right + 5), c(10);
#define CHECK_SET(name)                                                                                 \
  {                                                                                                     \
    int set[10], *made = std::name(left, left + 5, right, right + 5, set);                              \
    auto got = thrust::name(a.begin(), a.end(), b.begin(), b.end(), c.begin());                         \
    CHECK(got - c.begin() == made - set && std::equal(set, made, thrust::host_vector<int>(c).begin())); \
  }
  CHECK_SET(set_union)
  CHECK_SET(set_intersection)
  CHECK_SET(set_difference)
  CHECK_SET(set_symmetric_difference)
  thrust::transform_if(a.begin(), a.end(), a.begin(), thrust::square<int>(), IsOdd());
  CHECK(std::equal(squared, squared + 5, thrust::host_vector<int>(a).begin()));
  thrust::sequence(c.begin(), c.end());
  thrust::scatter_if(c.begin(), c.begin() + 5, c.begin(), b.begin(), a.begin(), [] __device__(int x) { return x > 4; });
  CHECK(a[4] == 4 && a[3] == 4 && *thrust::find_if_not(a.begin(), a.end(), IsOdd()) == 2);
  CHECK(thrust::max_element(a.begin(), a.end(), thrust::greater<int>()) == a.begin());
  auto [yes, no] = thrust::partition_copy(b.begin(), b.end(), a.begin(), c.begin(), IsOdd());
  CHECK(yes - a.begin() == 1 && no - c.begin() == 4 && a[0] == 5 && thrust::is_partitioned(c.begin(), no, IsOdd()));
  CHECK(*thrust::mismatch(b.begin(), b.end(), c.begin()).first == 5);
  CHECK(thrust::unique_by_key_copy(b.begin(), b.end(), c.begin(), a.begin(), thrust::make_discard_iterator()).first - a.begin() == 3);
  thrust::swap_ranges(a.begin(), a.begin() + 3, b.begin());
  CHECK(b[1] == 4 && a[1] == 2 && thrust::equal_range(a.begin(), a.begin() + 3, 2).second - a.begin() == 3);
  using namespace thrust::placeholders;
  thrust::transform(a.begin(), a.begin() + 3, b.begin(), c.begin(), 3 * _1 + _2 - 1);
  CHECK(c[0] == 7 && c[2] == 3 * 2 + 5 - 1 && thrust::count_if(b.begin(), b.begin() + 3, _1 > 2) == 2);
  int *raw;
  cudaMalloc(&raw, n * sizeof(int));
  thrust::device_ptr<int> wrapped = thrust::device_pointer_cast(raw);
  thrust::copy(keys.begin(), keys.end(), wrapped);
  thrust::sort(thrust::device, raw, raw + n, thrust::greater<int>());
  CHECK(wrapped[0] == sorted[n - 1]);
  auto counted = thrust::make_counting_iterator(1);
  auto doubled = thrust::make_transform_iterator(counted, [] __host__ __device__(int i) { return 2 * i; });
  CHECK(thrust::reduce(thrust::device, doubled, doubled + n) == n * (n + 1));
  cudaFree(raw);
  printf("%d keys, %d of them apart\n", n, static_cast<int>(end - there.begin()));
}
