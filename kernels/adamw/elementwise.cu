// A step of AdamW, one thread an element: parameters and both moments are read once and written in place.
//
// The host hands over 1 - beta^step; by beta = 0.999 a float has lost four of seven digits of it if it is worked out here.
//
// /// kernel
// op      = "adamw"
// axes    = { n = "1..1073741824" }
// tune    = { threads = [64, 256, 1024] }
// scalars = { lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, decay = 0.01, correction1 = 0.19, correction2 = 0.001999 }
// arrays  = { p = "f32[n] -> p <- p", g = "f32[n] -> g", m = "f32[n] -> m <- m", v = "f32[n] -> v <- v" }
//
// [accuracy]
// form      = "means of two terms, root of a quotient, decay within the step"
// divide    = "ieee"
// functions = { sqrt = "sqrtf" }
//
// [[launch]]
// grid  = "ceil_div(n, threads)"
// block = "threads"
// args  = ["p", "m", "v", "g", "n", "lr", "beta1", "beta2", "eps", "decay", "correction1", "correction2"]
// ///

__global__ void adamw(float *p, float *m, float *v, const float *g, int n, float lr, float beta1, float beta2, float eps,
                      float decay, float correction1, float correction2) {
    // all are (n)
    const int i = blockIdx.x * blockDim.x + threadIdx.x;  // may pass n - 1
    if (i >= n) {
        return;
    }
    const float mean = beta1 * m[i] + (1.0f - beta1) * g[i];
    const float square = beta2 * v[i] + (1.0f - beta2) * (g[i] * g[i]);
    m[i] = mean;
    v[i] = square;
    p[i] -= lr * (mean / correction1 / (sqrtf(square / correction2) + eps) + decay * p[i]);
}
