"""Submissions to benchmarks: how each benchmark writes a problem and a solution."""
