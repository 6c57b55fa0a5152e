"""Branches, and the ends of functions."""

ROWS = (
    (r"bra(?:\.uni)?", "goto {0}"),
    (r"brx\.idx(?:\.uni)?", "goto *{1}[{0}]"),
)
OF_MODULES = ((r"ret(?:\.uni)?|exit", "return"),)
