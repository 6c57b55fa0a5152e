"""The operators for Python: each public function of a module in this folder seeds one kind of bug.

An operator takes a parsed file and yields changes, each of which makes one mutant; its name is the function's in
words, and its docstring says what it does. To add one, add a function or a file.
"""
