// The gradients of attention from its output and the logarithm of each row's sum: D, then dq, then dk and dv.
//
// The probabilities are worked out again from lse, as flash attention does. A block has a row of q, and in the last
// launch a key; what belongs to all its partners lies in shared memory. Each sum has one thread: no atomics.
//
// /// kernel
// op     = "attention_backward"
// axes   = { heads = "1..65535", keys = "1..4096", rows = "1..4096", d = "1..1024", dv = "1..1024" }
// tune   = { threads = [32, 128] }
// claims = { deterministic = true }
//
// [arrays]
// q   = "f32[heads, rows, d] -> q"
// k   = "f32[heads, keys, d] -> k"
// v   = "f32[heads, keys, dv] -> v"
// o   = "f32[heads, rows, dv] -> o"
// lse = "f32[heads, rows] -> lse"
// g   = "f32[heads, rows, dv] -> g"
// dq  = "f32[heads, rows, d] <- dq"
// dk  = "f32[heads, keys, d] <- dk"
// dv_ = "f32[heads, keys, dv] <- dv"
// D   = "f32[heads, rows]"
//
// [accuracy]
// form = "scale last"
// adds = { qk = "d - 1", dp = "dv - 1", D = "ceil_div(dv, 32) - 1 + ceil_log2(min(dv, 32))", dq = "keys - 1", dk = "rows - 1", dv = "rows - 1" }
// exp  = "expf"
//
// [[launch]]
// entry = "attention_backward_D"
// grid  = "rows, heads"
// block = "32"
//
// [[launch]]
// entry  = "attention_backward_dq"
// grid   = "rows, heads"
// block  = "threads"
// shared = "4 * keys"
//
// [[launch]]
// entry  = "attention_backward_dk_dv"
// grid   = "keys, heads"
// block  = "threads"
// shared = "8 * rows"
// ///

#include "../warp_and_block.cuh"

__device__ float dot(const float *a, const float *b, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

__global__ void attention_backward_D(float *D, const float *g, const float *o, int dv) {
    // D is (heads, rows), g and o are (heads, rows, dv); a warp a row
    const size_t row = static_cast<size_t>(blockIdx.y) * gridDim.x + blockIdx.x;
    float sum = 0.0f;
    for (int col = threadIdx.x; col < dv; col += 32) {
        sum += g[row * dv + col] * o[row * dv + col];
    }
    sum = warp_sum(sum);
    if (threadIdx.x == 0) {
        D[row] = sum;
    }
}

__global__ void attention_backward_dq(float *dq, const float *q, const float *k, const float *v, const float *lse,
                                      const float *D, const float *g, int keys, int d, int dv) {
    // dq and q are (heads, rows, d), k is (heads, keys, d), v is (heads, keys, dv), g is (heads, rows, dv); a block a row
    extern __shared__ float ds[];  // of all keys
    const size_t head = blockIdx.y, row = head * gridDim.x + blockIdx.x;
    const float scale = 1.0f / sqrtf(static_cast<float>(d));
    k += head * keys * d;
    v += head * keys * dv;
    for (int key = threadIdx.x; key < keys; key += blockDim.x) {
        const float p = expf(dot(q + row * d, k + static_cast<size_t>(key) * d, d) * scale - lse[row]);
        ds[key] = p * (dot(g + row * dv, v + static_cast<size_t>(key) * dv, dv) - D[row]);
    }
    __syncthreads();  // ds is complete
    for (int col = threadIdx.x; col < d; col += blockDim.x) {
        float sum = 0.0f;
        for (int key = 0; key < keys; ++key) {
            sum += ds[key] * k[static_cast<size_t>(key) * d + col];
        }
        dq[row * d + col] = sum * scale;
    }
}

__global__ void attention_backward_dk_dv(float *dk, float *dv_, const float *q, const float *k, const float *v,
                                         const float *lse, const float *D, const float *g, int rows, int d, int dv) {
    // dk and k are (heads, keys, d), dv_ and v are (heads, keys, dv); a block a key
    extern __shared__ float p[];  // of all rows, and behind it ds
    float *ds = p + rows;
    const size_t head = blockIdx.y, key = head * gridDim.x + blockIdx.x;
    const float scale = 1.0f / sqrtf(static_cast<float>(d));
    q += head * rows * d;
    g += head * rows * dv;
    for (int row = threadIdx.x; row < rows; row += blockDim.x) {
        p[row] = expf(dot(q + static_cast<size_t>(row) * d, k + key * d, d) * scale - lse[head * rows + row]);
        ds[row] = p[row] * (dot(g + static_cast<size_t>(row) * dv, v + key * dv, dv) - D[head * rows + row]);
    }
    __syncthreads();  // p and ds are complete
    for (int col = threadIdx.x; col < d; col += blockDim.x) {
        float sum = 0.0f;
        for (int row = 0; row < rows; ++row) {
            sum += ds[row] * q[static_cast<size_t>(row) * d + col];
        }
        dk[key * d + col] = sum * scale;
    }
    for (int col = threadIdx.x; col < dv; col += blockDim.x) {
        float sum = 0.0f;
        for (int row = 0; row < rows; ++row) {
            sum += p[row] * g[static_cast<size_t>(row) * dv + col];
        }
        dv_[key * dv + col] = sum;
    }
}
