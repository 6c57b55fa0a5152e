"""Processes in which kernels run, so that nothing a kernel does reaches the caller."""
