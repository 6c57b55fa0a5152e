"""The result of a campaign, kernel by kernel. Knows progress and bugs; never how trials are run."""

from dataclasses import dataclass
from typing import Literal

from kfuzz.campaign.bugs import Bug, bugs_of
from kfuzz.campaign.schedule import WHOLE, Shard
from kfuzz.campaign.state import Discovery, Progress
from kfuzz.claims.kernel import Kernel
from kfuzz.kinds import Severity, fails_run
from kfuzz.oracle.numbers.plural import plural

FEW_TRIALS = 16
"""Fewer trials of a kernel may all be so hostile that nothing is judged; that says nothing about the kernel."""
StopReason = Literal["max-cases", "max-time", "first-finding", "interrupted", "no kernel can go on"]


@dataclass(frozen=True)
class KernelResult:
    """The result of a campaign for one kernel."""

    kernel: Kernel
    progress: Progress

    @property
    def discoveries(self) -> tuple[Discovery, ...]:
        """All discoveries: errors before warnings, new ones before known ones, early ones before late ones."""
        return tuple(sorted((one for bug in self.bugs for one in bug.every), key=_importance))

    @property
    def bugs(self) -> tuple[Bug, ...]:
        """The discoveries by cause; if a fault is an error in some trials and a warning in others, only the error."""
        every = [one for one in self.progress.discoveries.values() if not one.defect.silenced]
        return bugs_of(one for one in every if one.is_error or not self.progress.is_error(one.defect.fault))

    @property
    def silenced(self) -> tuple[Discovery, ...]:
        """The discoveries that a comment in the source silences."""
        return tuple(one for one in self.progress.discoveries.values() if one.defect.silenced)

    @property
    def news(self) -> tuple[Bug, ...]:
        """The errors that no baseline knows."""
        return self.failing("error")

    def failing(self, fail_on: Severity) -> tuple[Bug, ...]:
        """The bugs that no baseline knows and that are grave enough to fail the run."""
        return tuple(bug for bug in self.bugs if fails_run(bug.headline.defect.severity, fail_on) and not bug.is_known)

    @property
    def is_judged(self) -> bool:
        """Whether anything is known about the kernel: a judged answer, or an error."""
        return bool(self.progress.elements) or any(one.is_error for one in self.discoveries)

    @property
    def could_not(self) -> bool:
        """Whether the kernel could not be run or not be judged."""
        return bool(self.progress.error or (self.unjudged and not self.is_hardly_tried))

    @property
    def is_hardly_tried(self) -> bool:
        """Whether nothing was judged because the values of a few trials were all too hostile for that."""
        progress = self.progress
        has_others = self.discoveries or progress.refusals or progress.untried
        return not self.is_judged and 0 < progress.trials < FEW_TRIALS and bool(progress.reasons) and not has_others

    @property
    def unjudged(self) -> str:
        """Why nothing is known about a kernel that was tried, in one line; empty if something is."""
        progress = self.progress
        if self.is_judged or not progress.trials:
            return ""
        messages = (one.defect.message for one in self.discoveries)
        why = "; ".join(dict.fromkeys([*progress.not_judged, *messages]))
        return f"no answer of its {plural(progress.trials, 'trial')} was judged" + (f": {why}" if why else "")


def _importance(one: Discovery) -> tuple[bool, bool, int, str]:
    return not one.is_error, one.is_known, one.first_trial, one.defect.bucket


@dataclass(frozen=True)
class Result:
    """The result of a campaign; equal campaigns give equal results, except for `seconds`."""

    seed: int
    stop_reason: StopReason
    kernels: tuple[KernelResult, ...]
    seconds: float
    shard: Shard = WHOLE

    @property
    def trials(self) -> int:
        return sum(result.progress.trials for result in self.kernels)

    @property
    def rows(self) -> int:
        return sum(result.progress.rows for result in self.kernels)

    @property
    def unjudged_rows(self) -> int:
        """How many of the rows were not judged; parts of rows add up."""
        return sum(result.progress.unjudged_rows for result in self.kernels)

    @property
    def news(self) -> tuple[Bug, ...]:
        """The errors that no baseline knows."""
        return tuple(one for result in self.kernels for one in result.news)
