"""Mutants: kernels with one seeded bug each."""
