"""Measures the speed of kernels that are right: the protocol, the rivals, and the meaning of the figures."""
