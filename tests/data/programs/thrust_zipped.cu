// thrust's zip iterators: points in two arrays, made, moved and added up as pairs.
// arguments: 1000
// bug: out-of-bounds
#include <thrust/device_vector.h>
#include <thrust/for_each.h>
#include <thrust/generate.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <thrust/zip_function.h>

#include <cstdio>
#include <cstdlib>

struct One {
  __host__ __device__ thrust::tuple<float, int> operator()() const { return thrust::make_tuple(0.5f, 3); }
};
struct Move {
  const float *by;
  template <class Point>
  __host__ __device__ void operator()(Point point) const {
#ifdef BUG
    int i = thrust::get<2>(point) + 1;
#else
    int i = thrust::get<2>(point);
#endif
    thrust::get<0>(point) += by[i];
    thrust::get<1>(point) *= 2;
  }
};
struct Sum {
  __host__ __device__ float operator()(float x, int y) const { return x + y; }
};

int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  thrust::device_vector<float> x(n), by(n), sums(n);
  thrust::device_vector<int> y(n);
  for (int i = 0; i < 3; i++) by[i] = i;
  auto points = thrust::make_zip_iterator(thrust::make_tuple(x.begin(), y.begin()));
  thrust::generate(points, points + n, One());
  auto numbered = thrust::make_zip_iterator(x.begin(), y.begin(), thrust::make_counting_iterator(0));
  thrust::for_each(numbered, numbered + n, Move{thrust::raw_pointer_cast(by.data())});
  thrust::transform(points, points + n, sums.begin(), thrust::make_zip_function(Sum()));
  float all = thrust::transform_reduce(points, points + n, thrust::make_zip_function(Sum()), 0.0f, thrust::plus<float>());
  bool right = all == 6.5f * n + 3 && sums[0] == 6.5f && sums[2] == 8.5f && sums[n - 1] == 6.5f;
  printf("%g\n", all);
  return !right;
}
