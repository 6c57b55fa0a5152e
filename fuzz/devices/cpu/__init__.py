"""The cpu device: a .cu file under g++, each CUDA thread a fiber, each access checked."""
