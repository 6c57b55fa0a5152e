"""A campaign: trials of many kernels, round by round, going on after each failure, until time or trials run out.

    result = run_campaign(kernels, CpuDevice, Options(seed=7, max_cases=1000), print)

With `max_cases` the result is a function of kernels and seed, whatever the number of jobs and however often it was
interrupted and resumed (but for seconds). Every defect is on disk before it is told. Knows what a campaign keeps of
its trials; never how a trial is run or how a result is shown.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from kfuzz.campaign.bugs import Bug, bugs_of
from kfuzz.campaign.children import MakeDevice
from kfuzz.campaign.crew import BlockEnd, Orders, Shown, TrialEnd, alone, elsewhere, together
from kfuzz.campaign.errand import Spread
from kfuzz.campaign.schedule import WHOLE, Block, Shard, quotas, rounds
from kfuzz.campaign.state import RATIO_STEPS, Discovery, Progress, read_state, write_state
from kfuzz.cases import corpus
from kfuzz.cases.case import Case, CaseError, Origin, Record
from kfuzz.claims.kernel import Kernel
from kfuzz.search.plan import BUDGET
from kfuzz.trials.defect import Defect

StopReason = Literal["max-cases", "max-time", "interrupted", "no kernel can go on"]
MOST_BUCKETS = 16
"""A kernel with so many different errors has had its share of attention."""
SAVE_SECONDS = 1.0


@dataclass(frozen=True)
class Options:
    """What a campaign is asked for. Without `max_cases` and `max_time` it goes on until it is interrupted.

    `corpus`: where cases that fail are kept. `out`: where the campaign keeps its state, to be resumed from.
    `known`: buckets and causes that are no news (a baseline). `other_shapes`: what is wrong nowhere but at other shapes
    than the one that a function was written for is an error, too. `shard`: which part of the campaign this is, of whose
    parts together `max_cases` are the cases.
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
    other_shapes: bool = True
    shard: Shard = WHOLE


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
        """What was found: errors before warnings, news before what is known, the early before the late."""
        return tuple(sorted((one for bug in self.bugs for one in bug.every), key=_importance))

    @property
    def bugs(self) -> tuple[Bug, ...]:
        """The same by cause; of what is an error in some trials and a warning in others, the error."""
        every = self.progress.discoveries.values()
        return bugs_of(one for one in every if one.is_error or not self.progress.is_error(one.defect.fault))

    @property
    def news(self) -> tuple[Bug, ...]:
        """The bugs that no baseline knew; warnings are none."""
        return tuple(bug for bug in self.bugs if bug.is_error and not bug.is_known)

    @property
    def is_judged(self) -> bool:
        """Whether anything is known of the kernel: answers that were judged, or an error."""
        return bool(self.progress.elements) or any(one.is_error for one in self.discoveries)

    @property
    def unjudged(self) -> str:
        """Why nothing is known of a kernel that was tried, in one line; empty where something is."""
        progress = self.progress
        if self.is_judged or not progress.trials:
            return ""
        seen = (one.defect.message for one in self.discoveries)
        why = "; ".join(dict.fromkeys([*sorted(progress.reasons), *seen]))
        return f"no answer of its {progress.trials} trials was judged" + (f": {why}" if why else "")


def _importance(one: Discovery) -> tuple[bool, bool, int, str]:
    return not one.is_error, one.is_known, one.first_trial, one.defect.bucket


@dataclass(frozen=True)
class Result:
    """What came of a campaign; equal campaigns give equal results but for `seconds`."""

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
    def news(self) -> tuple[Bug, ...]:
        """The bugs that no baseline knew."""
        return tuple(one for result in self.kernels for one in result.news)


def ignore(_: Event) -> None:
    """A listener that does not."""


def run_campaign(
    kernels: Sequence[Kernel],
    make_device: MakeDevice,
    options: Options,
    listen: Listen = ignore,
    spread: Spread | None = None,
) -> Result:
    """Search until time or trials run out; Ctrl-C ends it and loses nothing. Raises DeviceError and CaseError.

    With `spread` other machines do the trials; what they find is kept and told here.
    """
    began = time.monotonic()
    campaign = _Campaign(tuple(kernels), options, listen)
    deadline = None if options.max_time is None else began + options.max_time
    orders = Orders(
        campaign.kernels, options.seed, options.runs, options.timeout, options.budget, deadline, options.shard
    )
    blocks = campaign.blocks()
    if spread is not None:
        ends = elsewhere(orders, make_device, blocks, spread)
    elif options.jobs > 1:
        ends = together(orders, make_device, blocks, options.jobs)
    else:
        ends = alone(orders, make_device, blocks)
    stop: StopReason = "max-cases"
    try:
        for item in ends:
            if isinstance(item, TrialEnd):
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
        ends.close()
        campaign.save()
    results = tuple(map(KernelResult, campaign.kernels, campaign.progress))
    return Result(options.seed, stop, results, time.monotonic() - began, options.shard)


@dataclass(frozen=True)
class _Sighting:
    """What became of a defect: whether its bucket is new, and why its case could not be kept."""

    bucket: str
    is_new: bool = False
    trouble: CaseError | None = None


def octaves(axes: Mapping[str, int]) -> str:
    """Sizes to a factor of two: the power of two at or below each, or 0, in the order of the axes."""
    return " ".join(str(1 << size.bit_length() - 1 if size else 0) for size in axes.values())


