"""Functions of Python that a file has replaced in the process that runs it, and which kfuzz needs there, too.

A file that replaces `len` or `json.dumps` makes kfuzz's own part of that process fail, which is no bug of kfuzz. They
are noted before a file runs. Knows modules; it knows no job.
"""

import builtins
import functools
import itertools
import json
import math
import operator
import struct
from types import CodeType, FunctionType, ModuleType
from typing import Any

WATCHED: tuple[ModuleType, ...] = (builtins, functools, itertools, json, math, operator, struct)
"""Of these kfuzz replaces none itself, as it does of numpy."""
MOST_NAMED = 3


def originals() -> list[tuple[dict[str, Any], str, str, Any, CodeType | None]]:
    """What each name of these modules is now, and the code of a function of Python: it can be replaced, too."""
    return [
        (vars(module), module.__name__, name, value, value.__code__ if isinstance(value, FunctionType) else None)
        for module in WATCHED
        for name, value in list(vars(module).items())
        if callable(value)
    ]


ORIGINALS = originals()


def put_back() -> list[str]:
    """Put back what a file has replaced, and return its names. Until then nothing here may call a built-in function."""
    replaced: list[str] = []
    for space, module, name, value, code in ORIGINALS:
        is_there = name in space and space[name] is value
        if code is not None and value.__code__ is not code:
            value.__code__, is_there = code, False
        if not is_there:
            space[name] = value
            replaced += [f"{module}.{name}"]
    return replaced


def in_words(replaced: list[str], error: BaseException) -> str:
    """What a file did, and what came of it."""
    more = f" and {len(replaced) - MOST_NAMED} more" if len(replaced) > MOST_NAMED else ""
    named = ", ".join(replaced[:MOST_NAMED])
    return f"it replaced {named}{more} in its process, where kfuzz needs them: {type(error).__name__}"
