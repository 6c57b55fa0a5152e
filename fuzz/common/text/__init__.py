"""Source files as text: CUDA, Python with CUDA in its strings, headers, macros, silences."""