def _count(progress: Progress, trial: TrialEnd) -> None:
    """Add up what a trial adds."""
    progress.next = trial.index + 1
    progress.trials += 1
    progress.rows += trial.rows
    progress.elements += trial.elements
    for name, size in trial.axes.items():
        progress.smallest[name] = min(size, progress.smallest.get(name, size))
        progress.largest[name] = max(size, progress.largest.get(name, 0))
    if trial.axes:
        together = octaves(trial.axes)
        progress.tried[together] = progress.tried.get(together, 0) + 1
    progress.worst_ratio = max(progress.worst_ratio, trial.ratio)
    if trial.rows:
        progress.ratios[min(int(trial.ratio * RATIO_STEPS), RATIO_STEPS - 1)] += 1
    progress.reasons.update(trial.reasons)
    for key, words in trial.silences.items():
        progress.silences[key] = [word for word in progress.silences.get(key, words) if word in words]
    for part, took in trial.seconds.items():
        progress.seconds[part] = progress.seconds.get(part, 0.0) + took


@dataclass
class _Campaign:
    """What a campaign knows so far, and what it does with the end of a trial."""

    kernels: tuple[Kernel, ...]
    options: Options
    listen: Listen
    progress: list[Progress] = field(init=False)
    saved: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self.progress = read_state(self.options.out, self.options.seed, self.kernels, self.options.shard)
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

    def take(self, trial: TrialEnd) -> None:
        """Count a trial and keep what it found: cases first, then the state, and then it is told.

        All of a trial is counted at once, or nothing of it, whatever interrupts: it is then run again.
        """
        kernel, progress = self.kernels[trial.kernel], self.progress[trial.kernel].copy()
        if progress.retired:
            return
        found = [self._see(progress, trial, seen) for seen in trial.seen]
        _count(progress, trial)
        self.progress[trial.kernel] = progress
        try:
            if any(one.is_new for one in found) or time.monotonic() - self.saved > SAVE_SECONDS:
                self.save()
        finally:  # a case is kept, whatever becomes of the state
            for one in found:
                if one.is_new or one.trouble:
                    self.listen(Found(progress.discoveries[one.bucket]))
        for one in found:
            if one.trouble:
                raise one.trouble
        total = sum(one.trials for one in self.progress)
        seconds = dict(trial.seconds)
        self.listen(Tried(kernel.name, trial.index, trial.rows, trial.elements, trial.ratio, total, seconds))
        if sum(one.is_error for one in progress.discoveries.values()) >= MOST_BUCKETS:
            self._retire(kernel, progress, f"{MOST_BUCKETS} different errors are enough")

    def end(self, item: BlockEnd) -> None:
        """Note that a block has come to its end, or why to an early one."""
        progress = self.progress[item.block.kernel]
        if not item.why:
            progress.next = max(progress.next, item.block.last)  # its last trials may be another shard's
        if item.why == "claim":
            progress.error = item.message
        if item.why in ("claim", "hang", "unsupported") and not progress.retired:
            self._retire(self.kernels[item.block.kernel], progress, item.message)

    def save(self) -> None:
        self.saved = time.monotonic()
        write_state(self.options.out, self.options.seed, self.kernels, self.progress, self.options.shard)

    def _retire(self, kernel: Kernel, progress: Progress, why: str) -> None:
        progress.retired = why
        self.listen(GaveUp(kernel.name, why))

    def _see(self, progress: Progress, trial: TrialEnd, seen: Shown) -> _Sighting:
        """Note a defect, and keep its case where its bucket is new or had a larger one."""
        defect, old = seen.defect, progress.discoveries.get(seen.defect.bucket)
        if defect.severity == "warning" and progress.is_error(defect.fault):
            return _Sighting(defect.bucket)
        if old is not None:  # every way in which it may come about counts, not that of its smallest case alone
            defect = replace(defect, causes=tuple(sorted({*old.defect.causes, *defect.causes})))
            old = replace(old, defect=replace(old.defect, causes=defect.causes))
        if old is not None and (seen.case is None or seen.case.elements >= old.defect.scene.elements):
            progress.discoveries[defect.bucket] = replace(old, count=old.count + 1)
            return _Sighting(defect.bucket)
        if seen.case is None:  # a resumed process of the crew knows more than this one: cannot be
            return _Sighting(defect.bucket)
        is_known = defect.is_among(self.options.known)
        path, trouble = None, None
        if defect.kind != "out-of-memory" and not is_known:
            try:
                path = self._keep(trial, defect, seen.case)
            except CaseError as error:  # what cannot be kept is told all the same
                trouble = error
        progress.discoveries[defect.bucket] = Discovery(
            defect=defect,
            first_trial=trial.index if old is None else old.first_trial,
            smallest_trial=trial.index,
            count=1 if old is None else old.count + 1,
            is_known=is_known,
            path=path,
            is_minimized=path is not None and corpus.is_minimized(path),
        )
        return _Sighting(defect.bucket, old is None, trouble)

    def _keep(self, trial: TrialEnd, defect: Defect, case: Case) -> Path | None:
        """Keep the case of a defect in the corpus, where there is one; the path of what stays there."""
        if self.options.corpus is None:
            return None
        origin = Origin(
            kernel=defect.scene.kernel,
            bucket=defect.bucket,
            kind=defect.kind,
            message=defect.message,
            device=trial.device,
            tune=defect.scene.tune,
            check=defect.scene.check,
            runs=self.options.runs,
            seed=trial.probe.seed,
            severity=defect.severity,
            minimized=case.is_vast,  # zeros, and no more of them than it takes
        )
        return corpus.save(self.options.corpus, Record(case, origin))
