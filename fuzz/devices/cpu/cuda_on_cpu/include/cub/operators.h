// What cub's reductions combine values by.
#pragma once
#include "../cuda_on_cpu.h"

namespace cub {

struct Sum {
  template <class T>
  T operator()(const T &a, const T &b) const {
    return a + b;
  }
};
struct Max {
  template <class T>
  T operator()(const T &a, const T &b) const {
    return b > a ? b : a;
  }
};
struct Min {
  template <class T>
  T operator()(const T &a, const T &b) const {
    return b < a ? b : a;
  }
};

}  // namespace cub
