// A function of one of NVIDIA's libraries: one piece of work on a stream, whose accesses are checked as a copy's are.
#pragma once
#include "asked.h"
#include "deferred.h"
#include "include/library_types.h"

namespace cuda_on_cpu {

// Lines of bytes at equal distances: the columns of a matrix, or the elements of a vector.
struct Lines {
  const void *at;
  size_t bytes, count;
  size_t distance;  // from the start of a line to the next, in bytes
};

class LibraryWork {
 public:
  LibraryWork(const Asked &by, bool host_waits);
  ~LibraryWork();
  LibraryWork(const LibraryWork &) = delete;

  void reads(const Lines &lines) { touches(lines, false); }
  void writes(const Lines &lines) { touches(lines, true); }
  // Whether all that was named lies in arrays: otherwise the function cannot be computed, and that was reported.
  bool is_whole() const { return is_whole_; }

 private:
  void touches(const Lines &lines, bool writes);
  bool is_inside(const char *at, size_t bytes, bool writes);
  void check_written(const char *at, size_t bytes);

  Asked by_;
  Within runtime_;
  Working work_;
  bool is_whole_ = true, has_seen_unwritten_ = false;
};

// A number that the host or the device gives, as the pointer mode says. The host's is read when the function is called.
struct Scalar {
  const void *there;  // null: it is `value`
  double value;
};

// Elements of a library's type, as numbers.
size_t bytes_of(cudaDataType type);  // 0: a type that the cpu device does not have
double element_at(const void *at, cudaDataType type);
void set_element(void *at, cudaDataType type, double value);
double number_of(const Scalar &scalar, cudaDataType type, LibraryWork &work);

// The work of a captured stream is done when its graph is: `again` does it with a copy of `arguments`. `is_all`: these say
// all of what it does, so work that is equal to work that was done may wait (deferred.h).
template <class Arguments>
cudaError_t do_or_capture(const Arguments &arguments, const Asked &by, void (*does)(const Arguments &), bool is_all = false) {
  struct Kept {
    Arguments arguments;
    void (*does)(const Arguments &);
  };
  if (!is_stream(by.stream)) return returns(cudaErrorInvalidResourceHandle);
  auto again = [](void *kept) {
    auto *one = static_cast<Kept *>(kept);
    one->does(one->arguments);
    return cudaSuccess;
  };
  if (is_captured(by.stream)) return capture(by.stream, cudaGraphNodeTypeEmpty, +again, Kept{arguments, does});
  auto as_known = reinterpret_cast<Does>(does);
  if (is_all && may_defer_equal(&arguments, sizeof arguments, as_known, by.stream)) {
    auto *kept = static_cast<Kept *>(malloc(sizeof(Kept)));
    memcpy(static_cast<void *>(&kept->arguments), static_cast<const void *>(&arguments), sizeof arguments);
    kept->does = does;
    defer(Waiting::library, {cudaGraphNodeTypeEmpty, +again, kept, free});
    return cudaSuccess;
  }
  does(arguments);
  if (is_all) note_equal(&arguments, sizeof arguments, as_known);
  return cudaSuccess;
}

}  // namespace cuda_on_cpu
