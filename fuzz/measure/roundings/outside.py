"""What breaks a kernel outside of the sizes and values of a claim that kfuzz guessed.

A guess that takes fewer of them than the file allows is kfuzz's own, so what it leaves out is reported with an input.
Knows claims and failed trials; never how a guess is made.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kfuzz.campaign.trials.defect import WARNING_MARK, Defect
from kfuzz.cases.case import Case, numbers_in
from kfuzz.claims.kernel import Kernel
from kfuzz.devices.memory.vast import is_vast
from kfuzz.measure.roundings.bug import FailedGuess, layout_of

OUTSIDE = "outside the guessed claim"


@dataclass(frozen=True)
class Limit:
    """A limit of a claim, `|x| <= 80` or `cols <= 1024`, and what breaks it, `x = -2e+30` or `cols = 1025`."""

    words: str
    breach: str


@dataclass(frozen=True)
class Outside:
    """A failure outside of a guessed claim: the claim, a wider one, and the wider one's trial."""

    kept: Kernel
    wide: Kernel
    failure: FailedGuess

    def __str__(self) -> str:
        return describe(self.limits_of(self.failure.attempt.case), self.failure.defect)

    def limits_of(self, case: Case) -> tuple[Limit, ...]:
        """The limits of the guessed claim that a case of the wider one breaks."""
        return tuple(find_limits(self.kept, self.wide, case))


def outside_of(kept: Kernel, failed: Sequence[tuple[Kernel, FailedGuess]]) -> Iterator[Outside]:
    """The first failure beyond each limit of the claim that is kept, among the claims of the same layout."""
    found: dict[str, Outside] = {}
    for wide, failure in failed:
        one = Outside(kept, wide, failure)
        limits = one.limits_of(failure.attempt.case) if layout_of(wide) == layout_of(kept) else ()
        if limits:
            found.setdefault(limits[0].words, one)
    yield from found.values()


def find_limits(kept: Kernel, wide: Kernel, case: Case) -> Iterator[Limit]:
    """The limits of a claim that a case breaks: of its sizes, its conditions and its values."""
    axes = wide.axes_of(case.arrays)
    for name, size in axes.items():
        axis = kept.axes[name]
        if size not in axis:
            is_long = size > axis.hi
            yield Limit(
                f"{name} <= {axis.hi}" if is_long else f"multiples of {axis.multiple} in {name}", f"{name} = {size}"
            )
    for one in kept.where.conditions:
        if one.names <= axes.keys() and not one(axes):
            yield Limit(one.text, ", ".join(f"{name} = {axes[name]}" for name in axes if name in one.names))
    for role, whole in case.arrays.items():
        if role not in kept.roles.integers and not is_vast(whole):
            array = numbers_in(whole)
            finite = array[np.isfinite(array)]
            if kept.finite and finite.size < array.size:
                yield Limit(f"finite {role}", f"{role} = {array[~np.isfinite(array)][0]:g}")
            if kept.value_range and finite.size:
                worst = max((float(finite.min()), float(finite.max())), key=abs)
                if abs(worst) > kept.value_range[1]:
                    yield Limit(f"|{role}| <= {kept.value_range[1]:g}", f"{role} = {worst:g}")


def describe(limits: Sequence[Limit], defect: Defect) -> str:
    """`right only for |x| <= 80: for x = -2e+30 it gives nan`."""
    worst = defect.worst
    wrong = f"{worst.output} is {worst.got:g}, and {worst.want:g} is right" if worst else defect.message
    right, breach = " and ".join(one.words for one in limits), ", ".join(one.breach for one in limits)
    return f"right only for {right}: for {breach}{'' if worst else ':'} {wrong}"


def as_warning(limits: Sequence[Limit], defect: Defect) -> Defect:
    """A failure outside of the guessed claim as a warning: the claim's limits are kfuzz's, not yours."""
    fault = f"{defect.scene.kernel}: {OUTSIDE}, {defect.sign}"
    return replace(
        defect, severity="warning", bucket=f"{fault}{WARNING_MARK}", fault=fault, standing=describe(limits, defect)
    )
