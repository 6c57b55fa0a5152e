"""What a format of submissions is: how kfuzz recognises one, unpacks it, and finds its function and its problem.

One file in submissions/ describes one format; kfuzz.claims.references.formats lists them. Knows claims as typed data.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kfuzz.claims.language.front_matter import FrontMatter
from kfuzz.claims.language.keys import WrittenClaim
from kfuzz.claims.language.reference import Reference

TracerAnswer = Mapping[str, Any]
"""What the process that describes a reference says of it."""
Placed = tuple[Path, str | None]
"""The file of a reference, and its name there if one is given."""


@dataclass(frozen=True)
class FormatNames:
    """Names that a format gives to the functions and classes of a Python file.

    `entries`: the function of a submission, each with its place among those of all formats, should a file have several.
    `ending`: how the name of such a function ends. `references`: the function that says what is right, with places
    likewise. `helpers`: functions of a problem that no caller wants. `objects`: how the names of classes begin whose
    `forward` is called.
    """

    entries: Mapping[str, int] = field(default_factory=dict)
    ending: str = ""
    references: Mapping[str, int] = field(default_factory=dict)
    helpers: tuple[str, ...] = ()
    objects: str = ""


@dataclass(frozen=True)
class Format:
    """A format of submissions. Whatever a format does not say is as for any other file."""

    title: str
    rank: int = 0
    """Where several formats recognise something, the one with the lowest rank counts."""
    names: FormatNames = field(default_factory=FormatNames)
    recognises: Callable[[Path, str], bool] = lambda _, __: False
    """Whether a file with this text is a submission."""
    unpack: Callable[[Path], Path] | None = None
    """Write a submission that is no kernel file into the cache: the kernel file, with its claim."""
    solves: Callable[[Path], str] = lambda _: ""
    """The reference that a target has by its place, as a claim names it; empty if it does not say so."""
    named: re.Pattern[str] | None = None
    """How a claim names a reference that is in no file."""
    place: Callable[[Path, re.Match[str]], Placed] | None = None
    """Write the reference that is named so, for a kernel file, into the cache."""
    poses: Callable[[Reference], bool] = lambda _: False
    """Whether a reference is a problem of this format."""
    compares_shapes: bool = False
    """Whether its own test does; elsewhere dimensions of 1 do not matter."""
    beside: Callable[[Path], Mapping[str, str]] = lambda _: {}
    """The names of files beside a reference that give arguments, by what the process calls them that describes it."""
    folders: Callable[[Path], tuple[str, ...]] = lambda _: ()
    """The folders of a reference's problem, which a submission may import."""
    files: Callable[[Path], tuple[str, ...]] = lambda _: ()
    """The files in them that the problem names."""
    complete: Callable[[FrontMatter, WrittenClaim, TracerAnswer], WrittenClaim] = lambda _, claim, __: claim
    """The claim with what the problem says of it."""
    why_not_cuda: Callable[[TracerAnswer], str] = lambda _: ""
    """Why CUDA cannot solve a problem; empty if it can."""
    help: str = ""
    """Its problems, in the words of `--reference`."""
