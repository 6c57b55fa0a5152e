// Attention of sequences that lie one after another: a block a sequence and a head, a thread a query.
//
// The softmax is online; a query without a key gives 0.
//
// /// kernel
// op     = "varlen_attention"
// axes   = { queries = "1..4096", keys = "1..4096", heads = "1..64", d = "1..64", dv = "1..32", batch = "1..1024" }
// values = { finite = true }
// launch = [{ entry = "varlen_attention", grid = "batch, heads", block = 32 }]
//
// [arrays]
// q    = "f32[queries, heads, d] -> q"
// k    = "f32[keys, heads, d] -> k"
// v    = "f32[keys, heads, dv] -> v"
// cu_q = "i32[batch + 1] -> cu_q"
// cu_k = "i32[batch + 1] -> cu_k"
// o    = "f32[queries, heads, dv] <- o"
// ///

__global__ void varlen_attention(float *o, const float *q, const float *k, const float *v, const int *cu_q,
                                 const int *cu_k, int heads, int d, int dv) {
    // q is (queries, heads, d), k is (keys, heads, d), v is (keys, heads, dv), o is (queries, heads, dv)
    const int head = blockIdx.y, first_key = cu_k[blockIdx.x], last_key = cu_k[blockIdx.x + 1];
    const float scale = 1.0f / sqrtf(d);
    for (int row = cu_q[blockIdx.x] + threadIdx.x; row < cu_q[blockIdx.x + 1]; row += blockDim.x) {
        const float *query = q + (static_cast<size_t>(row) * heads + head) * d;
        float top = -INFINITY, sum = 0.0f, out[32];
        for (int i = 0; i < dv; i++) {
            out[i] = 0.0f;
        }
        for (int key = first_key; key < last_key; key++) {
            float score = 0.0f;
            for (int i = 0; i < d; i++) {
                score += query[i] * k[(static_cast<size_t>(key) * heads + head) * d + i];
            }
            score *= scale;
            const float now = fmaxf(top, score), keep = expf(top - now), weight = expf(score - now);
            sum = sum * keep + weight;
            for (int i = 0; i < dv; i++) {
                out[i] = out[i] * keep + weight * v[(static_cast<size_t>(key) * heads + head) * dv + i];
            }
            top = now;
        }
        for (int i = 0; i < dv; i++) {
            o[(static_cast<size_t>(row) * heads + head) * dv + i] = sum > 0.0f ? out[i] / sum : 0.0f;
        }
    }
}
