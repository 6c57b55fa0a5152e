"""What is right: exact definitions, enclosures and verdicts for the ops that kernels compute.

Knows mathematics and float32; never CUDA, Hypothesis or anything of `fuzz`.
"""
