"""TileLang without a GPU: nvcc makes PTX of what it writes, and the cpu device runs it in place of each launch."""
