"""Solutions that language models and people wrote, unedited: a verdict of `kfuzz judge` on each.

    python -m benchmarks.detection measure solutions LIST.json --keep FOLDER [--jobs 1] [--part 0/1] [--only-kept]

LIST.json holds an object for each solution: the files `solution` and `problem`, the problem's `name`, the `repository`
and `commit` that the solution is from, its `path` there, and its `kind`: cuda, triton or torch. The modules
solutions_drawn and solutions_of_people write such lists. The first solutions of the list are judged, in the sandbox and
with the usual budget. FOLDER keeps each verdict as a line of verdicts.jsonl, and the arrays of its case in cases/; one
that is there already is not asked for again. The figures hold names, counts and kfuzz's own words, and no text of the
solutions.
"""

import argparse
import hashlib
import json
import math
import re
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.detection.kept_lines import add_line, read_lines
from benchmarks.measurement import Figures, records
from kfuzz.campaign.answers import Judgement, JudgingTerms
from kfuzz.ui.serving.bench import JudgingError
from kfuzz.ui.serving.pool import JudgingPool
from kfuzz.ui.serving.requests import JudgingRequest

SEED = 7
PLACE = re.compile(r"(?<![\w.])/[^\s:'\"]*/(?=[^\s/])")
"""The folder of a file, which is another one on each machine."""
LONGEST_REASON = 240
STATUSES = ("kept", "broken", "misbehaved", "suspect", "not judged", "cannot run")
VERDICTS = "verdicts.jsonl"
CHECKS = {"on_gpu": "gpu.jsonl", "in_float64": "float64.jsonl", "by_text": "text.jsonl"}
"""What Outcome calls a check, and the file of its lines."""


@dataclass(frozen=True)
class Solution:
    """A solution of a problem, and where it is from."""

    solution: Path
    problem: Path
    name: str
    repository: str
    commit: str
    path: str
    language: str

    @property
    def digest(self) -> str:
        """Ten digits of its text and its problem's."""
        return digest_of(self.solution.read_bytes(), self.problem.read_bytes())

    @property
    def key(self) -> str:
        """A name for its outcome."""
        return f"{self.name}-{self.language}-{self.digest}"


def digest_of(solution: bytes, problem: bytes) -> str:
    """Ten digits of the texts of a solution and its problem."""
    return hashlib.sha256(solution + problem).hexdigest()[:10]


@dataclass
class Outcome:
    """The verdict on a solution, as a judgement has it, and what others found of it."""

    key: str
    problem: str
    repository: str
    commit: str
    file: str
    language: str
    status: str
    stage: str
    kind: str
    why: str
    elsewhere: str
    trials: int
    planned: int
    is_cut_short: bool
    rows: int
    unjudged_rows: int
    seconds: float
    worst: dict[str, Any] = field(default_factory=dict)
    """The worst element: `at`, `got`, `want`; its case is beside it as arrays."""
    on_gpu: dict[str, Any] = field(default_factory=dict)
    """What benchmarks.detection.solutions_on_gpu found of it."""
    in_float64: dict[str, Any] = field(default_factory=dict)
    """What benchmarks.detection.solutions_in_float64 found of it."""
    by_text: dict[str, Any] = field(default_factory=dict)
    """What benchmarks.detection.solutions_by_text found of it."""


def read_list(path: Path) -> list[Solution]:
    """The solutions of a list; files that are not absolute lie beside it."""
    every = json.loads(path.read_text(encoding="utf-8"))
    return [
        Solution(path.parent / one["solution"], path.parent / one["problem"], one["name"], one["repository"],
                 one["commit"], one["path"], one["kind"])
        for one in every
    ]  # fmt: skip


