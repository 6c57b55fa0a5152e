"""A campaign: trials of many kernels, round by round, going on after each failure, until time or trials run out.

    result = run_campaign(kernels, CpuDevice, Options(seed=7, max_cases=1000), print)

With `max_cases` the result is a function of kernels and seed, whatever the number of jobs and however often it was
interrupted and resumed (but for seconds). Every defect is on disk before it is told. Knows what a campaign keeps of
its trials; never how a trial is run or how a result is shown.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from kfuzz.campaign.children import MakeDevice
from kfuzz.campaign.crew import BlockEnd, Orders, Sight, Step, alone, together
from kfuzz.campaign.schedule import Block, quotas, rounds
from kfuzz.campaign.state import Discovery, Progress, read_state, write_state
from kfuzz.cases import corpus
from kfuzz.cases.case import Case, CaseError, Origin, Record
from kfuzz.claims.kernel import Kernel
from kfuzz.search.plan import BUDGET

StopReason = Literal["max-cases", "max-time", "interrupted", "no kernel can go on"]
MOST_BUCKETS = 16
"""A kernel with so many different errors has had its share of attention."""
SAVE_SECONDS = 1.0


@dataclass(frozen=True)
class Options:
    """What a campaign is asked for. Without `max_cases` and `max_time` it goes on until it is interrupted.

    `corpus`: where cases that fail are kept. `out`: where the campaign keeps its state, to be resumed from.
    `known`: buckets that are no news (a baseline).
    """

    seed: int = 0
    jobs: int = 1
    max_cases: int | None = None
    max_time: float | None = None
    runs: int = 3
    timeout: float = 3.0
    budget: int = BUDGET
    corpus: Path | None = None
    out: Path | None = None
    known: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Tried:
    """Event: one more trial. `total` counts them all; `seconds` says where its time went."""

    kernel: str
    index: int
    rows: int
    elements: int
    ratio: float
    total: int
    seconds: dict[str, float]


@dataclass(frozen=True)
class Found:
    """Event: a bucket that was not there before; its case is on disk already, where there is a corpus."""

    discovery: Discovery


@dataclass(frozen=True)
class GaveUp:
    """Event: a kernel is not tried further, and why."""

    kernel: str
    why: str


Event = Tried | Found | GaveUp
Listen = Callable[[Event], None]


@dataclass(frozen=True)
class KernelResult:
    """What a campaign found of one kernel."""

    kernel: Kernel
    progress: Progress

    @property
    def discoveries(self) -> tuple[Discovery, ...]:
        """What was found; of what is an error in some trials and a warning in others, the error."""
        every = self.progress.discoveries.values()
        return tuple(one for one in every if one.severity == "error" or not self.progress.is_error(one.fault))


@dataclass(frozen=True)
class Result:
    """What came of a campaign; equal campaigns give equal results but for `seconds`."""

    seed: int
    stop_reason: StopReason
    kernels: tuple[KernelResult, ...]
    seconds: float

    @property
    def trials(self) -> int:
        return sum(result.progress.trials for result in self.kernels)

    @property
    def rows(self) -> int:
        return sum(result.progress.rows for result in self.kernels)

    @property
    def news(self) -> tuple[Discovery, ...]:
        """The errors that no baseline knew."""
        every = (discovery for result in self.kernels for discovery in result.discoveries)
        return tuple(one for one in every if one.severity == "error" and not one.is_known)


def ignore(_: Event) -> None:
    """A listener that does not."""


def run_campaign(
    kernels: Sequence[Kernel], make_device: MakeDevice, options: Options, listen: Listen = ignore
) -> Result:
    """Search until time or trials run out; Ctrl-C ends it and loses nothing. Raises DeviceError and CaseError."""
    began = time.monotonic()
    campaign = _Campaign(tuple(kernels), options, listen)
    deadline = None if options.max_time is None else began + options.max_time
    orders = Orders(campaign.kernels, options.seed, options.runs, options.timeout, options.budget, deadline)
    blocks = campaign.blocks()
    steps = (
        alone(orders, make_device, blocks) if options.jobs == 1 else together(orders, make_device, blocks, options.jobs)
    )
    stop: StopReason = "max-cases"
    try:
        for item in steps:
            if isinstance(item, Step):
                campaign.take(item)
            else:
                campaign.end(item)
                if item.why == "time":
                    stop = "max-time"
                    break
        else:
            stop = "max-cases" if campaign.is_complete() else "no kernel can go on"
    except KeyboardInterrupt:
        stop = "interrupted"
    finally:
        steps.close()
        campaign.save()
    results = tuple(map(KernelResult, campaign.kernels, campaign.progress))
    return Result(options.seed, stop, results, time.monotonic() - began)


@dataclass
class _Campaign:
    """What a campaign knows so far, and what it does with a step."""

    kernels: tuple[Kernel, ...]
    options: Options
    listen: Listen
    progress: list[Progress] = field(init=False)
    saved: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self.progress = read_state(self.options.out, self.options.seed, self.kernels)
        self.given = quotas(len(self.kernels), self.options.max_cases)

    def blocks(self) -> Iterator[Block]:
        """What is still to be done, in order; kernels that were given up since are left out."""
        for blocks in rounds(self.given):
            if all(progress.retired for progress in self.progress):
                return
            for block in blocks:
                progress = self.progress[block.kernel]
                if block.last > progress.next and not progress.retired:
                    yield replace(block, first=max(block.first, progress.next))

    def is_complete(self) -> bool:
        done = zip(self.progress, self.given, strict=True)
        return all(most is not None and progress.next >= most for progress, most in done)

    def take(self, step: Step) -> None:
        """Count a trial and keep what it found."""
        kernel, progress = self.kernels[step.kernel], self.progress[step.kernel]
        if progress.retired:
            return
        for sight in step.sights:
            self._see(kernel, progress, step, sight)
        progress.next = step.index + 1
        progress.trials += 1
        progress.rows += step.rows
        progress.elements += step.elements
        progress.worst_ratio = max(progress.worst_ratio, step.ratio)
        progress.reasons.update(step.reasons)
        for key, words in step.silences.items():
            progress.silences[key] = [word for word in progress.silences.get(key, words) if word in words]
        for part, seconds in step.seconds.items():
            progress.seconds[part] = progress.seconds.get(part, 0.0) + seconds
        total = sum(one.trials for one in self.progress)
        self.listen(Tried(kernel.name, step.index, step.rows, step.elements, step.ratio, total, dict(step.seconds)))
        if sum(one.severity == "error" for one in progress.discoveries.values()) >= MOST_BUCKETS:
            self._retire(kernel, progress, f"{MOST_BUCKETS} different errors are enough")
        if time.monotonic() - self.saved > SAVE_SECONDS:
            self.save()

    def end(self, item: BlockEnd) -> None:
        """Note why a block came to an early end."""
        progress = self.progress[item.block.kernel]
        if item.why == "claim":
            progress.error = item.message
        if item.why in ("claim", "hang") and not progress.retired:
            self._retire(self.kernels[item.block.kernel], progress, item.message)

    def save(self) -> None:
        self.saved = time.monotonic()
        write_state(self.options.out, self.options.seed, self.kernels, self.progress)

    def _retire(self, kernel: Kernel, progress: Progress, why: str) -> None:
        progress.retired = why
        self.listen(GaveUp(kernel.name, why))

    def _see(self, kernel: Kernel, progress: Progress, step: Step, sight: Sight) -> None:
        """Keep a new bucket, or a smaller case of an old one; on disk first, then told."""
        old = progress.discoveries.get(sight.bucket)
        if sight.severity == "warning" and progress.is_error(sight.fault):
            return
        if old is not None and (sight.case is None or sight.case.elements >= old.elements):
            progress.discoveries[sight.bucket] = replace(old, count=old.count + 1)
            return
        if sight.case is None:  # a resumed process of the crew knows more than this one: cannot be
            return
        is_known = sight.bucket in self.options.known
        path, trouble = None, None
        if sight.severity == "error" and not is_known:
            try:
                path = self._keep(kernel, step, sight, sight.case)
            except CaseError as error:  # what cannot be kept is told all the same
                trouble = error
        discovery = Discovery(
            bucket=sight.bucket,
            fault=sight.fault,
            kind=sight.kind,
            diagnosis=sight.diagnosis,
            severity=sight.severity,
            message=sight.message,
            line=sight.line,
            region=sight.region,
            first_trial=step.index if old is None else old.first_trial,
            count=1 if old is None else old.count + 1,
            elements=sight.case.elements,
            axes=dict(step.axes),
            tune=dict(step.tune),
            check=step.check,
            evidence=dict(sight.evidence),
            is_known=is_known,
            path=path,
        )
        progress.discoveries[sight.bucket] = discovery
        if trouble:
            self.listen(Found(discovery))
            raise trouble
        if old is None:
            try:
                self.save()
            finally:  # its case is kept, whatever becomes of the state
                self.listen(Found(discovery))

    def _keep(self, kernel: Kernel, step: Step, sight: Sight, case: Case) -> Path | None:
        """Keep the case of an error in the corpus, where there is one; the path of what stays there."""
        if self.options.corpus is None:
            return None
        origin = Origin(
            kernel=kernel.name,
            bucket=sight.bucket,
            kind=sight.kind,
            message=sight.message,
            device=step.device,
            tune=dict(step.tune),
            check=step.check,
            runs=self.options.runs,
            seed=step.probe_seed,
        )
        return corpus.save(self.options.corpus, Record(case, origin))
