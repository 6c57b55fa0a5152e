"""Pallas without a GPU: JAX writes Triton's code of each kernel, Triton compiles it, and the PTX runs here."""
