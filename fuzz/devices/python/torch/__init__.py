"""PyTorch as a library of callables: its tensors over memory of kfuzz, and its extensions."""
