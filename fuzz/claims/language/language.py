"""The language of a kernel file: all that differs between CUDA, Python and others that may come.

A language is one file of this room, with a `LANGUAGE`; `languages.py` knows them by the endings of their files. What a
room above does for a language lies there, in a table or a folder by the language's name.
"""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from kfuzz.devices.runners import LAUNCHER, Runner

if TYPE_CHECKING:  # each of these knows front matters, which have a language
    from kfuzz.claims.language.arguments import ClaimedArrays
    from kfuzz.claims.language.front_matter import FrontMatter
    from kfuzz.claims.language.keys import WrittenCall, WrittenClaim, WrittenHost
    from kfuzz.claims.language.launches import Launch
    from kfuzz.claims.language.reading import ClaimNames
    from kfuzz.claims.language.roles import Roles
    from kfuzz.oracle.op.op import Op


class Language(Protocol):
    """What kfuzz must know of a language, with defaults for what few languages have."""

    name: str
    """The name of its file in this room."""
    runner: Runner = LAUNCHER
    """What runs its jobs."""

    through: str = ""
    """What its text is before the cpu device runs it, as `Job.through` says."""

    mark: str
    """Begins a comment, and so each line of a claim."""
    mark_in_words: str
    """What one space follows: "slashes, not in /* */"."""
    foreign_keys: tuple[str, ...] = ()
    """Keys of claims in other languages, which this one does not know."""
    whole_claim: tuple[str, ...]
    """A claim in a file of its own is whole if it has one of these; otherwise it is a part for many files."""
    may_leave_out: tuple[str, ...] = ()
    """Keys that follow from the op and the text."""
    function_key: str
    """The table of a claim that names the function to call."""
    least_argument: int = 0
    """The least value of a tune parameter."""
    names_reference: bool = False
    """A claim may name the function that says what is right."""
    reads_other_files: bool = False
    """Other files, such as those that it imports, also decide what a claim means."""

    def how_to_claim(self, where: str) -> str:
        """What to do about a file without a claim."""

    def head(self, text: str) -> str:
        """The part of a text in which a claim may stand."""
        return text

    def of_text(self, source: str) -> "Language":
        """The language of a text, which may have been taken out of a file of this language."""
        return self

    def described_by(
        self, path: Path, source: str, values: Mapping[str, object], lines: tuple[int, int] | None
    ) -> tuple["Language", str]:
        """The text that a claim describes, and its language: the file's, or CUDA in the strings of Python."""
        return self, source

    def is_kernel(self, text: str) -> bool:
        """Whether a file with this text and no claim is one to fuzz."""
        return True

    def facts(self, source: str) -> Iterator[tuple[int, str, str]]:
        """Each place of a text that implies a value of [accuracy]: its offset, the key and the value."""
        return iter(())

    def constants(self, source: str, helpers: Collection[str]) -> tuple[list[str], set[int]]:
        """The texts in which a size may stand, and the whole numbers that are constants, outside of these functions."""
        return [source], set()

    def remembers(self, source: str) -> bool:
        """Whether the text shows that something outlives a call."""
        return False

    def builds_cuda(self, source: str) -> bool:
        """Whether a file has CUDA built while it runs."""
        return False

    def function_of(self, claim: "WrittenClaim") -> "WrittenCall | WrittenHost | None":
        """The table of the function that users call; None if a claim has kernels alone."""

    def fit_op(self, front: "FrontMatter", claim: "WrittenClaim", op: str) -> str:
        """The op over the arrays of a claim that names none."""
        return op

    def complete(
        self, front: "FrontMatter", claim: "WrittenClaim", roles: "Roles"
    ) -> tuple["FrontMatter", "WrittenClaim"]:
        """The claim with the keys that it leaves out."""
        return front, claim

    def read_launches(
        self, front: "FrontMatter", claim: "WrittenClaim", names: "ClaimNames", arrays: "ClaimedArrays", op: "Op"
    ) -> tuple["Launch", ...]:
        """The launches, or the call, of a claim."""
