"""What a launch may have at most: the numbers that every CUDA card, or the largest of them, shares."""

C_INT_BYTES, INT_MIN, INT_MAX = 4, -(2**31), 2**31 - 1
"""Most kernels take sizes as C ints."""

GRID_MAX = (INT_MAX, 65535, 65535)
BLOCK_MAX = (1024, 1024, 64)
THREADS_MAX = 1024
"""Of a block, however its sides are."""

CLUSTER_MAX = 16
"""Blocks of a cluster: 8 on any card that has them, 16 on an H100 and its kin that allow it."""

SHARED_MAX = 227 * 1024
"""Bytes of dynamic shared memory that a block may opt into, on the cards that allow most."""
STATIC_SHARED_MAX = 48 * 1024
"""Bytes of a static __shared__ array; more must be dynamic."""
