"""What an exit code says to a shell or to CI. Knows nothing; all commands, and the script of a case, use it."""

NOTHING_NEW = 0
"""It was done, and nothing is broken that was not known."""
FOUND = 1
"""A kernel is broken in a new way."""
COULD_NOT = 2
"""It could not be done, or nothing was tested: what is to be put right was said in a line."""
INTERRUPTED = 130
"""Ctrl-C, or the terminal has gone; what was found is kept."""
READER_GONE = 141
"""Whoever read the output has gone (`| head`), as a shell says it of any program; what was found is kept."""
