// Random numbers on the host and in kernels: the engines of the C++ standard, and distributions that scale their words.
#pragma once
#include <limits>
#include <random>

namespace thrust {
inline namespace random {

using std::minstd_rand;
using std::minstd_rand0;
using std::ranlux24_base;
using std::ranlux48_base;
using default_random_engine = minstd_rand;

template <class T = double>
class uniform_real_distribution {
 public:
  using result_type = T;
  explicit uniform_real_distribution(T low = 0, T high = 1) : low_(low), high_(high) {}
  template <class Engine>
  T operator()(Engine &engine) const {
    T steps = static_cast<T>(Engine::max() - Engine::min()) + 1;
    return static_cast<T>(engine() - Engine::min()) / steps * (high_ - low_) + low_;
  }
  T min() const { return low_; }
  T max() const { return high_; }

 private:
  T low_, high_;
};

template <class T = int>
class uniform_int_distribution {
 public:
  using result_type = T;
  explicit uniform_int_distribution(T low = 0, T high = std::numeric_limits<T>::max()) : low_(low), high_(high) {}
  template <class Engine>
  T operator()(Engine &engine) const {
    uniform_real_distribution<double> real(static_cast<double>(low_), static_cast<double>(high_) + 1);
    return static_cast<T>(real(engine));
  }
  T min() const { return low_; }
  T max() const { return high_; }

 private:
  T low_, high_;
};

template <class T = double>
using normal_distribution = std::normal_distribution<T>;

}  // namespace random
}  // namespace thrust
