#include "library_work.h"

#include <cstring>
#include <limits>
#include <type_traits>

#include "../include/cuda_on_cpu/narrow.h"
#include "../runtime/arena.h"
#include "../runtime/memory_map.h"
#include "../runtime/report.h"

namespace cuda_on_cpu {

LibraryWork::LibraryWork(const Asked &by, bool host_waits)
    : by_(by), work_(timeline_of(by.stream), Work::library, host_waits && !lane_of_graph()) {
  write_down({static_cast<uint32_t>(by.line), static_cast<uint32_t>(line_of_graph()), {1, 1, 1}, {1, 1, 1}, 0, Refused::no, 0, {}});
}

// What races left behind shows when everything is written.
LibraryWork::~LibraryWork() {
  if (run->check) checker_has_moved();
}

void LibraryWork::touches(const Lines &lines, bool writes) {
  if (!lines.at || !lines.bytes || !lines.count) {
    if (lines.bytes && lines.count) is_inside(nullptr, lines.bytes, writes);
    return;
  }
  auto *at = static_cast<const char *>(lines.at);
  bool is_dense = lines.distance == lines.bytes;
  size_t extent = (lines.count - 1) * lines.distance + lines.bytes;
  const Buffer *array = device_array_at(at);
  bool fits = array && !(array->flags & is_freed) && static_cast<size_t>(at - array->address) + extent <= array->bytes;
  for (size_t i = 0; i < (is_dense ? 1 : lines.count); i++) {
    const char *line = at + i * lines.distance;
    size_t bytes = is_dense ? extent : lines.bytes;
    if (!fits && !is_inside(line, bytes, writes)) return;
    if (run->check && !writes) check_written(line, bytes);
    moves(line, bytes, writes ? Move::writes : Move::reads, by_, work_);
    if (writes && !is_whole_) memset(const_cast<char *>(line), 0, bytes);  // so that the next reader finds what is the same each time
    if (run->check && writes && is_device_memory(line)) host_has_written(reinterpret_cast<uintptr_t>(line), bytes);
  }
}

// Variables of the library, __device__ ones, are device memory, too.
bool LibraryWork::is_inside(const char *at, size_t bytes, bool writes) {
  auto address = reinterpret_cast<uintptr_t>(at);
  if (address >= library_start(*run->module) && address + bytes <= library_end(*run->module)) return true;
  const Buffer *array = device_array_at(at);
  bool is_device = is_device_memory(at);
  size_t room = array && !(array->flags & is_freed) ? array->bytes - static_cast<size_t>(at - array->address) : 0;
  if (is_device && bytes <= room) return true;
  is_whole_ = false;
  Finding *f = report(is_device ? Kind::library_outside : Kind::library_on_host, 0, static_cast<uint32_t>(by_.line));
  if (!f) return false;
  f->address = address;
  if (is_device) locate(address, *f);
  f->bytes = static_cast<uint32_t>(bytes);
  f->writes = writes;
  f->detail = room;
  return false;
}

void LibraryWork::check_written(const char *at, size_t bytes) {
  if (has_seen_unwritten_) return;
  uintptr_t unwritten = first_unwritten(reinterpret_cast<uintptr_t>(at), bytes);
  if (!unwritten) return;
  has_seen_unwritten_ = true;
  if (Finding *f = report(Kind::library_uninitialised, 0, static_cast<uint32_t>(by_.line))) locate(unwritten, *f);
}


size_t bytes_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_64F: return 8;
    case CUDA_R_32F:
    case CUDA_R_32I: return 4;
    case CUDA_R_16F:
    case CUDA_R_16BF: return 2;
    case CUDA_R_8I: return 1;
    default: return 0;
  }
}

template <class T>
static double read_as(const void *at) {
  T value;
  memcpy(&value, at, sizeof value);
  return static_cast<double>(value);
}

template <class T>
static void write_as(void *at, T value) { memcpy(at, &value, sizeof value); }

double element_at(const void *at, cudaDataType type) {
  switch (type) {
    case CUDA_R_64F: return read_as<double>(at);
    case CUDA_R_32F: return read_as<float>(at);
    case CUDA_R_32I: return read_as<int32_t>(at);
    case CUDA_R_8I: return read_as<int8_t>(at);
    default: break;
  }
  uint16_t bits;
  memcpy(&bits, at, sizeof bits);
  return static_cast<double>(type == CUDA_R_16F ? Narrow<11>::widened(bits) : Narrow<8>::widened(bits));
}

void set_element(void *at, cudaDataType type, double value) {
  switch (type) {
    case CUDA_R_64F: return write_as(at, value);
    case CUDA_R_32F: return write_as(at, static_cast<float>(value));
    case CUDA_R_32I: return write_as(at, static_cast<int32_t>(value));
    case CUDA_R_8I: return write_as(at, static_cast<int8_t>(value < -128 ? -128 : value > 127 ? 127 : value));
    case CUDA_R_16F: return write_as(at, Narrow<11>::of(value));
    default: return write_as(at, Narrow<8>::of(value));
  }
}

double number_of(const Scalar &scalar, cudaDataType type, LibraryWork &work) {
  if (!scalar.there) return scalar.value;
  work.reads({scalar.there, bytes_of(type), 1, 0});
  return work.is_whole() ? element_at(scalar.there, type) : 0;
}

}  // namespace cuda_on_cpu
