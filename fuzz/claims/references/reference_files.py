"""The files of a reference: the kernel's own, those beside it, and those that a claim names.

Knows a claim's key and folders; it runs no reference.
"""

import re
from dataclasses import replace
from pathlib import Path

from kfuzz.claims.language.front_matter import FrontMatter, KeyPath
from kfuzz.claims.language.python_text import read_text
from kfuzz.claims.language.reference import Reference
from kfuzz.claims.references.format import Placed
from kfuzz.claims.references.formats import formats, helpers, reference_names, title_of
from kfuzz.common.printable import shown_path

KEY: KeyPath = ("call", "reference")
BESIDE = ("reference.py", "ref.py")
"""Files beside a submission that may contain its reference."""
IN_A_FILE = re.compile(r"([^:]+?(?:\.py|/))(?::(\w+))?")
"""A reference in another file, or in a folder: `problem.py`, `problem.py:Model`, `task/`."""


def reference_of(front: FrontMatter, name: str | None) -> Reference:
    """The reference with this name, else the usual one in the file, else in a file beside it."""
    placed = None if name is None else place_reference(front, name)
    found = reference_in(front, *placed) if placed else reference_near(front, name)
    folders = tuple(folder for one in formats() for folder in one.folders(found.path)) if placed else ()
    files = tuple(file for one in formats() for file in one.files(found.path)) if placed else ()
    return replace(found, format=title_of(found), folders=folders, files=files)


def place_reference(front: FrontMatter, name: str) -> Placed | None:
    """The file of a reference, and its name there if one is given; None if it is a name in the kernel's own file."""
    for one in formats():
        if one.named and one.place and (named := one.named.fullmatch(name)):
            return one.place(front.path, named)
    if (file := IN_A_FILE.fullmatch(name)) is None:
        return None
    path = front.path.resolve().parent / file[1]
    if path.is_dir():
        path = next((path / one for one in BESIDE if (path / one).is_file()), path / BESIDE[0])
    return path, file[2]


def reference_near(front: FrontMatter, name: str | None) -> Reference:
    """The reference with this name, or the usual one, in the kernel's own file or in one beside it."""
    files = [(front.path, front.source)]
    for beside in BESIDE:
        path = front.path.resolve().parent / beside
        if path.is_file() and path != front.path.resolve():
            files.append((path, path.read_text(encoding="utf-8-sig")))
    for path, source in files:
        known = read_text(source).names
        for usual in reference_names() if name is None else (name,):
            if usual in known:
                return Reference(path, source, usual)
    usual = " or ".join(reference_names())
    wanted = f"no reference; one is called {usual}" if name is None else f"no {name} in the file"
    raise front.error(("op",) if name is None else KEY, f"{wanted}, or is in {BESIDE[0]} beside it")


def reference_in(front: FrontMatter, path: Path, name: str | None) -> Reference:
    """The reference with this name, the usual one, or the only one that there can be, in another file."""
    try:
        source = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise front.error(KEY, f"{shown_path(path)} cannot be read: {error.strerror}") from None
    known = read_text(source).names
    for usual in reference_names() if name is None else (name,):
        if usual in known:
            return Reference(path, source, usual)
    likely = likely_names(front, source) if name is None else ()
    if len(likely) == 1:
        return Reference(path, source, likely[0])
    missing = f"{shown_path(path)} has no {' or '.join(reference_names()) if name is None else name}"
    advice = f"; name one of its functions: {shown_path(path)}:{likely[0]}" if likely else ""
    raise front.error(KEY, missing + advice)


def likely_names(front: FrontMatter, source: str) -> tuple[str, ...]:
    """The functions of a file that may be a reference: those that the kernel's file has, too, else all."""
    text = replace(read_text(source), helpers=helpers())
    every = (*text.public, *text.objects)
    own = read_text(front.source) if front.path.suffix == ".py" else None
    return tuple(name for name in every if own and name in (*own.functions, *own.objects)) or every


def file_of_reference(reference: Path) -> Path:
    """The file of a reference as a command names it: without the function in it; of a folder the file there."""
    named = IN_A_FILE.fullmatch(str(reference))
    path = Path(named[1]) if named else reference
    return next((path / one for one in BESIDE if (path / one).is_file()), path)


def name_of_reference(reference: Path) -> str:
    """A reference as a claim names it: as a format does, or a file or folder by its whole path."""
    if is_of_a_format(str(reference)):
        return str(reference)
    return str(reference.resolve()) + "/" * reference.is_dir()


def is_of_a_format(reference: str) -> bool:
    """Whether a format of submissions has a name for this reference, which is no file then."""
    return any(one.named and one.named.fullmatch(reference) for one in formats())
