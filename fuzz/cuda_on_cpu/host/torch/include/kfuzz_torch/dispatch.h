// AT_DISPATCH_*: the same code for each possible element type, as `scalar_t`.
#pragma once
#include "tensor.h"

namespace kfuzz_torch {
inline c10::ScalarType type_of(c10::ScalarType type) { return type; }
inline c10::ScalarType type_of(c10::TypeMeta type) { return type.type; }
inline c10::ScalarType type_of(const at::TypeProperties &properties) { return properties.type; }
}  // namespace kfuzz_torch

#define AT_DISPATCH_CASE(name, ...)                                     \
  case name: {                                                          \
    using scalar_t [[maybe_unused]] = typename c10::ScalarTypeToCppType<name>::type; \
    return __VA_ARGS__();                                               \
  }
#define AT_DISPATCH_SWITCH(given, name, ...)                                                                \
  [&] {                                                                                                     \
    const c10::ScalarType kfuzz_type = kfuzz_torch::type_of(given);                                         \
    switch (kfuzz_type) {                                                                                   \
      __VA_ARGS__                                                                                           \
      default:                                                                                              \
        c10::refuse(__LINE__, c10::str('"', name, "\" is not implemented for '", kfuzz_type, "'"));         \
    }                                                                                                       \
  }()
#define AT_DISPATCH_CASE_FLOATING_TYPES(...)                \
  AT_DISPATCH_CASE(c10::ScalarType::Double, __VA_ARGS__)    \
  AT_DISPATCH_CASE(c10::ScalarType::Float, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...)                \
  AT_DISPATCH_CASE(c10::ScalarType::Byte, __VA_ARGS__)      \
  AT_DISPATCH_CASE(c10::ScalarType::Char, __VA_ARGS__)      \
  AT_DISPATCH_CASE(c10::ScalarType::Int, __VA_ARGS__)       \
  AT_DISPATCH_CASE(c10::ScalarType::Long, __VA_ARGS__)      \
  AT_DISPATCH_CASE(c10::ScalarType::Short, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...) AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)

#define AT_DISPATCH_FLOATING_TYPES(given, name, ...) AT_DISPATCH_SWITCH(given, name, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(given, name, ...) \
  AT_DISPATCH_SWITCH(given, name, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(c10::ScalarType::Half, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(one, given, name, ...) \
  AT_DISPATCH_SWITCH(given, name, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(one, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(one, two, given, name, ...) \
  AT_DISPATCH_SWITCH(given, name,                                   \
                     AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(one, __VA_ARGS__) AT_DISPATCH_CASE(two, __VA_ARGS__))
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(given, name, ...)                                     \
  AT_DISPATCH_SWITCH(given, name, AT_DISPATCH_CASE(c10::ScalarType::Half, __VA_ARGS__)           \
                                      AT_DISPATCH_CASE(c10::ScalarType::BFloat16, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(given, name, ...) AT_DISPATCH_SWITCH(given, name, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(one, given, name, ...) \
  AT_DISPATCH_SWITCH(given, name, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(one, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(one, two, given, name, ...) \
  AT_DISPATCH_SWITCH(given, name,                              \
                     AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(one, __VA_ARGS__) AT_DISPATCH_CASE(two, __VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(given, name, ...) AT_DISPATCH_SWITCH(given, name, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_INDEX_TYPES(given, name, ...)                                               \
  AT_DISPATCH_SWITCH(given, name, AT_DISPATCH_INDEX_CASE(c10::ScalarType::Int, __VA_ARGS__)     \
                                      AT_DISPATCH_INDEX_CASE(c10::ScalarType::Long, __VA_ARGS__))
#define AT_DISPATCH_INDEX_CASE(name, ...)                                         \
  case name: {                                                                    \
    using index_t [[maybe_unused]] = typename c10::ScalarTypeToCppType<name>::type;   \
    return __VA_ARGS__();                                                         \
  }
