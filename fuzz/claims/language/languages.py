"""The languages of kernel files, by the endings of their names.

It imports a language at its first use, and nothing else: the pytest plugin asks for the endings in every test run of
everyone who has kfuzz installed.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kfuzz.claims.language.language import Language

FILES = {".cu": "cuda", ".ptx": "ptx", ".py": "python"}
"""The ending of a language's files, and the file of this room that describes it."""
ENDINGS = tuple(FILES)
OTHERWISE, OF_MODULES = ".cu", ".py"
"""The endings whose languages a file of any other name has, and a callable in a module: `mypkg.softmax:forward`."""


@cache
def languages() -> Mapping[str, "Language"]:
    """Every language, by the ending of its files."""
    return {ending: language_named(name) for ending, name in FILES.items()}


@cache
def language_named(name: str) -> "Language":
    """The language that a file of this room describes."""
    language: Language = import_module(f"{__package__}.{name}").LANGUAGE
    return language


def language_of(path: Path) -> "Language":
    """The language of a file, or of a callable in a module."""
    ending = OF_MODULES if ":" in path.name else path.suffix
    return language_named(FILES[ending if ending in FILES else OTHERWISE])


def ending_of(language: "Language") -> str:
    """The ending of a language's files."""
    return next(ending for ending, name in FILES.items() if name == language.name)


def endings_in_words() -> str:
    """The endings as a sentence names them: `.cu, .ptx or .py`."""
    return " or ".join((", ".join(ENDINGS[:-1]), ENDINGS[-1]))
