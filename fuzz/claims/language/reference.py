"""A reference: the torch function that says what is right, in the problem that a submission solves or in your own file.

Knows its text, and how its op is named; never how it becomes an op.
"""

from dataclasses import dataclass
from pathlib import Path

from kfuzz.oracle.op.backward import PREFIX

OP = "reference"
BY_REFERENCE = f"{OP} "
"""The prefix of the name of an op made from a reference; the name of the kernel's file follows."""


@dataclass(frozen=True)
class Reference:
    """A reference by its name, in a file with this text.

    `format`: the title of the format of submissions whose problem it is; empty if it is of none. `folders`: those of
    the problem's files, which a submission may import; `files`: these, as far as the problem names them.
    `overwrites`: the inputs that it changes on its way and returns. `shares`: the outputs that lie in an input's
    memory. `doubles`: those in float64. `numbers`: those without a dimension, if dimensions of 1 matter. `kept`:
    lines that say which inputs, or which of their numbers, are as its get_inputs makes them. `question`: what the
    process of the module `server` is asked, as JSON, for what get_inputs makes.
    """

    path: Path
    source: str
    name: str
    format: str = ""
    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    overwrites: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()
    doubles: tuple[str, ...] = ()
    numbers: tuple[str, ...] | None = None
    kept: str = ""
    server: str = ""
    question: str = ""


def name_in_case(op: str, reference: Reference | None = None) -> str:
    """An op as a case names it: an op in a file by the file's name, wherever it lies."""
    if not op.endswith(".py"):
        return op
    before, file = PREFIX * op.startswith(PREFIX), Path(op.removeprefix(PREFIX))
    return before + (f"{BY_REFERENCE}{file.stem}" if reference else file.name)


def shown_op(op: str, reference: Reference | None = None) -> str:
    """An op as the reader sees it: one made from a reference shows neither the file of its formula nor the kernel's."""
    before, rest = PREFIX * op.startswith(PREFIX), op.removeprefix(PREFIX)
    return before + OP if reference or rest.startswith(BY_REFERENCE) else op
