"""Launches of Python languages on the cpu device: a kernel as PTX, and the memory of the arrays that it takes."""
