"""The book of a campaign on one device: what it keeps of each trial, on disk before it is told.

Knows trials' ends, progress and the corpus; never how a trial is run, nor who runs it.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from kfuzz.campaign.blocks import BlockEnd, ShownDefect, TrialEnd
from kfuzz.campaign.danger import MOST_FATAL, checkpoint
from kfuzz.campaign.events import Found, GaveUp, Listen, Tried
from kfuzz.campaign.options import Options
from kfuzz.campaign.result import KernelResult, StopReason
from kfuzz.campaign.schedule import AGAIN, Block, quotas, rounds
from kfuzz.campaign.state import RATIO_STEPS, Discovery, Progress, read_state, write_state
from kfuzz.cases import corpus
from kfuzz.cases.case import Case, CaseError, Origin, Record
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Refusal, Untried
from kfuzz.kinds import kinds_with
from kfuzz.trials.defect import Defect
from kfuzz.trials.unjudged import unjudged_text

BLAMES_DEVICE = kinds_with("blames-device")
MOST_BUCKETS = 16
"""A kernel with so many different errors has had its share of attention."""
SAVE_SECONDS = 1.0


@dataclass(frozen=True)
class _Sighting:
    """What became of a defect: whether its bucket is new, and why its case could not be kept."""

    bucket: str
    is_new: bool = False
    trouble: CaseError | None = None


def octaves(axes: Mapping[str, int]) -> str:
    """Sizes to a factor of two: the power of two at or below each, or 0, in the order of the axes."""
    return " ".join(str(1 << size.bit_length() - 1 if size else 0) for size in axes.values())


def _add_trial(progress: Progress, trial: TrialEnd) -> None:
    """Add up what a trial adds."""
    progress.next = trial.index + 1
    progress.trials += 1
    if trial.fatal is not None:
        progress.fatal.append((trial.number, trial.fatal))
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
    for part, took in trial.seconds.items():
        progress.seconds[part] = progress.seconds.get(part, 0.0) + took


def _reason_to_stop(progress: Progress) -> str:
    """Why a kernel is given up after this trial; empty where it is not."""
    if len(progress.fatal) >= MOST_FATAL:
        return f"{MOST_FATAL} trials have ended their process; it is not tried further"
    if sum(one.is_error for one in progress.discoveries.values()) >= MOST_BUCKETS:
        return f"{MOST_BUCKETS} different errors are enough"
    return ""


@dataclass
class Ledger:
    """What a campaign on one device knows so far, and what it does with the end of a trial."""

    kernels: tuple[Kernel, ...]
    options: Options
    listen: Listen
    progress: list[Progress] = field(init=False)
    saved: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self.progress = read_state(self.options.out, self.options.seed, self.kernels, self.options.shard)
        self.given = quotas(len(self.kernels), self.options.max_cases)

    def blocks(self) -> Iterator[Block | None]:
        """What is still to be done, in order; kernels that were given up since are left out.

        None while it has to be waited for trials before the next one: a block knows which of these have ended their
        process, so that it is the same whoever runs it, and when.
        """
        for blocks in rounds(self.given):
            if self.is_over:
                return
            for block in blocks:
                until = checkpoint(block.first)
                while self.progress[block.kernel].next < until and not self.progress[block.kernel].retired:
                    yield None
                progress = self.progress[block.kernel]
                if block.last > progress.next and not progress.retired:
                    fatal = tuple((number, kind) for number, kind in progress.fatal if number % AGAIN < until)
                    yield replace(block, first=max(block.first, progress.next), fatal=fatal)

    @property
    def is_over(self) -> bool:
        """Whether every kernel was given up: nothing of what still runs is counted."""
        return all(progress.retired for progress in self.progress)

    @property
    def trials(self) -> int:
        """How many there were so far."""
        return sum(one.trials for one in self.progress)

    def stop_reason(self) -> StopReason:
        """Why there is nothing left to do."""
        done = zip(self.progress, self.given, strict=True)
        is_complete = all(most is not None and progress.next >= most for progress, most in done)
        return "max-cases" if is_complete else "no kernel can go on"

    def results(self) -> tuple[KernelResult, ...]:
        """What was found of each kernel."""
        return tuple(map(KernelResult, self.kernels, self.progress))

    def take(self, trial: TrialEnd) -> None:
        """Count a trial and keep what it found: cases first, then the state, and then it is told.

        All of a trial is counted at once, or nothing of it, whatever interrupts: it is then run again.
        """
        kernel, progress = self.kernels[trial.kernel], self.progress[trial.kernel].copy()
        if progress.retired:
            return
        found = [self._note_defect(progress, trial, seen) for seen in trial.seen]
        _add_trial(progress, trial)
        progress.retired = _reason_to_stop(progress)
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
        seconds = dict(trial.seconds)
        self.listen(Tried(kernel.name, trial.index, trial.rows, trial.elements, trial.ratio, self.trials, seconds))
        if progress.retired:
            self.listen(GaveUp(kernel.name, progress.retired))

    def end(self, item: BlockEnd) -> None:
        """Note that a block has come to its end, or why to an early one."""
        progress = self.progress[item.block.kernel]
        if progress.retired:  # it was begun before that was known
            return
        if not item.why:
            progress.next = max(progress.next, item.block.last)  # its last trials may be another shard's
        if item.why == "claim":
            progress.error = item.message
        if item.why in ("claim", "hang", "unsupported"):
            progress.retired = item.message
            self.listen(GaveUp(self.kernels[item.block.kernel].name, item.message))

    def save(self) -> None:
        self.saved = time.monotonic()
        write_state(self.options.out, self.options.seed, self.kernels, self.progress, self.options.shard)

    def _note_defect(self, progress: Progress, trial: TrialEnd, seen: ShownDefect) -> _Sighting:
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
        if defect.kind not in BLAMES_DEVICE and not is_known:
            try:
                path = self._keep_case(trial, defect, seen.case)
            except CaseError as error:  # what cannot be kept is told all the same
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
