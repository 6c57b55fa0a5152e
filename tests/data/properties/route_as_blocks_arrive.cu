// Puts tokens in the order of their experts, those of one expert as their threads come.
//
// /// kernel
// op      = "route"
// axes    = { n = "1..4096" }
// tune    = { threads = [32, 128] }
// arrays  = { expert = "i32[n] -> expert", order = "i32[n] <- order", slot = "i32[n] <- slot", offsets = "i32[17] <- offsets", taken = "i32[16] = 0" }
// scalars = { experts = 16 }
// launch  = [
//   { entry = "count", grid = 1, block = "32" },
//   { entry = "place", grid = "ceil_div(n, threads)", block = "threads" },
// ]
// ///
__global__ void count(int *offsets, const int *expert, int n) {
  for (int e = threadIdx.x; e < 17; e += 32) {
    int before = 0;
    for (int t = 0; t < n; t++) before += expert[t] < e;
    offsets[e] = before;
  }
}

__global__ void place(int *order, int *slot, int *taken, const int *offsets, const int *expert, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  const int at = offsets[expert[t]] + atomicAdd(&taken[expert[t]], 1);
  order[at] = t;
  slot[t] = at;
}
