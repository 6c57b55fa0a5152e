"""Measures: how a kernel rounds, how strong the search is, and how fast kernels are."""
