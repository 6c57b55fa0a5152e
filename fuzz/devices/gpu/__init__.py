"""The gpu device: a .cu file under nvcc, launched by PyCUDA."""
