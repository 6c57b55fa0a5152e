// The standard library by the names of libcu++.
#pragma once
#include <utility>

namespace cuda {
namespace std {
using namespace ::std;
}  // namespace std
}  // namespace cuda
