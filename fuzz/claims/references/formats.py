"""The formats of submissions: the files in kfuzz.claims.references.submissions, and what is asked of all of them.

Knows names, paths and texts; never what is special about one format.
"""

import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path

from kfuzz.claims.language.python_text import PythonText, read_text
from kfuzz.claims.language.reference import Reference
from kfuzz.claims.references import submissions
from kfuzz.claims.references.format import Format
from kfuzz.common.text.cuda_in_python import has_cuda

OWN = "reference"
"""The name of a reference in files of your own."""


@cache
def formats() -> tuple[Format, ...]:
    """Every format, in the order in which they are asked."""
    modules = [
        import_module(f"{submissions.__name__}.{one.name}") for one in pkgutil.iter_modules(submissions.__path__)
    ]
    return tuple(sorted((module.FORMAT for module in modules), key=lambda one: one.rank))


@lru_cache(maxsize=256)
def read_submission(source: str) -> PythonText:
    """A Python file's text as the formats read it: the function that one of them calls, its objects and helpers."""
    text = read_text(source)
    beginnings = tuple(one.names.objects for one in formats() if one.names.objects)
    objects = {name: one for name, one in text.objects.items() if name.startswith(beginnings)}
    text = replace(text, functions={**text.functions, **objects}, helpers=helpers())
    return replace(text, usual=next(iter(entries_in(text)), ""))


def entries_in(text: PythonText) -> list[str]:
    """The functions of a file that have the name of a submission's, the likeliest first."""
    known = (*text.public, *text.assigned)
    endings = tuple(one.names.ending for one in formats() if one.names.ending)
    usual = [name for name in in_places(one.names.entries for one in formats()) if name in known]
    return usual or [name for name in text.functions if name.endswith(endings)]


def in_places(every: Iterable[Mapping[str, int]]) -> list[str]:
    """Names of all formats in their places."""
    places = {name: place for one in every for name, place in one.items()}
    return sorted(places, key=places.__getitem__)


@cache
def reference_names() -> tuple[str, ...]:
    """The usual names of a reference."""
    return (OWN, *in_places(one.names.references for one in formats()))


@cache
def helpers() -> frozenset[str]:
    """Functions of a file that are part of a problem, and that no caller wants."""
    return frozenset((OWN, *(name for one in formats() for name in one.names.helpers)))


def is_object(entry: str) -> bool:
    """Whether a name is that of a class whose `forward` is called."""
    return any(one.names.objects and entry.startswith(one.names.objects) for one in formats())


def is_submission(path: Path, text: str) -> bool:
    """Whether a kernel file is a submission, or passes CUDA to load_inline."""
    return any(one.recognises(path, text) for one in formats()) or has_cuda(text)


def unpack(path: Path) -> Path | None:
    """The kernel file of a submission that is none itself, unpacked; None if no format recognises it."""
    if not path.is_file():
        return None
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # the format that it belongs to by its name says so
        text = ""
    found = (one.unpack for one in formats() if one.unpack and one.recognises(path, text))
    return next((unpack_it(path) for unpack_it in found), None)


def solved_by(targets: Sequence[str]) -> str:
    """The reference that all these targets have by their place, as a claim names it; empty if they do not say so."""
    every = ({one.solves(Path(target)) for target in targets} for one in formats())
    return next((found.pop() for found in every if len(found) == 1 and "" not in found), "")


def texts_beside(reference: Path) -> dict[str, str]:
    """The texts of the files beside a reference that give arguments; empty where there is no such file."""
    names = {key: name for one in formats() for key, name in one.beside(reference).items()}
    beside = {key: reference.resolve().with_name(name) for key, name in names.items()}
    return {key: one.read_text(encoding="utf-8") if one.is_file() else "" for key, one in beside.items()}


def title_of(reference: Reference) -> str:
    """The title of the format whose problem a reference is; empty if it is of none."""
    return next((one.title for one in formats() if one.poses(reference)), "")


def help_of_references() -> str:
    """What `--reference` takes, in a sentence: first the problems that are files, then those that are named."""
    files = ", or ".join(one.help for one in formats() if one.help and not one.named)
    return "; ".join((files, *(one.help for one in formats() if one.help and one.named)))
