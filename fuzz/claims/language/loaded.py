"""The packages that a Python file uses: those that it imports, and those that its other imports have loaded.

A file that imports a package built on torch takes torch's tensors, and does not say so. A process of its own imports
such a file and says what is loaded then. Knows files and processes; it imports none.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kfuzz.claims.language.python_text import read_text
from kfuzz.common.time_limits import time_limits
from kfuzz.devices.python.libraries import array_library_of, language_of, libraries, libraries_used_by
from kfuzz.devices.python.library import Arithmetic
from kfuzz.devices.sandbox.box import in_force, variables_for

LISTER = "kfuzz.devices.python.loaded_packages"
NO_LIBRARIES = ("kfuzz", "task", "ml_dtypes")
"""Packages whose import says nothing about a file's arrays."""
LOOSEST_EXP = ("__expf", (5.04, 0.0), "expf")
"""The exps of libraries, the loosest first."""


@dataclass(frozen=True)
class UsedLibraries:
    """The library of a file's arrays, what compiles its functions, and the libraries to try if that one is refused."""

    arrays: str
    language: str
    is_guess: bool = False
    others: tuple[str, ...] = ()

    @property
    def arithmetic(self) -> Arithmetic:
        """The rounding of the language; the loosest of all, while it is open which one it is."""
        known = libraries()
        every = [known[name].arithmetic for name in (self.language, *self.others)]
        return Arithmetic(
            exp=min((one.exp for one in every), key=LOOSEST_EXP.index),
            divide=max((one.divide for one in every), key=len),
            denominator=min(one.denominator for one in every),
            ftz=any(one.ftz for one in every),
            flushed=tuple(dict.fromkeys(name for one in every for name in one.flushed)),
            functions=_loosest(one.functions for one in every),
        )


def _loosest(every: Iterable[Mapping[str, tuple[float, float]]]) -> dict[str, tuple[float, float]]:
    """For each function the larger errors."""
    made: dict[str, tuple[float, float]] = {}
    for models in every:
        for name, (units, absolute) in models.items():
            known = made.get(name, (0.0, 0.0))
            made[name] = (max(units, known[0]), max(absolute, known[1]))
    return made


def used_libraries(path: Path, source: str) -> UsedLibraries:
    """The libraries of a file."""
    packages = read_text(source).packages
    arrays, language = array_library_of(packages), language_of(packages)
    if not has_unknown(packages):
        return UsedLibraries(arrays, language)
    found = (*packages, *packages_loaded_by(path, source))
    if has_array_library(packages):  # what compiles for these arrays may be in another package
        brought = language_of(found)
        of = libraries()[brought]
        does_take = of.arrays == arrays or (of.takes_torch and of.run_without_gpu is not None and arrays == "torch")
        return UsedLibraries(arrays, brought if does_take else language)
    arrays = array_library_of(found)
    loaded = sorted(libraries_used_by(found), key=lambda one: (one.rank, one.name))
    others = dict.fromkeys(one.arrays or one.name for one in loaded)
    return UsedLibraries(arrays, language_of(found), True, tuple(name for name in others if name != arrays))


def has_array_library(packages: tuple[str, ...]) -> bool:
    """Whether a file itself imports a library other than numpy, which packages of all libraries are used with."""
    return any(one.name != "numpy" for one in libraries_used_by(packages))


def has_unknown(packages: tuple[str, ...]) -> bool:
    """Whether a file imports a package that may bring a library with it."""
    known = {package.partition(".")[0] for one in libraries().values() for package in one.packages}
    return not {one.partition(".")[0] for one in packages if one} <= {*known, *NO_LIBRARIES, *sys.stdlib_module_names}


@lru_cache(maxsize=256)
def packages_loaded_by(path: Path, source: str) -> tuple[str, ...]:
    """The packages of libraries that are loaded once a file is imported; none if it cannot be imported."""
    these = in_force()
    variables = variables_for(these.box_of(path) if these else None)
    usual = {**variables, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    words = [sys.executable, "-m", LISTER, str(path)]
    limits = time_limits()
    most = min(limits.compile, limits.left)
    try:
        pipe, none = subprocess.PIPE, subprocess.DEVNULL  # the file may print without end
        ran = subprocess.run(
            words, input=source.encode(), stdout=pipe, stderr=none, check=False, timeout=most, env=usual
        )
        known = {package for one in libraries().values() for package in one.packages}
        return tuple(one for one in json.loads(ran.stdout) if one in known)
    except (subprocess.TimeoutExpired, ValueError, TypeError):
        return ()  # the first call says what is wrong with it
