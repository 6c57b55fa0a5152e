"""The device of Python callables: called in a process of their own, with memory of ours."""
