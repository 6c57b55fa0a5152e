"""A sandbox for one process: what it may read, write and start, by the kernel's own calls, without a program's help."""
