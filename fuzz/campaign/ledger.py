"""The ledger of a campaign on one device: what it keeps of each trial, on disk before it is reported.

Knows trials' ends, progress and the corpus; never how a trial is run, nor which process runs it.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from kfuzz.campaign.blocks import BlockEnd, ShownDefect, TrialEnd
from kfuzz.campaign.danger import MOST_FATAL, SOON, checkpoint
from kfuzz.campaign.events import Found, GaveUp, Listen, Tried
from kfuzz.campaign.options import Options
from kfuzz.campaign.result import KernelResult, StopReason
from kfuzz.campaign.schedule import AGAIN, BLOCKS, Block, quotas, rounds
from kfuzz.campaign.state import RATIO_STEPS, Discovery, Progress, larger, read_state, write_state
from kfuzz.campaign.trials.defect import Defect
from kfuzz.campaign.trials.unjudged import unjudged_text
from kfuzz.cases import corpus
from kfuzz.cases.case import Case, Origin, Record
from kfuzz.cases.errors import CaseError
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Refusal, Untried
from kfuzz.kinds import fails_run, kinds_with

BLAMES_DEVICE = kinds_with("blames-device")
MOST_BUCKETS = 16
"""After this many different errors a kernel is not tried further."""
SAVE_SECONDS = 1.0


@dataclass(frozen=True)
class _Sighting:
    """The result of noting a defect: whether its bucket is new, and why its case could not be kept."""

    bucket: str
    is_new: bool = False
    trouble: CaseError | None = None


def octaves(axes: Mapping[str, int]) -> str:
    """Sizes to a factor of two: the power of two at or below each, or 0, in the order of the axes."""
    return " ".join(str(1 << size.bit_length() - 1 if size else 0) for size in axes.values())


def _add_trial(progress: Progress, trial: TrialEnd) -> None:
    """Add the counts of a trial."""
    progress.next = trial.index + 1
    progress.trials += 1
    if trial.fatal is not None:
        progress.fatal.append((trial.number, trial.fatal))
    progress.rows += trial.rows
    progress.elements += trial.elements
    progress.unjudged_rows += trial.unjudged_rows
    progress.worst_ulps = larger(progress.worst_ulps, trial.ulps)
    progress.operand = progress.operand or trial.operand
    for name, size in trial.axes.items():
        progress.smallest[name] = min(size, progress.smallest.get(name, size))
        progress.largest[name] = max(size, progress.largest.get(name, 0))
    if trial.axes:
        sizes = octaves(trial.axes)
        progress.tried[sizes] = progress.tried.get(sizes, 0) + 1
    if trial.rung:
        progress.rungs.add(trial.rung)
    progress.worst_ratio = max(progress.worst_ratio, trial.ratio)
    if trial.rows and all(shown.defect.worst is None for shown in trial.defects):
        progress.ratios[min(int(trial.ratio * RATIO_STEPS), RATIO_STEPS - 1)] += 1
    for reason in trial.reasons:
        match reason:
            case Refusal():
                progress.refusals.add(reason)
            case Untried():
                progress.untried.add(reason)
            case _:
                progress.reasons.add(unjudged_text(reason))
    for key, words in trial.silences.items():
        progress.silences[key] = [word for word in progress.silences.get(key, words) if word in words]
    for name, is_held in trial.looks.items():
        held, not_held = progress.looks.get(name, [0, 0])
        progress.looks[name] = [held + is_held, not_held + (not is_held)]
    _add_size_costs(progress, trial)
    for part, seconds in trial.seconds.items():
        progress.seconds[part] = progress.seconds.get(part, 0.0) + seconds


def _add_size_costs(progress: Progress, trial: TrialEnd) -> None:
    if trial.size_seconds is not None:
        new, known = trial.size_seconds
        progress.size_costs = {"trials": progress.size_costs.get("trials", 0) + 1, "new": new, "known": known}


def _reason_to_stop(progress: Progress) -> str:
    """Why a kernel is given up after this trial; empty if it is not."""
    if len(progress.fatal) >= MOST_FATAL:
        return f"{MOST_FATAL} trials have ended their process; it is not tried further"
    if sum(one.is_error for one in progress.discoveries.values()) >= MOST_BUCKETS:
        return f"{MOST_BUCKETS} different errors are enough"
    return ""


@dataclass
class Ledger:
    """The state of a campaign on one device, and what it does with the end of a trial."""

    kernels: tuple[Kernel, ...]
    options: Options
    listen: Listen
    progress: list[Progress] = field(init=False)
    saved: float = field(default=0.0, init=False)
    trials: int = field(default=0, init=False)
    """The number of trials so far, of all kernels."""

    def __post_init__(self) -> None:
        self.progress = read_state(self.options.out, self.options.seed, self.kernels, self.options.shard)
        self.trials = sum(one.trials for one in self.progress)
        self.quotas = quotas(len(self.kernels), self.options.max_cases)

    def blocks(self) -> Iterator[Block | None]:
        """Yield the blocks that are still to do, in order, without kernels that were given up in the meantime.

        It yields None while the next block must wait for earlier trials: a block knows which of them have ended their
        process, so that it is the same in any process and at any time.
        """
        for blocks in rounds(self.quotas):
            if self.is_over:
                return
            for block in sorted(blocks, key=self._cost_of_compiling):
                is_slow = self.kernels[block.kernel].front.language.runner.is_slow
                until = checkpoint(block.first, 0 if is_slow else SOON)
                while self.progress[block.kernel].next < until and not self.progress[block.kernel].retired:
                    yield None
                fatal = tuple(one for one in self.progress[block.kernel].fatal if one[0] % AGAIN < until)
                size = self._block_size() if is_slow else BLOCKS[-1]
                for first in range(block.first, block.last, size):
                    last, progress = min(first + size, block.last), self.progress[block.kernel]
                    if last > progress.next and not progress.retired:
                        yield replace(block, first=max(first, progress.next), last=last, fatal=fatal)

    def _cost_of_compiling(self, block: Block) -> int:
        """How much must be compiled before the block runs: on an empty cache, cheap kernels go first in each round."""
        return len(self.kernels[block.kernel].entries)

    def _block_size(self) -> int:
        """How many slow trials a process gets at once: so few that all processes have some of its round."""
        left = sum(not progress.retired for progress in self.progress)
        return max(BLOCKS[0], -(-BLOCKS[-1] * left // self.options.jobs))

    @property
    def is_over(self) -> bool:
        """Whether every kernel was given up: trials that still run do not count."""
        return all(progress.retired for progress in self.progress)

    @property
    def has_news(self) -> bool:
        """Whether an error was found that no baseline knows."""
        every = (found for one in self.progress for found in one.discoveries.values())
        return any(one.is_error and not one.is_known and not one.defect.silenced for one in every)

    def stop_reason(self) -> StopReason:
        """Why there is nothing left to do."""
        done = zip(self.progress, self.quotas, strict=True)
        is_complete = all(most is not None and progress.next >= most for progress, most in done)
        return "max-cases" if is_complete else "no kernel can go on"

    def results(self) -> tuple[KernelResult, ...]:
        """The result of each kernel."""
        return tuple(map(KernelResult, self.kernels, self.progress))

    def take(self, trial: TrialEnd) -> bool:
        """Count a trial and keep its findings: first the cases, then the state, then report them. True if it shows a
        new finding that fails the run.

        A trial is counted whole or, if anything interrupts, not at all: it is then run again.
        """
        kernel, progress = self.kernels[trial.kernel], self.progress[trial.kernel].copy()
        if progress.retired:
            return False
        progress.error = ""  # of a campaign before, whose time was over
        sightings = [self._note_defect(progress, trial, shown) for shown in trial.defects]
        _add_trial(progress, trial)
        progress.retired = _reason_to_stop(progress)
        self.progress[trial.kernel] = progress
        self.trials += 1
        try:
            if any(one.is_new for one in sightings) or time.monotonic() - self.saved > SAVE_SECONDS:
                self.save()
        finally:  # a case is kept, whatever becomes of the state
            for one in sightings:
                if one.is_new or one.trouble:
                    self.listen(Found(progress.discoveries[one.bucket]))
        for one in sightings:
            if one.trouble:
                raise one.trouble
        seconds = dict(trial.seconds)
        self.listen(Tried(kernel.name, trial.index, trial.rows, trial.elements, trial.ratio, self.trials, seconds))
        if progress.retired:
            self.listen(GaveUp(kernel.name, progress.retired))
        new = (progress.discoveries[one.bucket] for one in sightings if one.is_new)
        return any(fails_run(one.defect.severity, self.options.fail_on) and not one.is_known for one in new)

    def end(self, item: BlockEnd) -> None:
        """Note the end of a block, and why it ended early if it did."""
        progress = self.progress[item.block.kernel]
        if progress.retired:  # the block began before the kernel was given up
            return
        if not item.why:
            progress.next = max(progress.next, item.block.last)  # its last trials may belong to another shard
        if item.why == "claim" or (item.why == "time" and item.message and not progress.elements):
            progress.error = item.message
        if item.why in ("claim", "hang", "unsupported"):
            progress.retired = item.message
            self.listen(GaveUp(self.kernels[item.block.kernel].name, item.message))

    def save(self) -> None:
        self.saved = time.monotonic()
        write_state(self.options.out, self.options.seed, self.kernels, self.progress, self.options.shard)

    def _note_defect(self, progress: Progress, trial: TrialEnd, seen: ShownDefect) -> _Sighting:
        """Note a defect, and keep its case if its bucket is new or has a larger one."""
        defect, old = seen.defect, progress.discoveries.get(seen.defect.bucket)
        if defect.severity == "warning" and progress.is_error(defect.fault):
            return _Sighting(defect.bucket)
        if old is not None:  # a bucket has the causes of all its cases, not of the smallest alone
            defect = replace(defect, causes=tuple(sorted({*old.defect.causes, *defect.causes})))
            old = replace(old, defect=replace(old.defect, causes=defect.causes))
        if old is not None and (seen.case is None or seen.case.elements >= old.defect.scene.elements):
            progress.discoveries[defect.bucket] = replace(old, count=old.count + 1)
            return _Sighting(defect.bucket)
        if seen.case is None:  # impossible: a process of the crew would know a smaller case than the ledger does
            return _Sighting(defect.bucket)
        is_known = defect.is_among(self.options.known)
        path, trouble = None, None
        if defect.kind not in BLAMES_DEVICE and not is_known and not defect.silenced:
            try:
                path = self._keep_case(trial, defect, seen.case)
            except CaseError as error:  # a defect whose case cannot be kept is reported all the same
                trouble = error
        progress.discoveries[defect.bucket] = Discovery(
            defect=defect,
            first_trial=trial.index if old is None else old.first_trial,
            smallest_trial=trial.number,
            count=1 if old is None else old.count + 1,
            is_known=is_known,
            path=path,
            is_minimized=path is not None and corpus.is_minimized(path),
            devices=(trial.device,),
        )
        return _Sighting(defect.bucket, old is None, trouble)

    def _keep_case(self, trial: TrialEnd, defect: Defect, case: Case) -> Path | None:
        """Keep the case of a defect in the corpus, if there is one; the path of the case that stays there."""
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
            minimized=case.is_vast,  # it is simple, and as small as the bug allows
        )
        return corpus.save(self.options.corpus, Record(case, origin))
