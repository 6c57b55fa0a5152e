// thrust over the CUDA runtime API: vectors, the algorithms that programs use, and iterators.
//
// An algorithm on the device is a launch with a thread for each element, or one thread where the order counts, and
// waits for it, as thrust does: a function object runs as a kernel's code and is checked like it. Anything missing here
// does not compile. Host iterators, and thrust::host, use the standard library.
#pragma once
#ifdef CUDA_ON_CPU_HOST
#include <algorithm>
#include <complex>
#include <functional>
#include <iostream>  // as in thrust
#include <iterator>
#include <numeric>
#include <system_error>
#include <utility>
#include <vector>

#include "memory.h"
#include "vectors.h"
#include "iterators.h"
#include "zip.h"
#include "algorithms.h"
#include "random.h"

#define THRUST_VERSION 300200
#define THRUST_MAJOR_VERSION (THRUST_VERSION / 100000)
#define THRUST_MINOR_VERSION (THRUST_VERSION / 100 % 1000)
#define THRUST_SUBMINOR_VERSION (THRUST_VERSION % 100)
namespace thrust {
using std::system_error;
using std::complex, std::abs, std::arg, std::conj, std::exp, std::norm, std::polar, std::pow, std::sqrt;
}
#endif
