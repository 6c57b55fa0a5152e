"""Branches, and the ends of functions."""

COUNTS = True
ROWS = (
    (r"bra(?:\.uni)?", "goto {0}"),
    (r"brx\.idx(?:\.uni)?", "goto *{1}[{0}]"),
    (r"exit", "cuda_on_cpu_exit()"),
)
OF_MODULES = ((r"ret(?:\.uni)?", "return"),)
