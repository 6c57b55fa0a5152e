// Softmax, a warp a row, by tiles of cooperative groups that leave at once where there is no row.
//
// /// kernel
// op = "softmax"
// axes = { rows = "1..100000", cols = "1..100000" }
// tune = { threads = [32, 128] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
//
// [[launch]]
// grid = "ceil_div(rows, threads / 32)"
// block = "threads"
// args = ["y","x","rows","cols"]
// ///
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void softmax_cg(float *out, const float *in, int rows, int cols) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  int row = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
  if (row >= rows) return;
  const float *x = in + (size_t)row * cols;
  float m = -INFINITY;
  for (int i = tile.thread_rank(); i < cols; i += tile.size()) m = fmaxf(m, x[i]);
  m = cg::reduce(tile, m, cg::greater<float>());
  float s = 0.f;
  for (int i = tile.thread_rank(); i < cols; i += tile.size()) s += expf(x[i] - m);
  s = cg::reduce(tile, s, cg::plus<float>());
  for (int i = tile.thread_rank(); i < cols; i += tile.size()) out[(size_t)row * cols + i] = expf(x[i] - m) / s;
}
