"""Triton's interpreter: runs its kernels without a GPU, and looks at each load and store."""
