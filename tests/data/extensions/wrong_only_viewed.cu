// Wrong on purpose, numeric: the rows are only read in another shape.
//
// /// kernel
// op     = "transpose"
// axes   = { rows = "1..2048", cols = "1..4096" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[cols, rows] <- y" }
//
// [host]
// entry = "forward"
// args  = ["x"]
// home  = { rows = 16, cols = 256 }
// ///
#include <torch/extension.h>

at::Tensor forward(at::Tensor x) { return x.contiguous().view({x.size(1), x.size(0)}); }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "forward"); }
