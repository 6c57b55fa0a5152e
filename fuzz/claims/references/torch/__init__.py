"""PyTorch as a library of callables: its tensors, its extensions, and references that it runs."""
