"""What a person means: which kernels, which device, which text to start from."""
