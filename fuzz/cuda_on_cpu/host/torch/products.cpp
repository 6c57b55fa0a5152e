// Products of matrices and convolutions, as hosts of kernels call them: sums in double, rounded once.
#include <algorithm>
#include <array>

#include "storage.h"

namespace at {

namespace {

using Sizes = std::vector<int64_t>;
using Doubles = std::vector<double>;
using Three = std::array<int64_t, 3>;

int64_t product_of(const Sizes &sizes) {
  int64_t made = 1;
  for (int64_t size : sizes) made *= size;
  return made;
}

size_t at(int64_t i) { return static_cast<size_t>(i); }

void check_types(const char *what, const Tensor &a, const Tensor &b, int line) {
  if (a.scalar_type() != b.scalar_type())
    refuse(line, c10::str(what, ": expected tensors of one type, and got ", a.scalar_type(), " and ", b.scalar_type()));
  if (!a.is_floating_point()) refuse(line, c10::str("kfuzz does not promote types: ", what, " of ", a.scalar_type()));
}

// One number for each of three axes, the last ones given: one for all, or one for each.
Three for_axes(const char *what, IntArrayRef given, size_t axes, int64_t otherwise, int line) {
  Three made{otherwise, otherwise, otherwise};
  if (given.size() != 1 && given.size() != axes)
    refuse(line, c10::str(what, ": expected one number, or ", axes, ", and got ", given));
  for (size_t i = 0; i < axes; i++) made[3 - axes + i] = given[given.size() == 1 ? 0 : i];
  return made;
}

// The axes of windows, as three: those that are not there have one place.
Three last_three(const Tensor &x) {
  Three made{1, 1, 1};
  for (int64_t i = 2; i < x.dim(); i++) made[at(i + 3 - x.dim())] = x.size(i);
  return made;
}

struct Window {
  Three in, out, kernel, stride, padding, dilation;
  int64_t groups;
};

// Calls `add` for each run of neighbours: how many there are, the first places of both sides, and their steps along the
// last axis. `wide` counts places of the longer side, `narrow` those of the other one.
template <class Add>
void each_run(const Window &w, const Three &wide, const Three &narrow, Add add) {
  for (int64_t kd = 0; kd < w.kernel[0]; kd++)
    for (int64_t kh = 0; kh < w.kernel[1]; kh++)
      for (int64_t kw = 0; kw < w.kernel[2]; kw++) {
        int64_t shift = kw * w.dilation[2] - w.padding[2], step = w.stride[2];
        int64_t first = shift < 0 ? (-shift + step - 1) / step : 0;
        int64_t last = wide[2] - 1 - shift < 0 ? -1 : std::min(narrow[2] - 1, (wide[2] - 1 - shift) / step);
        if (first > last) continue;
        for (int64_t d = 0; d < narrow[0]; d++) {
          int64_t deep = d * w.stride[0] + kd * w.dilation[0] - w.padding[0];
          if (deep < 0 || deep >= wide[0]) continue;
          for (int64_t h = 0; h < narrow[1]; h++) {
            int64_t high = h * w.stride[1] + kh * w.dilation[1] - w.padding[1];
            if (high < 0 || high >= wide[1]) continue;
            add((kd * w.kernel[1] + kh) * w.kernel[2] + kw, (deep * wide[1] + high) * wide[2] + first * step + shift,
                (d * narrow[1] + h) * narrow[2] + first, last - first + 1);
          }
        }
      }
}

Doubles begun_with(const std::optional<Tensor> &bias, int64_t batch, int64_t channels, int64_t places) {
  Doubles made(at(batch * channels * places));
  if (!bias || !bias->defined()) return made;
  Doubles numbers = numbers_in(*bias);
  for (int64_t i = 0; i < batch * channels; i++)
    std::fill_n(made.begin() + i * places, places, numbers.at(at(i % channels)));
  return made;
}

Tensor convolved(size_t axes, bool is_transposed, const Tensor &given, const Tensor &weight, const std::optional<Tensor> &bias,
                 IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, IntArrayRef more, int64_t groups, int line) {
  check_types("a convolution", given, weight, line);
  int64_t rank = static_cast<int64_t>(axes) + 2;
  if (weight.dim() != rank || (given.dim() != rank && given.dim() != rank - 1))
    refuse(line, c10::str("a convolution: sizes ", given.sizes(), " and weights ", weight.sizes()));
  bool is_single = given.dim() == rank - 1;
  Tensor x = is_single ? given.unsqueeze(0) : given;
  Window w{last_three(x), {1, 1, 1}, last_three(weight), for_axes("stride", stride, axes, 1, line),
           for_axes("padding", padding, axes, 0, line), for_axes("dilation", dilation, axes, 1, line), groups};
  Three beyond = for_axes("output_padding", more, axes, 0, line);
  for (size_t i = 0; i < 3; i++) {
    int64_t reach = w.dilation[i] * (w.kernel[i] - 1) + 1;
    w.out[i] = is_transposed ? (w.in[i] - 1) * w.stride[i] - 2 * w.padding[i] + reach + beyond[i]
                             : (w.in[i] + 2 * w.padding[i] - reach) / w.stride[i] + 1;
    if (w.out[i] < 1 || (!is_transposed && w.in[i] + 2 * w.padding[i] < reach))
      refuse(line, c10::str("a convolution: of ", given.sizes(), " by ", weight.sizes(), " nothing is left"));
  }
  int64_t batch = x.size(0), from = x.size(1), to = is_transposed ? weight.size(1) * groups : weight.size(0);
  if (groups < 1 || from % groups || to % groups || (is_transposed ? weight.size(0) : weight.size(1) * groups) != from)
    refuse(line, c10::str("a convolution: ", from, " channels, weights ", weight.sizes(), ", groups ", groups));
  int64_t ins = w.in[0] * w.in[1] * w.in[2], outs = w.out[0] * w.out[1] * w.out[2];
  int64_t taps = w.kernel[0] * w.kernel[1] * w.kernel[2], few = from / groups, made = to / groups;
  Doubles numbers = numbers_in(x), weights = numbers_in(weight), sums = begun_with(bias, batch, to, outs);
  const Three &wide = is_transposed ? w.out : w.in, &narrow = is_transposed ? w.in : w.out;
  for (int64_t n = 0; n < batch; n++)
    for (int64_t c = 0; c < to; c++)
      for (int64_t k = 0; k < few; k++) {
        int64_t source = c / made * few + k;
        const double *in = numbers.data() + (n * from + source) * ins;
        const double *tap = weights.data() + (is_transposed ? source * made + c % made : c * few + k) * taps;
        double *out = sums.data() + (n * to + c) * outs;
        int64_t step = w.stride[2];
        each_run(w, wide, narrow, [&](int64_t place, int64_t one, int64_t other, int64_t count) {
          double factor = tap[place];
          if (is_transposed)
            for (int64_t i = 0; i < count; i++) out[one + i * step] += factor * in[other + i];
          else
            for (int64_t i = 0; i < count; i++) out[other + i] += factor * in[one + i * step];
        });
      }
  Sizes sizes{batch, to};
  for (size_t i = 3 - axes; i < 3; i++) sizes.push_back(w.out[i]);
  Tensor answer = made_of(sums, sizes, x, line);
  return is_single ? answer.squeeze(0) : answer;
}

}  // namespace

Tensor Tensor::matmul(const Tensor &other, int line) const {
  check_types("a product", *this, other, line);
  if (!dim() || !other.dim()) refuse(line, "a product: both tensors need at least one dimension");
  Tensor a = dim() == 1 ? unsqueeze(0) : *this, b = other.dim() == 1 ? other.unsqueeze(1) : other;
  int64_t rows = a.size(-2), terms = a.size(-1), columns = b.size(-1);
  if (b.size(-2) != terms) refuse(line, c10::str("a product of sizes ", sizes(), " and ", other.sizes()));
  Sizes left = a.sizes().vec(), right = b.sizes().vec();
  left.resize(left.size() - 2), right.resize(right.size() - 2);
  Sizes lots(std::max(left.size(), right.size()), 1);
  for (const Sizes *one : {&left, &right})
    for (size_t i = 0; i < one->size(); i++) {
      int64_t size = (*one)[one->size() - 1 - i], &lot = lots[lots.size() - 1 - i];
      if (size != 1 && lot != 1 && size != lot) refuse(line, c10::str("a product of sizes ", sizes(), " and ", other.sizes()));
      lot = size == 1 ? lot : size;
    }
  auto widened = [&](const Tensor &one) {
    Sizes wanted = lots;
    wanted.insert(wanted.end(), {one.size(-2), one.size(-1)});
    return numbers_in(one.expand(wanted));
  };
  Doubles x = widened(a), y = widened(b), made(at(product_of(lots) * rows * columns));
  for (int64_t lot = 0; lot < product_of(lots); lot++)
    for (int64_t i = 0; i < rows; i++)
      for (int64_t k = 0; k < terms; k++) {
        double factor = x[at((lot * rows + i) * terms + k)];
        const double *row = y.data() + (lot * terms + k) * columns;
        double *sums = made.data() + (lot * rows + i) * columns;
        for (int64_t j = 0; j < columns; j++) sums[j] += factor * row[j];
      }
  Sizes wanted = lots;
  if (dim() > 1) wanted.push_back(rows);
  if (other.dim() > 1) wanted.push_back(columns);
  return made_of(made, wanted, *this, line);
}

Tensor linear(const Tensor &x, const Tensor &weight, const std::optional<Tensor> &bias, int line) {
  Tensor made = x.matmul(weight.t(), line);
  return bias && bias->defined() ? made.add(*bias, line) : made;
}

Tensor constant_pad_nd(const Tensor &x, IntArrayRef pad, const Scalar &value, int line) {
  Sizes sizes = x.sizes().vec();
  if (pad.size() % 2 || pad.size() > 2 * sizes.size()) refuse(line, c10::str("a padding of ", pad, " for sizes ", x.sizes()));
  for (size_t i = 0; i < pad.size() / 2; i++) {
    size_t axis = sizes.size() - 1 - i;
    sizes[axis] += pad[2 * i] + pad[2 * i + 1];
    if (pad[2 * i] < 0 || pad[2 * i + 1] < 0) refuse(line, c10::str("kfuzz does not take away by a padding: ", pad));
  }
  Tensor made = full(sizes, value, x.options(), line), place = made;
  for (size_t i = 0; i < pad.size() / 2; i++) {
    int64_t axis = static_cast<int64_t>(sizes.size() - 1 - i);
    place = place.narrow(axis, pad[2 * i], x.size(axis));
  }
  place.copy_(x);
  return made;
}

#define KFUZZ_TORCH_CONVOLUTION(axes)                                                                                          \
  Tensor conv##axes##d(const Tensor &x, const Tensor &weight, const std::optional<Tensor> &bias, IntArrayRef stride,           \
                       IntArrayRef padding, IntArrayRef dilation, int64_t groups, int line) {                                  \
    return convolved(axes, false, x, weight, bias, stride, padding, dilation, 0, groups, line);                                \
  }                                                                                                                            \
  Tensor conv_transpose##axes##d(const Tensor &x, const Tensor &weight, const std::optional<Tensor> &bias, IntArrayRef stride, \
                                 IntArrayRef padding, IntArrayRef output_padding, int64_t groups, IntArrayRef dilation,        \
                                 int line) {                                                                                   \
    return convolved(axes, true, x, weight, bias, stride, padding, dilation, output_padding, groups, line);                    \
  }
KFUZZ_TORCH_CONVOLUTION(1)
KFUZZ_TORCH_CONVOLUTION(2)
KFUZZ_TORCH_CONVOLUTION(3)

}  // namespace at
