"""Why some mutants cannot be killed: reviewed reasons, those of our own kernels in benchmarks/detection/survivors.json.

`after` is the mutated line with single spaces; where a statement was dropped, the line that it was. A reason counts
only if the run confirms it. Knows the file and its keys; never how a mutant is run.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from kfuzz.common.installation import CHECKOUT
from kfuzz.measure.mutants.mutate import Mutant
from kfuzz.measure.mutants.trials import Score

FILE = CHECKOUT / "benchmarks" / "detection" / "survivors.json"
"""A reason a line. A wheel has no such file: there, a survivor is unexplained."""
Excuse = Literal["equivalent", "within the claim", "out of reach"]
Standing = Literal["killed", "warned", "equivalent", "within the claim", "out of reach", "unexplained", "stillborn"]
KEYS = {"verdict", "operator", "kernels", "after", "why"}
NOTHING = ";"
"""The rest of a dropped statement: such a mutant is identified by its original line."""


class ReasonError(Exception):
    """The file of reasons is wrong; the message is one line."""


@dataclass(frozen=True)
class ReviewedReason:
    """Mutants of one operator, in these kernels and with one of these lines left, and why they survive.

    `equivalent`: the same bits for every claimed input. `within the claim`: other bits, but the claim allows every
    answer. `out of reach`: wrong only for inputs that no trial has, or hardly any: too large, or too rare.
    """

    verdict: Excuse
    operator: str
    kernels: tuple[str, ...]
    after: tuple[str, ...]
    why: str

    def applies_to(self, mutant: Mutant | Score) -> bool:
        """Whether the reason explains this mutant."""
        is_listed = mutant.kernel in self.kernels and mutant.operator == self.operator
        return is_listed and identifying_line(mutant) in self.after


def identifying_line(mutant: Mutant | Score) -> str:
    """The line by which a reason identifies a mutant."""
    return mutant.before if mutant.after == NOTHING else mutant.after


@cache
def read_reasons(path: Path = FILE) -> tuple[ReviewedReason, ...]:
    """Every reason in the file; none if there is no file."""
    if not path.is_file():
        return ()
    found = []
    for number, table in enumerate(json.loads(path.read_text(encoding="utf-8")), start=1):
        where = f"{path.name}: reason {number}"
        if set(table) != KEYS:
            raise ReasonError(f"{where}: has {', '.join(sorted(table))}; a reason has {', '.join(sorted(KEYS))}")
        if table["verdict"] not in get_args(Excuse):
            raise ReasonError(f"{where}: verdict = {table['verdict']!r}: one of {', '.join(get_args(Excuse))}")
        lists = {key: tuple(table[key]) for key in ("kernels", "after")}
        found.append(
            ReviewedReason(table["verdict"], table["operator"], lists["kernels"], lists["after"], table["why"])
        )
    return tuple(found)


def reason_for(score: Score, known: tuple[ReviewedReason, ...]) -> ReviewedReason | None:
    """The reason that explains a mutant, if there is one."""
    return next((reason for reason in known if reason.applies_to(score)), None)


def standing(score: Score, known: tuple[ReviewedReason, ...]) -> Standing:
    """The standing of a mutant: a survivor is equivalent only with a reason and without a bit of difference."""
    if score.status != "survived":
        return score.status
    reason = reason_for(score, known)
    if reason is None or (reason.verdict == "equivalent" and not score.identical):
        return "unexplained"
    return reason.verdict


def wrongly_excused(scores: Iterable[Score], known: tuple[ReviewedReason, ...]) -> list[Score]:
    """Mutants that no trial can kill, according to a reason, although no mutant of that line survives.

    It needs the scores of all mutants. A mutant that is out of reach may be killed by luck.
    """
    lasting = tuple(reason for reason in known if reason.verdict != "out of reach")
    excused = [score for score in scores if reason_for(score, lasting)]
    confirmed = {_key(score) for score in excused if score.status == "survived"}
    return [score for score in excused if _key(score) not in confirmed]


def _key(score: Score) -> tuple[str, str, str]:
    return score.kernel, score.operator, identifying_line(score)
