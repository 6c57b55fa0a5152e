// A right row sum whose library tries to leave its process as it is loaded, and says what it could do.
//
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..64", cols = "1..64" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
// launch = [{ grid = "rows", block = "32" }]
// accuracy.adds = "cols - 1"
// ///

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static int attack() {
    int escaped = 0;
    const rlimit all = {1ul << 60, 1ul << 60};
    escaped |= open("/proc/1/status", O_RDONLY) >= 0 ? 1 : 0;
    escaped |= socket(AF_INET, SOCK_DGRAM, 0) >= 0 ? 2 : 0;
    escaped |= kill(getppid(), 0) == 0 ? 4 : 0;
    escaped |= setrlimit(RLIMIT_DATA, &all) == 0 ? 8 : 0;
    escaped |= open("/tmp/kfuzz_has_escaped", O_CREAT | O_WRONLY, 0600) >= 0 ? 16 : 0;
    escaped |= rename("/etc/hostname", "/etc/hostname2") == 0 ? 32 : 0;
    const int child = fork();
    if (child == 0) _exit(0);
    escaped |= child > 0 ? 64 : 0;
    if (escaped) fprintf(stderr, "escaped %d\n", escaped);
    return escaped;
}

static const int escaped = attack();

__global__ void row_sum(float *y, const float *x, int cols) {
    // x is (rows, cols), y is (rows)
    if (threadIdx.x) return;
    float sum = escaped;
    for (int col = 0; col < cols; ++col) sum += x[blockIdx.x * cols + col];
    y[blockIdx.x] = sum;
}
