"""Whole programs on the cpu device: builds them from nvcc's command line, and checks each run in its own process."""
