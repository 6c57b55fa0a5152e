"""The exit codes, for a shell or for CI. Knows nothing; all commands, and the script of a case, use them."""

NOTHING_NEW = 0
"""The command succeeded and found nothing new."""
FOUND = 1
"""A kernel is broken in a new way."""
COULD_NOT = 2
"""The command failed, or tested nothing; one line says what you have to correct."""
INTERRUPTED = 130
"""Ctrl-C, or the terminal was closed; the findings are kept."""
READER_GONE = 141
"""The reader of the output is gone (`| head`), as a shell reports it for any program; the findings are kept."""
