"""Whole programs on the cpu device: built from nvcc's command line, run under the checker, one process a run."""
