"""The joint test: whether one stored value can serve all elements of a row that share it."""
