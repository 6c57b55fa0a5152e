"""What a formula must prove before kfuzz judges by it, and the simulated kernels that try it."""
