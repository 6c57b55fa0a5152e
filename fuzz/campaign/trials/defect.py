"""A defect: one thing that is wrong with a kernel, with all its evidence. It is made once, when a trial is judged.

Campaigns, replays and reports keep it unchanged. Knows findings and verdicts; it knows no output format.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kfuzz.common.printable import shown_path
from kfuzz.devices import Finding
from kfuzz.kinds import Kind, Severity
from kfuzz.oracle.numbers.verdict import Extent, Picture, Worst

WRONG, WRONG_BEYOND = "wrong answers", "wrong answers where there are infinities or NaN"
"""The causes of wrong answers of which no more is known; a kernel with the first also has the second."""

TITLES = ("BROKEN", "BROKEN", "BROKEN", "UNDEFINED", "UNDEFINED", "NARROW")
"""By rank."""


WARNING_MARK = " (warning)"
"""Distinguishes the bucket of a warning from that of an error with the same fault."""


def plain_bucket(bucket: str) -> str:
    """The bucket for a view that says beside it that it is a warning."""
    return bucket.replace(WARNING_MARK, "", 1)


def cause_of(kernel: str, name: str) -> str:
    """A cause of a kernel's defects."""
    return f"{kernel}: {name}"


def occurs_for_finite(kernel: str, causes: Sequence[str]) -> bool:
    """Whether a defect with these causes occurs for finite inputs, as far as that is known."""
    return causes[0] != cause_of(kernel, WRONG_BEYOND)


@dataclass(frozen=True)
class Scene:
    """Where a defect occurred: the kernel and its file, the case in words and in numbers, the launch, the probe.

    `said`: the options that give the kernel its claim, if its file has none.
    """

    kernel: str
    path: str
    words: str
    elements: int
    axes: Mapping[str, int]
    tune: Mapping[str, int]
    check: bool
    said: str = ""


@dataclass(frozen=True, repr=False)
class Defect:
    """What is wrong, by the device (`finding`) or by the oracle (`worst` and `extent`), and its bucket.

    `bucket` is the same for what looks alike: kernel, kind, diagnosis or the text of the line, and the shape of the
    error. `fault` is the bucket without the shape, which changes when a case is made smaller; an error and a warning
    of the same bug have the same fault. `causes`: possible causes, the likeliest first; two defects with a common
    cause count as one bug.
    `ratio`: the error of the worst element in units of the bound, if it and the right answer are numbers and it lies
    outside its own interval. `line` is a
    line of the kernel file, or of the header that `header` names.
    """

    scene: Scene
    kind: Kind
    severity: Severity
    bucket: str
    fault: str
    message: str
    diagnosis: str = ""
    detail: str = ""
    region: str = ""
    header: str = ""
    line: int | None = None
    run: str = ""
    """The run that shows it."""
    right_run: str = ""
    """A run of the same case whose answer is right, if there is one."""
    multiprocessors: int = 0
    """Only a GPU of this many multiprocessors shows it; 0: not known to depend on the GPU."""
    finding: Finding | None = None
    worst: Worst | None = None
    extent: Extent | None = None
    picture: Picture | None = None
    ratio: float | None = None
    is_joint: bool = False
    """Each element lies in its own interval, but no right computation gives all of them together."""
    causes: tuple[str, ...] = ()
    silenced: str = ""
    """The reason that a comment on its line gives for silencing it."""
    rank: int = 0
    """How grave the defect is beside the shape that a host function was written for, 1 the gravest; 0 if unknown."""
    standing: str = ""
    """The reason for the rank, in words."""

    def __repr__(self) -> str:
        return f"<{self.title} {plain_bucket(self.bucket)}, {self.where}>"

    @property
    def title(self) -> str:
        """The word in front of the bucket."""
        return "WARNING" if self.severity == "warning" and not self.rank else TITLES[self.rank]

    @property
    def is_at_home(self) -> bool:
        """Whether it was seen at the sizes that its callable was written for, whatever those of the scene are."""
        return self.finding is not None and self.finding.is_at_home

    @property
    def sign(self) -> str:
        """The bucket without the kernel's name: what the defect looks like."""
        return self.bucket.removeprefix(f"{self.scene.kernel}: ")

    @property
    def is_placed(self) -> bool:
        """Whether the device named the line of the error; the line that stores a wrong answer does not count."""
        return self.finding is not None and self.finding.line is not None

    @property
    def is_finite(self) -> bool:
        """Whether it occurs for finite inputs, as far as that is known."""
        return occurs_for_finite(self.scene.kernel, self.causes)

    def is_among(self, known: frozenset[str]) -> bool:
        """Whether its bucket or one of its causes is in this set."""
        causes = self.causes if self.is_placed else self.causes[:1]
        return not known.isdisjoint([self.bucket, *causes])

    @property
    def file(self) -> str:
        """The file that `line` is in: the header or the kernel's file; for a kernel of kfuzz, its name."""
        return self._path_of(self.header)

    @property
    def other_file(self) -> str:
        """The file of the other line of a pair."""
        return self._path_of(self.finding.other_file if self.finding else "")

    @property
    def other_line(self) -> int | None:
        """The other line of a pair."""
        return self.finding.other_line if self.finding else None

    def _path_of(self, header: str) -> str:
        if header:
            return shown_path(Path(header))
        ending = Path(self.scene.path).suffix
        ours = Path(self.scene.path).is_absolute() and self.scene.path.endswith(f"/{self.scene.kernel}{ending}")
        return f"{self.scene.kernel}{ending}" if ours else self.scene.path

    @property
    def where(self) -> str:
        """The file, and the line if it is known."""
        return f"{self.file}:{self.line}" if self.line else self.file
