"""A defect: one thing that is wrong with a kernel, with all the evidence there is; made once, where a trial is judged.

Campaigns, replays and reports hold it as it is. Knows what devices and the oracle say; never what is made of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kfuzz.claims.front_matter import shown_path
from kfuzz.devices import Finding
from kfuzz.kinds import Kind, Severity
from kfuzz.oracle.verdict import Extent, Picture, Worst

WRONG, WRONG_BEYOND = "wrong answers", "wrong answers where there are infinities or NaN"
"""What answers come of, while no more is known; a kernel that gives the first gives the second, too."""

TITLES = ("BROKEN", "BROKEN", "BROKEN", "UNDEFINED", "UNDEFINED", "NARROW")
"""By rank."""


def cause_of(kernel: str, name: str) -> str:
    """A cause of a kernel's defects."""
    return f"{kernel}: {name}"


def is_finite(kernel: str, causes: Sequence[str]) -> bool:
    """Whether what has these causes shows with numbers alone, as far as that is known."""
    return causes[0] != cause_of(kernel, WRONG_BEYOND)


@dataclass(frozen=True)
class Scene:
    """Where a defect was seen: the kernel and its file, the case in words and in numbers, the launch, the probe.

    `said`: the options by which the kernel has its claim, where that does not stand in its file.
    """

    kernel: str
    path: str
    words: str
    elements: int
    axes: Mapping[str, int]
    tune: Mapping[str, int]
    check: bool
    said: str = ""


@dataclass(frozen=True)
class Defect:
    """What is wrong, by the device (`finding`) or by the oracle (`worst` and `extent`), and its bucket.

    `bucket` is the same for what looks alike: kernel, kind, diagnosis or the text of the line, and the shape of the
    error. `fault` is the coarser part of it: without the shape, which changes when a case is made smaller, and the same
    for an error and a warning. `causes`: what it may come of, the first above all; two defects with one in common are
    taken for one bug. `ratio`: how many times
    the bound the worst element is off, where both it and the right answer are numbers. `line` is of the kernel file, or
    of the header that `header` names.
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
    finding: Finding | None = None
    worst: Worst | None = None
    extent: Extent | None = None
    picture: Picture | None = None
    ratio: float | None = None
    causes: tuple[str, ...] = ()
    rank: int = 0
    """Beside the shape that a host function was written for: the lower, the graver; 0 where that is not known."""
    standing: str = ""
    """What the rank is told by."""

    @property
    def title(self) -> str:
        """The word in front of it."""
        return "WARNING" if self.severity == "warning" and not self.rank else TITLES[self.rank]

    @property
    def sign(self) -> str:
        """The bucket without the kernel's name: what the defect looks like."""
        return self.bucket.removeprefix(f"{self.scene.kernel}: ")

    @property
    def is_placed(self) -> bool:
        """Whether the device has named the line of what is wrong; the line that a wrong answer is stored by is none."""
        return self.finding is not None and self.finding.line is not None

    @property
    def is_finite(self) -> bool:
        """Whether it shows with numbers alone, as far as that is known."""
        return is_finite(self.scene.kernel, self.causes)

    def is_among(self, known: frozenset[str]) -> bool:
        """Whether it is one of these buckets, or comes of one of these causes."""
        causes = self.causes if self.is_placed else self.causes[:1]
        return not known.isdisjoint([self.bucket, *causes])

    @property
    def file(self) -> str:
        """The header that `line` is in, else the kernel's file; one of ours by its name, wherever it is installed."""
        return self._shown(self.header)

    @property
    def other_file(self) -> str:
        """The same of the line that this one goes with."""
        return self._shown(self.finding.other_file if self.finding else "")

    def _shown(self, header: str) -> str:
        if header:
            return shown_path(Path(header))
        ending = Path(self.scene.path).suffix
        ours = Path(self.scene.path).is_absolute() and self.scene.path.endswith(f"/{self.scene.kernel}{ending}")
        return f"{self.scene.kernel}{ending}" if ours else self.scene.path

    @property
    def where(self) -> str:
        """The file, and the line where one is known."""
        return f"{self.file}:{self.line}" if self.line else self.file
