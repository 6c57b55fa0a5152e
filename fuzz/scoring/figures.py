"""What a score says, in figures and in words; made from what was kept of it alone.

Knows scores and reasons; never how a mutant is run.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import median

from kfuzz.mutating.mutate import operators
from kfuzz.scoring.run import ScoreReport
from kfuzz.scoring.survivors import Reason, Standing, belied, reason_for, standing
from kfuzz.scoring.trials import Control, Score


@dataclass(frozen=True)
class Figures:
    """Counts of one operator, one kernel or everything. `compiled` leaves out the stillborn."""

    counts: Counter[Standing]
    trials: tuple[int, ...]

    @property
    def compiled(self) -> int:
        return sum(self.counts.values()) - self.counts["stillborn"]

    @property
    def equivalent(self) -> int:
        return self.counts["equivalent"]

    @property
    def killed(self) -> int:
        return self.counts["killed"] + self.counts["warned"]

    @property
    def rate(self) -> float:
        """Killed of those that are not equivalent."""
        return self.killed / max(1, self.compiled - self.equivalent)

    @property
    def median(self) -> float:
        """Trials to kill."""
        return median(self.trials) if self.trials else 0.0


def figures(scores: Iterable[Score], known: tuple[Reason, ...]) -> Figures:
    """The counts of some mutants."""
    every = list(scores)
    trials = tuple(score.trials for score in every if score.status in ("killed", "warned"))
    return Figures(Counter(standing(score, known) for score in every), trials)


def by_operator(report: ScoreReport, known: tuple[Reason, ...]) -> dict[str, Figures]:
    """The counts of every operator, those that made no mutant too."""
    return {
        name: figures((score for score in report.scores.values() if score.operator == name), known)
        for name in operators()
    }


def by_kernel(report: ScoreReport, known: tuple[Reason, ...]) -> dict[str, Figures]:
    """The counts of every kernel."""
    names = sorted({score.kernel for score in report.scores.values()})
    return {name: figures((score for score in report.scores.values() if score.kernel == name), known) for name in names}


def survivors(report: ScoreReport) -> list[Score]:
    """Every mutant that nothing killed, by kernel and line."""
    left = (score for score in report.scores.values() if score.status == "survived")
    return sorted(left, key=lambda score: (score.kernel, score.line, score.operator))


def accused(report: ScoreReport) -> list[Control]:
    """The correct kernels that were accused: there must be none."""
    return [control for control in report.controls.values() if control.defects]


def idle_operators(report: ScoreReport, known: tuple[Reason, ...]) -> dict[str, str]:
    """The operators that made no mutant, or none that died, and which of the two it is."""
    found = {}
    for name, one in by_operator(report, known).items():
        if not sum(one.counts.values()):
            found[name] = "apply nowhere in these kernels"
        elif not one.killed:
            found[name] = "killed nothing"
    return found


def told(report: ScoreReport, known: tuple[Reason, ...]) -> Iterator[str]:
    """The score in lines, for a terminal."""
    total = figures(report.scores.values(), known)
    counts = ", ".join(f"{count} {name}" for name, count in total.counts.most_common())
    yield f"{len(report.scores)} mutants in {len(by_kernel(report, known))} kernels: {counts}"
    yield (
        f"{total.killed} of {total.compiled - total.equivalent} that are not equivalent were killed: "
        f"{total.rate:.1%}, half of them within {total.median:g} trials"
    )
    warned = [score for score in report.scores.values() if score.status == "warned"]
    same = sum(score.identical for score in warned)
    yield (
        f"{total.counts['killed']} of these by an error, {len(warned)} by a warning alone; of the latter {same} gave "
        "their kernel's own answers to the bit, all through"
    )
    trials = sum(control.trials for control in report.controls.values())
    bad = accused(report)
    yield f"{len(report.controls)} unmutated kernels, {trials} trials: {len(bad)} accused"
    for control in bad:
        yield from (f"  {defect}" for defect in control.defects)
    for score in survivors(report):
        reason = reason_for(score, known)
        where = standing(score, known)
        yield f"survived, {where}: {score.kernel}:{score.line}: {score.operator}: {score.before} -> {score.after}"
        if reason is not None:
            yield f"  {reason.why}"
    if report.interrupted:  # of what is not there nothing can be said
        return
    if not report.options.per_operator:
        for score in belied(report.scores.values(), known):
            yield f"a reason says that it survives: {score.kernel}:{score.line}: {score.operator}: {score.after}"
    idle = idle_operators(report, known)
    for why in dict.fromkeys(idle.values()):
        yield f"operators that {why}: {', '.join(name for name in idle if idle[name] == why)}"
