"""The words of the command line that a shell can complete: files, kernels, ops and kinds.

Knows click's parameter types; never what a command does with a word.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar

import click
from click.shell_completion import CompletionItem

from kfuzz.claims.kernel import KERNELS, kernel_files, name_of
from kfuzz.claims.language.languages import ENDINGS
from kfuzz.kinds import KINDS
from kfuzz.oracle.judging.find_op import op_names, other_names


class Word(click.ParamType[str]):
    """A text, of which the shell knows the usual values; where none begins so, it completes files."""

    name = "text"
    endings: ClassVar[tuple[str, ...]] = ()
    """Files of this folder with these endings are offered beside the values."""

    def values(self) -> Iterable[str]:
        """The usual values."""
        return ()

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The values and files that begin with these letters."""
        known = [one for one in self.values() if one.startswith(incomplete)]
        if not known:
            return [CompletionItem(incomplete, type="file")]
        return [CompletionItem(one) for one in dict.fromkeys((*self._files(incomplete), *known))]

    def _files(self, incomplete: str) -> Iterator[str]:
        found = sorted(path for path in Path().iterdir() if path.suffix in self.endings or path.is_dir())
        names = (f"{path}/" if path.is_dir() else str(path) for path in found if self.endings)
        yield from (name for name in names if name.startswith(incomplete) and not name.startswith("."))


class TargetWord(Word):
    """The name of a kernel that comes with kfuzz, or a file of kernels."""

    endings = ENDINGS

    def values(self) -> Iterable[str]:
        return map(name_of, kernel_files(KERNELS))


class OpWord(Word):
    """The name of an op, or a file with one."""

    endings = (".py",)

    def values(self) -> Iterable[str]:
        return (*op_names(), *other_names())


class KindWord(Word):
    """A kind of findings."""

    def values(self) -> Iterable[str]:
        return KINDS


TARGET, OP, KIND, FILE_NAME = TargetWord(), OpWord(), KindWord(), Word()
