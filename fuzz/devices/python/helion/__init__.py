"""Helion without a GPU: it writes Triton, whose launches run on the cpu device."""
