"""Which release of a Python library is installed. Knows packages and their distributions; it imports none."""

import importlib.util
import sys
from collections.abc import Iterator
from importlib import metadata

from kfuzz.devices.python.library import PythonLibrary


def installed_release(library: PythonLibrary) -> str:
    """A library's version; `of unknown version` if it does not state one, and empty if it is not installed."""
    top = library.packages[0].partition(".")[0]
    if importlib.util.find_spec(top) is None:
        return ""
    for name in distributions_of(top):
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return str(getattr(sys.modules.get(top), "__version__", "of unknown version"))


def distributions_of(package: str) -> Iterator[str]:
    """What a package may have come with, mostly a distribution of its name: to find another reads what all hold."""
    yield package
    yield from metadata.packages_distributions().get(package, ())
