// FlashAttention over pages of a cache of e4m3, as in vLLM: a table says where the keys of a sequence lie, 16 or 32 in a page.
//
// A warp makes a row of q, 32 keys at a time, from two pages or from one. Only the table's pages are read: others belong to other
// sequences. One scale for all keys multiplies the scores, and one for all values the answers.
//
// /// kernel
// op     = "paged_kv_attention"
// axes   = { heads = "1..65535", rows = "1..64", pages = "1..65536", used = "1..512", d = "1..128", dv = "1..128", page = [16, 32] }
// tune   = { threads = [32, 128] }
// arrays = { q = "f16[heads, rows, d] -> q", k = "e4m3[heads, pages, page, d] -> k", v = "e4m3[heads, pages, page, dv] -> v", table = "i32[used] -> table", sk = "f32[1] -> scale_k", sv = "f32[1] -> scale_v", o = "f16[heads, rows, dv] <- o" }
// launch = [{ grid = "ceil_div(rows, threads / 32), heads", block = "threads" }]
//
// [accuracy]
// form     = "divide last"
// adds     = { qk = "d - 1", pv = "used * page - 1", row = "ceil_div(used * page, 32) - 1 + 5" }
// rescales = "ceil_div(used * page, 32) - 1"  # each tile those before it
// shift    = "running max"
// exp      = "expf"
// divide   = "ieee"
// ///

#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "../flash.cuh"

__global__ void attention_e4m3_pages(__half *o, const __half *q, const __nv_fp8_e4m3 *k, const __nv_fp8_e4m3 *v, const int *table,
                                     const float *sk, const float *sv, int rows, int pages, int used, int page, int d, int dv) {
    // o is (heads, rows, dv), q is (heads, rows, d), k is (heads, pages, page, d), v is (heads, pages, page, dv); a warp a row
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const size_t head = blockIdx.y, row = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) {
        return;  // the whole warp together
    }
    q += (head * rows + row) * d;
    o += (head * rows + row) * dv;
    const int keys = used * page;
    const float scale = *sk / sqrtf(static_cast<float>(d));
    auto place_of = [=](int key) { return (head * pages + table[key / page]) * page + key % page; };

    FlashRow<128> mine;
    for (int start = 0; start < keys; start += 32) {
        float score = -INFINITY;
        if (start + lane < keys) {
            const __nv_fp8_e4m3 *of_key = k + place_of(start + lane) * d;
            float dot = 0.0f;
            for (int i = 0; i < d; ++i) {
                dot += __half2float(q[i]) * static_cast<float>(of_key[i]);
            }
            score = dot * scale;
        }
        mine.add(score, min(keys - start, 32), dv, [=](int j, int col) {
            return static_cast<float>(v[place_of(start + j) * dv + col]);
        });
    }
    for (int part = 0, col = lane; col < dv; ++part, col += 32) {
        o[col] = __float2half(mine.total[part] / mine.sum * *sv);
    }
}
