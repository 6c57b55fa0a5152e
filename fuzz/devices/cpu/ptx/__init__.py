"""Translates inline PTX into C++: asm statements, their instructions, and what each of these means (families/).

A family of instructions is one file with a table of rows; nothing else registers it.
"""
