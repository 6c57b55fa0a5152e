"""A score in figures and in words, made from its kept results alone.

Knows scores and reasons; never how a mutant is run.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from statistics import median

from kfuzz.measure.mutants.mutate import operators, python_operators
from kfuzz.measure.mutants.run import ScoreReport
from kfuzz.measure.mutants.survivors import ReviewedReason, Standing, reason_for, standing, wrongly_excused
from kfuzz.measure.mutants.trials import Control, Score
from kfuzz.oracle.numbers.plural import plural


@dataclass(frozen=True)
class Figures:
    """Counts of one operator, one kernel or everything. `compiled` excludes stillborn mutants."""

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
        """The share of killed mutants among those that compile and are not equivalent."""
        return self.killed / max(1, self.compiled - self.equivalent)

    @property
    def median(self) -> float:
        """Trials to kill."""
        return median(self.trials) if self.trials else 0.0


def figures(scores: Iterable[Score], known: tuple[ReviewedReason, ...]) -> Figures:
    """The counts of some mutants."""
    every = list(scores)
    trials = tuple(score.trials for score in every if score.status in ("killed", "warned"))
    return Figures(Counter(standing(score, known) for score in every), trials)


def by_operator(report: ScoreReport, known: tuple[ReviewedReason, ...]) -> dict[str, Figures]:
    """The counts of every operator for the languages of these kernels, even if it made no mutant."""
    used = {score.operator for score in report.scores.values()}
    names = [name for family in (operators(), python_operators()) if used & set(family) for name in family]
    return {
        name: figures((score for score in report.scores.values() if score.operator == name), known) for name in names
    }


def by_kernel(report: ScoreReport, known: tuple[ReviewedReason, ...]) -> dict[str, Figures]:
    """The counts of every kernel."""
    names = sorted({score.kernel for score in report.scores.values()})
    return {name: figures((score for score in report.scores.values() if score.kernel == name), known) for name in names}


def survivors(report: ScoreReport) -> list[Score]:
    """Every mutant that nothing killed, by kernel and line."""
    left = (score for score in report.scores.values() if score.status == "survived")
    return sorted(left, key=lambda score: (score.kernel, score.line, score.operator))


def accused_controls(report: ScoreReport) -> list[Control]:
    """The correct kernels with a defect, which are false positives: there must be none."""
    return [control for control in report.controls.values() if control.defects]


def idle_operators(report: ScoreReport, known: tuple[ReviewedReason, ...]) -> dict[str, str]:
    """The operators that made no mutant, or none that was killed, and which of the two it is."""
    idle = {}
    for name, one in by_operator(report, known).items():
        if not sum(one.counts.values()):
            idle[name] = "apply nowhere in these kernels"
        elif not one.killed:
            idle[name] = "made no mutant that was killed"
    return idle


def sentences(report: ScoreReport, known: tuple[ReviewedReason, ...]) -> Iterator[str]:
    """How many bugs were seeded, how many of them the search found, and how soon."""
    total = figures(report.scores.values(), known)
    counts, kernels = total.counts, len(by_kernel(report, known))
    if not total.compiled:
        yield f"{len(report.scores)} bugs were seeded, none of which compiles: there is no score"
        return
    yield f"kfuzz seeded {plural(len(report.scores), 'bug')} into {plural(kernels, 'kernel')}, one at a time"
    if counts["stillborn"]:
        yield f"{counts['stillborn']} of them do not compile"
    if total.equivalent:
        yield f"{total.equivalent} change no answer, for a reviewed reason that this run confirms"
    left = total.compiled - total.equivalent
    if not total.killed:
        yield f"none of the {left} others was found"
        return
    soon = f"half of these within {total.median:g} {'trial' if total.median == 1 else 'trials'}"
    yield f"{total.killed} of the {left} others were found ({total.rate:.1%}), {soon}"
    if counts["warned"]:
        warned = [score for score in report.scores.values() if score.status == "warned"]
        same = sum(score.identical for score in warned)
        yield f"{counts['warned']} of these by a warning alone; {same} of them give their kernel's answers, bit for bit"
    reasons = {name: counts[name] for name in ("within the claim", "out of reach", "unexplained") if counts[name]}
    if reasons:
        yield f"{sum(reasons.values())} were not found: {', '.join(f'{n} {name}' for name, n in reasons.items())}"


def as_json(report: ScoreReport, known: tuple[ReviewedReason, ...]) -> str:
    """The score as one JSON document, kfuzz-score-report/1: counts, then each seeded bug with its result."""
    total = figures(report.scores.values(), known)
    document = {
        "schema": "kfuzz-score-report/1",
        **asdict(report.options),
        "interrupted": report.interrupted,
        "counts": dict(sorted(total.counts.items())),
        "found": total.killed,
        "to_be_found": total.compiled - total.equivalent,
        "median_trials": total.median if total.killed else None,
        "kernels": [
            {"name": one.kernel, "trials": one.trials, "accused": list(one.defects)}
            for one in sorted(report.controls.values(), key=lambda control: control.kernel)
        ],
        "bugs": [
            {**asdict(one), "standing": standing(one, known), "reason": reason.why if reason else None}
            for one in sorted(report.scores.values(), key=lambda score: (score.kernel, score.line, score.key))
            for reason in [reason_for(one, known)]
        ],
    }
    return json.dumps(document, indent=1) + "\n"


def score_lines(report: ScoreReport, known: tuple[ReviewedReason, ...]) -> Iterator[str]:
    """The score in sentences, for a terminal."""
    if report.interrupted:
        yield "interrupted: the figures are for the bugs that were tried before"
    yield from sentences(report, known)
    trials = sum(control.trials for control in report.controls.values())
    accused = accused_controls(report)
    outcome = f"{len(accused)} of {len(report.controls)} with findings" if accused else "no findings"
    yield f"without a seeded bug: {outcome}, in {plural(trials, 'trial')}"
    for control in accused:
        yield from (f"  {defect}" for defect in control.defects)
    for score in survivors(report):
        reason = reason_for(score, known)
        where = standing(score, known)
        yield f"survived, {where}: {score.kernel}:{score.line}: {score.operator}: {score.before} -> {score.after}"
        if reason is not None:
            yield f"  {reason.why}"
    if report.interrupted:  # the rest needs all scores
        return
    if not report.options.per_operator:
        for score in wrongly_excused(report.scores.values(), known):
            yield f"a reason says that it survives: {score.kernel}:{score.line}: {score.operator}: {score.after}"
    blind = [one for one, of in by_operator(report, known).items() if sum(of.counts.values()) and not of.killed]
    if blind:
        yield f"operators that made no mutant that was killed: {', '.join(blind)}"
