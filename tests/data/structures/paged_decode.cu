// One query of each sequence over the pages of its keys: a block a sequence, a thread a head.
//
// The softmax is online; a sequence without a page gives 0.
//
// /// kernel
// op     = "paged_decode"
// values = { finite = true }
// launch = [{ entry = "paged_decode", grid = "batch", block = 32 }]
//
// [axes]
// batch = "1..1024"
// heads = "1..64"
// d     = "1..64"
// dv    = "1..32"
// slots = "1..1024"
// page  = "1..64"
// used  = "0..4096"
//
// [arrays]
// q     = "f32[batch, heads, d] -> q"
// k     = "f32[slots, page, heads, d] -> k"
// v     = "f32[slots, page, heads, dv] -> v"
// first = "i32[batch + 1] -> first"
// pages = "i32[used] -> pages"
// last  = "i32[batch] -> last"
// o     = "f32[batch, heads, dv] <- o"
// ///

__global__ void paged_decode(float *o, const float *q, const float *k, const float *v, const int *first,
                             const int *pages, const int *last, int heads, int d, int dv, int page) {
    // q is (batch, heads, d), k is (slots, page, heads, d), v is (slots, page, heads, dv), o is (batch, heads, dv)
    const int from = first[blockIdx.x], to = first[blockIdx.x + 1];
    const float scale = 1.0f / sqrtf(d);
    for (int head = threadIdx.x; head < heads; head += blockDim.x) {
        const float *query = q + (static_cast<size_t>(blockIdx.x) * heads + head) * d;
        float top = -INFINITY, sum = 0.0f, out[32];
        for (int i = 0; i < dv; i++) {
            out[i] = 0.0f;
        }
        for (int p = from; p < to; p++) {
            const int many = p == to - 1 ? last[blockIdx.x] : page;
            for (int at = 0; at < many; at++) {
                const size_t place = (static_cast<size_t>(pages[p]) * page + at) * heads + head;
                float score = 0.0f;
                for (int i = 0; i < d; i++) {
                    score += query[i] * k[place * d + i];
                }
                score *= scale;
                const float now = fmaxf(top, score), keep = expf(top - now), weight = expf(score - now);
                sum = sum * keep + weight;
                for (int i = 0; i < dv; i++) {
                    out[i] = out[i] * keep + weight * v[place * dv + i];
                }
                top = now;
            }
        }
        for (int i = 0; i < dv; i++) {
            o[(static_cast<size_t>(blockIdx.x) * heads + head) * dv + i] = sum > 0.0f ? out[i] / sum : 0.0f;
        }
    }
}
