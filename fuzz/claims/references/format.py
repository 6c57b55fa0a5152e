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
"""What the process that traces a reference says of it."""
Placed = tuple[Path, str | None]
"""The file of a reference, and its name there if one is given."""


@dataclass(frozen=True)
class Names:
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


def recognise_nothing(path: Path, text: str) -> bool:
    """Of a format whose submissions look like any other file."""
    return False


def solve_nothing(target: Path) -> str:
    """Of a format whose targets do not say which problem they solve."""
    return ""


def pose_nothing(reference: Reference) -> bool:
    """Of a format whose problems look like any other file."""
    return False


def find_nothing(reference: Path) -> Mapping[str, str]:
    """Of a format whose problems are a single file."""
    return {}


def open_nothing(reference: Path) -> tuple[str, ...]:
    """Of a format whose submissions import no file of the problem."""
    return ()


def leave_as_it_is(front: FrontMatter, claim: WrittenClaim, answer: TracerAnswer) -> WrittenClaim:
    """Of a format whose problems say nothing that the tracer does not."""
    return claim


def take_cuda(answer: TracerAnswer) -> str:
    """Of a format whose problems may be solved in CUDA."""
    return ""


@dataclass(frozen=True)
class Format:
    """A format of submissions. Whatever a format does not say is as for any other file."""

    title: str
    rank: int = 0
    """Where several formats recognise something, the one with the lowest rank counts."""
    names: Names = field(default_factory=Names)
    recognises: Callable[[Path, str], bool] = recognise_nothing
    """Whether a file with this text is a submission."""
    unpack: Callable[[Path], Path] | None = None
    """Write a submission that is no kernel file into the cache: the kernel file, with its claim."""
    solves: Callable[[Path], str] = solve_nothing
    """The reference that a target has by its place, as a claim names it; empty if it does not say so."""
    named: re.Pattern[str] | None = None
    """How a claim names a reference that is in no file."""
    place: Callable[[Path, re.Match[str]], Placed] | None = None
    """Write the reference that is named so, for a kernel file, into the cache."""
    poses: Callable[[Reference], bool] = pose_nothing
    """Whether a reference is a problem of this format."""
    beside: Callable[[Path], Mapping[str, str]] = find_nothing
    """The names of files beside a reference that give arguments, by what the tracer calls them."""
    folders: Callable[[Path], tuple[str, ...]] = open_nothing
    """The folders of a reference's problem, which a submission may import."""
    complete: Callable[[FrontMatter, WrittenClaim, TracerAnswer], WrittenClaim] = leave_as_it_is
    """The claim with what the problem says of it."""
    why_not_cuda: Callable[[TracerAnswer], str] = take_cuda
    """Why CUDA cannot solve a problem; empty if it can."""
    help: str = ""
    """Its problems, in the words of `--reference`."""
