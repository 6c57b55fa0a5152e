"""Python libraries, one file each. The lists of libraries in claims, commands and tests come from this folder."""

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache

from kfuzz.devices.python.library import PythonLibrary

USUAL = "numpy"
"""The library of a file that imports none."""


@cache
def libraries() -> dict[str, PythonLibrary]:
    """Every library, by its name."""
    modules = [importlib.import_module(f"{__name__}.{one.name}") for one in pkgutil.iter_modules(__path__)]
    return {module.LIBRARY.name: module.LIBRARY for module in modules}


def array_libraries() -> tuple[str, ...]:
    """The libraries that have arrays of their own."""
    return tuple(name for name, one in libraries().items() if one.lender)


def array_library_of(packages: Iterable[str], usual: str = USUAL) -> str:
    """The library whose arrays a file's functions take, by the packages that the file imports."""
    best = min(libraries_used_by(packages), key=lambda one: (one.rank, one.name), default=None)
    return usual if best is None else best.arrays or best.name


def language_of(packages: Iterable[str]) -> str:
    """The library that compiles a file's functions: a compiler for the arrays that they take, one that takes arrays of
    others beside its own, or that of the arrays.
    """
    used = libraries_used_by(packages)
    arrays = array_library_of(packages)
    compilers = [one.name for one in used if one.arrays == arrays]
    others = [one.name for one in used if one.run_without_gpu is not None and not one.arrays]
    return next(iter((*compilers, *others)), arrays)


def libraries_used_by(packages: Iterable[str]) -> list[PythonLibrary]:
    """The libraries that a file uses."""
    return [one for one in libraries().values() if not {*one.packages}.isdisjoint(packages)]
