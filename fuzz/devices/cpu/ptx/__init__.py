"""Translates PTX into C++: asm statements and whole modules, and what each instruction means (families/).

A family of instructions is one file with a table of rows, for statements and modules alike; nothing else registers it.
"""