def judge_rest(every: Sequence[Solution], options: argparse.Namespace) -> None:
    """Judge the solutions whose verdict is not kept yet, in their order; those under way at the end are left."""
    known = read_lines(options.keep / VERDICTS)
    left = iter([one for one in every if one.key not in known])
    pending: dict[Future[Judgement], Solution] = {}
    with JudgingPool(options.jobs, is_only=True) as pool:
        while time.monotonic() < options.until:
            for one in islice(left, 2 * options.jobs - len(pending)):
                request = JudgingRequest(str(one.solution.resolve()), reference=str(one.problem.resolve()),
                                         terms=JudgingTerms(SEED), is_sandboxed=options.sandbox)  # fmt: skip
                pending[pool.submit(request)] = one
            if not pending:
                return
            rest = options.until - time.monotonic()
            done, _ = wait(pending, min(rest, threading.TIMEOUT_MAX), return_when=FIRST_COMPLETED)
            for future in done:
                keep(pending.pop(future), future, options.keep)


def keep(solution: Solution, future: "Future[Judgement]", folder: Path) -> None:
    """Write a verdict, and the arrays of its case; there is none if the problem is at fault."""
    try:
        judged = future.result()
    except JudgingError as error:
        judged = Judgement("cannot run", "none", f"no verdict: {error}")
    if judged.case:
        np.savez_compressed(case_file(folder, solution.key), **dict(judged.case))  # type: ignore[arg-type]  # any name
    found = outcome_of(solution, judged)
    add_line(folder / VERDICTS, solution.key, asdict(found))
    print(found.status, found.key, found.kind, f"{found.seconds:.1f} s", found.why, file=sys.stderr, flush=True)


def case_file(folder: Path, key: str) -> Path:
    """The arrays of a finding's case."""
    return folder / "cases" / f"{key}.npz"


def outcome_of(solution: Solution, judged: Judgement) -> Outcome:
    """A verdict on a solution, with kfuzz's words cut short."""
    worst = {} if judged.at is None else {"at": judged.at, "got": judged.got, "want": judged.want}
    return Outcome(
        solution.key, solution.name, solution.repository, solution.commit, solution.path, solution.language,
        judged.status, judged.stage, judged.kind or "", shortened(judged.finding), shortened(judged.elsewhere),
        judged.trials, judged.planned, judged.is_cut_short, judged.rows, judged.unjudged_rows,
        round(judged.seconds, 2), worst,
    )  # fmt: skip


def shortened(words: str) -> str:
    return " ".join(PLACE.sub("", words).split())[:LONGEST_REASON]


def outcomes_of(every: Sequence[Solution], kept: Path) -> Iterator[Outcome]:
    """The verdicts that are kept, with what others found."""
    verdicts = read_lines(kept / VERDICTS)
    checks = {name: read_lines(kept / file) for name, file in CHECKS.items()}
    for one in every:
        if one.key in verdicts:
            more = {name: found.get(one.key, {}) for name, found in checks.items()}
            yield Outcome(one.key, **{**verdicts[one.key], **more})


def measure(arguments: Sequence[str]) -> Figures:
    """Judge each solution of a list."""
    parser = argparse.ArgumentParser()
    parser.add_argument("list", type=Path)
    parser.add_argument("--keep", type=Path, required=True, help="keep each verdict here, and use what is there")
    parser.add_argument("--first", type=int, default=1000, help="so many of the list")
    parser.add_argument("--part", default="0/1", help="every so many, from this one on")
    parser.add_argument("--jobs", type=int, default=1, help="so many at a time")
    parser.add_argument("--stop", type=float, default=math.inf, help="stop after so many seconds")
    parser.add_argument("--no-sandbox", dest="sandbox", action="store_false", help="where the machine gives none")
    parser.add_argument("--only-kept", action="store_true", help="judge nothing: use what is kept")
    options = parser.parse_args(arguments)
    options.until = time.monotonic() + options.stop
    options.keep = options.keep.resolve()
    (options.keep / "cases").mkdir(parents=True, exist_ok=True)
    every = read_list(options.list)[: options.first]
    if not options.only_kept:
        start, step = map(int, options.part.split("/"))
        judge_rest(every[start::step], options)
    numbers = {"budget": JudgingTerms().budget, "seed": SEED, "solutions": len(every)}
    return Figures(numbers, {"solutions": records(outcomes_of(every, options.keep))})


if __name__ == "__main__":
    measure(sys.argv[1:])
