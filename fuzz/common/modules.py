"""Finds the module of `mypkg.softmax:forward` as `import` would find it, without importing it.

Knows Python's import path; never the content of a module.
"""

import re
import sys
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path

from kfuzz.common.errors import TargetError

NAME = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
TARGET = re.compile(rf"({NAME}):({NAME})")


@dataclass(frozen=True)
class NamedCallable:
    """A callable by its module and its name there, and the module's text; empty if that is not Python."""

    module: str
    name: str
    text: str


def is_callable(target: str) -> bool:
    """Whether a target is written `module:name`."""
    return TARGET.fullmatch(target) is not None


def find_callable(target: str) -> NamedCallable:
    """The module of a target and its text; a TargetError if there is no such module."""
    match = TARGET.fullmatch(target)
    assert match, "is_callable says so"
    module, name = match.groups()
    spec = spec_of(module)
    if spec is None and module.endswith(".py") and Path(module).is_file():  # as pytest and uvicorn users write it
        module = module.removesuffix(".py")
        spec = spec_of(module)
    if spec is None:
        raise TargetError(f"{target}: there is no module {module} here or on Python's path; is its package installed?")
    origin = Path(spec.origin or "")
    is_text = origin.suffix == ".py" and origin.is_file()
    return NamedCallable(module, name, origin.read_text(encoding="utf-8-sig") if is_text else "")


def spec_of(module: str) -> ModuleSpec | None:
    """What the import system knows about a module, package by package; it runs none of them."""
    places: list[str] | None = [str(Path.cwd()), *sys.path]
    spec: ModuleSpec | None = None
    so_far = ""
    for part in module.split("."):
        if places is None:
            return None
        so_far = f"{so_far}.{part}".lstrip(".")
        every = (finder.find_spec(so_far, places) for finder in sys.meta_path if hasattr(finder, "find_spec"))
        spec = next((one for one in every if one is not None), None)
        if spec is None:
            return None
        locations = spec.submodule_search_locations
        places = None if locations is None else list(locations)
    return spec
