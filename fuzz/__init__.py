"""kfuzz: finds the inputs that break a CUDA kernel, proves that they do, shrinks them, and keeps them."""
