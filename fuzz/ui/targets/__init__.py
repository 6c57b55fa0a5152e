"""Finds what a command line means: the kernels, the device, the text to start from."""
