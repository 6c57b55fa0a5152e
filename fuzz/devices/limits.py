"""The limits of a launch that all CUDA GPUs share, or that the largest ones have."""

C_INT_BYTES, INT_MAX = 4, 2**31 - 1
"""Most kernels take sizes as C ints."""

GRID_MAX = (INT_MAX, 65535, 65535)
BLOCK_MAX = (1024, 1024, 64)
THREADS_MAX = 1024
"""Threads of a block, whatever its shape."""

CLUSTER_MAX = 16
"""Blocks of a cluster: 8 on any GPU that has clusters, 16 on an H100 and its relatives if the kernel asks for it."""

SHARED_MAX = 227 * 1024
"""Bytes of dynamic shared memory that a block may opt into, on the GPUs that allow the most."""
STATIC_SHARED_MAX = 48 * 1024
"""Bytes of a static __shared__ array; more must be dynamic."""
