"""Whether a guessed claim that trials broke is right, and the kernel wrong.

A wrong guess of sizes, arrays or launch is wrong nearly everywhere; a bug leaves ordinary cases right, in some order of
threads at least. Knows trials and verdicts; never how a guess is made.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten

from kfuzz.campaign.schedule import attempt_of
from kfuzz.campaign.trials.defect import Defect
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.cases.plans.plan import Attempt
from kfuzz.cases.plans.sizes import row_axis
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import ClaimError, Device, DeviceError, Probe
from kfuzz.measure.roundings.grounds import inputs_of, is_too_much
from kfuzz.oracle import judge

ROWS = (37, 5, 130)
LONG = (200, 1000, 64, 1500, 129, 300)
"""Sizes of ordinary cases, none of them equal, so that a guess that confuses two is wrong."""
SHORT = (24, 40)
"""Sizes of an op with three axes or more, whose cases would be large."""
MOST_TUNES = 2
ORDERS = 4
"""Runs of one case, each with another order of threads: a race leaves one of them right."""
ENOUGH = 0.5
"""The share of ordinary cases that a claim must get right; of the wrong guesses for the kernels of kfuzz none does."""
LOOKED = 12
"""The most claims to examine: the likeliest come first."""
TRIALS = 8
MOST_SIGNS, WIDEST = 3, 300
IF_NOT_A_BUG = "if it was never meant for such an input, write that into axes, where or [values] of the claim"


@dataclass(frozen=True)
class FailedGuess:
    """The trial that broke a guess, and its first error."""

    attempt: Attempt
    defect: Defect

    def __str__(self) -> str:
        return self.defect.message


@dataclass(frozen=True)
class LikelyBug:
    """What breaks a claim that fits: the defects of some trials, one for each bucket, and the first of these trials."""

    attempt: Attempt
    defects: tuple[Defect, ...]

    def __str__(self) -> str:
        one = self.defects[0]
        place = f"{one.file}:{one.line}: " if one.line else ""
        said = shorten(one.message, WIDEST, placeholder=" ...")
        more = (
            f"; also {'; '.join(each.sign for each in self.defects[1 : MOST_SIGNS + 1])}"
            if len(self.defects) > 1
            else ""
        )
        return f"{place}{one.sign}: {said} ({one.scene.words}){more}"


def find_likeliest(failed: Sequence[tuple[Kernel, FailedGuess]], device: Device) -> tuple[Kernel, LikelyBug] | None:
    """Of claims that trials broke, the one that gets most ordinary cases right, the first of several; None if few."""
    best, most = None, 0.0
    for kernel, failure in distinct(failed):
        share = share_of_right(kernel, device)
        if share > most:
            best, most = (kernel, failure), share
        if share == 1:
            break
    return (best[0], bug_of(*best, device)) if best and most >= ENOUGH else None


def distinct(failed: Sequence[tuple[Kernel, FailedGuess]]) -> Iterator[tuple[Kernel, FailedGuess]]:
    """The first claim of each layout and launch: others only allow fewer sizes or values."""
    seen: set[tuple[object, ...]] = set()
    for kernel, failure in failed:
        layout = (tuple(map(str, kernel.arrays.values())), str(kernel.launches), str(kernel.tune))
        if layout not in seen and len(seen) < LOOKED:
            seen.add(layout)
            yield kernel, failure


def share_of_right(kernel: Kernel, device: Device) -> float:
    """The share of ordinary cases whose answer is right in one order of threads at least."""
    right = total = 0
    for axes, tune in ordinary(kernel):
        total += 1
        right += is_right(kernel, axes, tune, device)
        if total == 2 and not right:
            return 0.0
    return right / total if total else 0.0


def ordinary(kernel: Kernel) -> Iterator[tuple[dict[str, int], dict[str, int]]]:
    """Some sizes and launches that the claim allows."""
    rows, few = row_axis(kernel), len(kernel.axes) > 2
    for number in range(len(LONG)):
        axes = {}
        for place, (name, axis) in enumerate(kernel.axes.items()):
            wanted = ROWS if name == rows else SHORT if few else LONG
            start = wanted[(number + place) % len(wanted)] + (place if few else 0)
            axes[name] = next((size for size in range(start, start + 64) if size in axis), axis.hi)
        tunes = [one for one in kernel.tunes(axes) if not kernel.where.broken({**axes, **one})]
        for tune in tunes[number % len(tunes) :: max(1, len(tunes) - 1)][:MOST_TUNES] if tunes else ():
            if not is_too_much(kernel, axes, tune):
                yield axes, dict(tune)


def is_right(kernel: Kernel, axes: Mapping[str, int], tune: Mapping[str, int], device: Device) -> bool:
    """Whether the answer to an ordinary case is right in one order of threads at least."""
    inputs = inputs_of(kernel, axes)
    try:
        bound = kernel.bind(inputs, tune)
        outcome = device.run(bound.job, Probe(runs=ORDERS, seed=1, timeout=2.0))
    except (ClaimError, DeviceError):
        return False
    claimed = (bound.accuracy, kernel.special, bound.scalars)
    given = kernel.stored(inputs)
    answers = (kernel.outputs(one.outputs, bound.sizes) for one in outcome.runs)
    return any(judge(kernel.op, given, answer, *claimed).status == "kept" for answer in answers)


def bug_of(kernel: Kernel, failure: FailedGuess, device: Device) -> LikelyBug:
    """The failure of a claim, and what else breaks it in a few trials."""
    found = {failure.defect.bucket: failure.defect}
    for index in range(TRIALS):
        attempt = attempt_of(kernel, 1, index)
        probe = Probe(check=index % 2 == 1, runs=2, timeout=2.0)
        for defect in run_trial(kernel, attempt.case, attempt.tune, device, probe).errors:
            found.setdefault(defect.bucket, defect)
    placed = sorted(found.values(), key=lambda one: not one.is_placed)
    return LikelyBug(failure.attempt, tuple(placed))
