"""Warp without a GPU: its compiler makes PTX, and the cpu device runs it in place of each launch."""
