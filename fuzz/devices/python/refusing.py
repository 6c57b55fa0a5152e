"""Whether an exception says that a function refuses its arguments, or that a guard is at its limit.

Knows exceptions and the text of the line that raised them.
"""

import linecache
import re
import sys
import traceback

from kfuzz.devices.python.libraries import libraries
from kfuzz.devices.python.raising import error_text, is_in, is_raised_by_statement, raising_module

REFUSALS = (ValueError, NotImplementedError, AssertionError, IndexError)
"""The exceptions by which a function refuses its arguments, if it raises them itself. torch's for a `dim` that does not
exist is an IndexError."""
GUARD_ALL = re.compile(r"--guard-all|CUDAPluggableAllocator")
"""Matches errors of the guarding allocator, which captures no graphs and counts no bytes, unlike torch's own."""


def is_of_guard_all(error: BaseException | None) -> bool:
    """Whether an error, or one of its causes, comes from a limit of the guarding allocator."""
    return error is not None and (bool(GUARD_ALL.search(error_text(error))) or is_of_guard_all(error.__context__))


def is_refusal(error: BaseException, file: str) -> bool:
    """Whether the file, or a package that it uses, refuses its arguments by a `raise` or `assert` of its own.

    What an array library or Python's own raises is no refusal: the file has called it wrongly.
    """
    frames = traceback.extract_tb(error.__traceback__)
    if not (isinstance(error, REFUSALS) and frames):
        return False
    last = frames[-1]
    if last.filename != file:
        module = raising_module(error)
        return not is_of_library(module) and is_raised_by_statement(error)
    at = linecache.getline(file, last.lineno or 0)[last.colno or 0 :]
    return isinstance(error, AssertionError) or at.startswith("raise")


def is_of_library(module: str) -> bool:
    """Whether a module is an array library's, Python's or kfuzz's."""
    tops = tuple(package.partition(".")[0] for one in libraries().values() for package in one.packages)
    return is_in(module, (*tops, "kfuzz")) or module.partition(".")[0] in sys.stdlib_module_names
