"""Solutions that language models wrote for problems of KernelBench, unedited, each against its problem.

    python -m benchmarks.detection measure solutions LIST.json --keep FOLDER [--only WORDS] [--jobs 1] [--only-kept]

LIST.json holds an object for each solution: the files `solution` and `problem`, the problem's `name`, the `repository`
and `commit` that the solution is from, its `path` there, and its `kind`, cuda or triton. Copies of those of one problem
go through `kfuzz fuzz answers --reference PROBLEM --device cpu` together. FOLDER keeps an outcome of each, and kfuzz's
report and cases; an outcome that is there already is not measured again. The figures hold names, counts and kfuzz's own
words, and no text of the solutions.
"""

import argparse
import ast
import hashlib
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from benchmarks.measurement import Figures, records

SEED = 7
TO_REPORT = 20
"""Seconds for a campaign that is stopped to write its report."""
PLACE = re.compile(r"(?<![\w.])/[^\s:'\"]*/(?=[^\s/])")
"""The folder of a file, which is another one on each machine."""
LONGEST_REASON = 240
STATUSES = ("kept", "suspect", "broken", "cannot run")


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
    def key(self) -> str:
        """A name for its outcome: of its text and its problem's."""
        texts = self.solution.read_bytes() + self.problem.read_bytes()
        return f"{self.name}-{self.language}-{hashlib.sha256(texts).hexdigest()[:10]}"


@dataclass
class Outcome:
    """The result of a solution: kept, suspect (warnings alone), broken, or cannot run.

    `kinds`: its findings, errors first, as `kind` or `kind (warning)`.
    """

    key: str
    problem: str
    repository: str
    commit: str
    file: str
    kind: str
    status: str = ""
    kinds: tuple[str, ...] = ()
    why: str = ""
    trials: int = 0
    rows: int = 0
    on_gpu: dict[str, Any] = field(default_factory=dict)
    """What benchmarks.detection.solutions_on_gpu found of it."""
    in_float64: dict[str, int] = field(default_factory=dict)
    """What benchmarks.detection.solutions_in_float64 counted."""
    at_home: dict[str, Any] = field(default_factory=dict)
    """What benchmarks.detection.kept_in_float64 found of it."""


def read_list(path: Path) -> list[Solution]:
    """The solutions of a list; files that are not absolute lie beside it."""
    every = json.loads(path.read_text(encoding="utf-8"))
    return [
        Solution(path.parent / one["solution"], path.parent / one["problem"], one["name"], one["repository"],
                 one["commit"], one["path"], one["kind"])
        for one in every
    ]  # fmt: skip


def fuzz(problem: Path, solutions: Sequence[Solution], options: argparse.Namespace) -> list[Outcome]:
    """Run a campaign of some solutions of one problem; its report and its cases stay in a folder.

    Nothing comes back of a campaign that `until` stops.
    """
    seconds = min(options.seconds * len(solutions), options.until - time.monotonic())
    if seconds <= 0:
        return []
    own = options.keep / f"{solutions[0].key}.campaign"
    shutil.rmtree(own, ignore_errors=True)
    (own / "answers").mkdir(parents=True)
    for one in solutions:
        (own / "answers" / f"{one.key}{one.solution.suffix}").write_bytes(one.solution.read_bytes())
    report = own / "report.json"
    words = [sys.executable, "-m", "kfuzz", "fuzz", "answers", "--reference", str(problem.resolve()),
             "--device", "cpu", "--max-cases", str(options.cases * len(solutions)), "--seed", str(SEED), "--jobs",
             "1", "--corpus", "cases", "--json", "report.json"]  # fmt: skip
    with (own / "said.txt").open("w", encoding="utf-8") as said:
        process = subprocess.Popen(words, cwd=own, stdout=said, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            stop(process)
            if time.monotonic() >= options.until:
                return []
    known = json.loads(report.read_text(encoding="utf-8")) if report.is_file() else {"kernels": [], "unusable": []}
    return [outcome_in(known, one, own) for one in solutions]


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a campaign, which keeps what it found so far, and every process of it."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(TO_REPORT)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def outcome_in(report: dict[str, Any], solution: Solution, own: Path) -> Outcome:
    """What a report says of one solution."""
    found = Outcome(solution.key, solution.name, solution.repository, solution.commit,
                    solution.path, solution.language)  # fmt: skip
    found.status = "cannot run"
    for kernel in report["kernels"]:
        if Path(kernel["path"]).stem != solution.key:
            continue
        found.trials, found.rows = kernel["trials"], kernel["rows"]
        errors = sorted({one["kind"] for one in kernel["findings"] if one["severity"] == "error"})
        warnings = sorted({one["kind"] for one in kernel["findings"] if one["severity"] == "warning"})
        found.kinds = (*errors, *(f"{one} (warning)" for one in warnings))
        found.status = "broken" if errors else "suspect" if warnings else "kept" if found.rows else found.status
        found.why = kernel["error"] or kernel["stopped"] or kernel["unjudged"]
        if findings := kernel["findings"]:
            found.why = findings[0]["message"]
    said = [one for one in report["unusable"] if solution.key in one]
    if not is_python(solution.solution):
        said = ["the file is not Python"]
    if not said and found.status == "cannot run" and not found.why:
        text = (own / "said.txt").read_text(encoding="utf-8", errors="replace")
        said = [line for line in text.splitlines() if line.strip()][-1:]
        if any("interrupted" in line for line in said):
            said = ["no trial was judged in the time that a solution has"]
    found.why = " ".join(PLACE.sub("", found.why or "".join(said[:1])).split())[:LONGEST_REASON]
    return found


def is_python(path: Path) -> bool:
    try:
        ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return False
    return True


def in_turns(every: Iterable[Solution], size: int) -> Iterator[Sequence[Solution]]:
    """Some solutions of each problem, then more of each: there may be no time for all.

    Those in Triton come one by one: one of them may take the time of all to compile.
    """
    groups: dict[tuple[bytes, str], list[Solution]] = {}
    for one in every:
        groups.setdefault((one.problem.read_bytes(), one.language), []).append(one)
    parts = []
    for (_, language), of in groups.items():
        step = 1 if language == "triton" else size
        parts.append([of[n : n + step] for n in range(0, len(of), step)])
    return (part for one in zip_longest(*parts) for part in one if part)


def fuzz_rest(every: Sequence[Solution], options: argparse.Namespace) -> None:
    """Fuzz the solutions whose outcome is not kept yet, some of one problem together."""
    left = [one for one in every if not (options.keep / f"{one.key}.json").is_file()]
    parts = list(in_turns(left, options.together))

    def run(part: list[Solution]) -> None:
        for found in fuzz(part[0].problem, part, options):
            (options.keep / f"{found.key}.json").write_text(json.dumps(asdict(found)), encoding="utf-8")
            print(found.status, found.key, *found.kinds, found.why, file=sys.stderr, flush=True)

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(run, parts))


def measure(arguments: Sequence[str]) -> Figures:
    """Fuzz each solution of a list."""
    parser = argparse.ArgumentParser()
    parser.add_argument("list", type=Path)
    parser.add_argument("--keep", type=Path, required=True, help="keep each outcome here, and use what is there")
    parser.add_argument("--only", default="", help="a pattern of the keys of the solutions")
    parser.add_argument("--cases", type=int, default=40, help="trials of each solution")
    parser.add_argument("--seconds", type=float, default=300, help="stop a campaign after this time for each solution")
    parser.add_argument("--together", type=int, default=8, help="so many solutions of a problem in one campaign")
    parser.add_argument("--jobs", type=int, default=1, help="so many campaigns at a time")
    parser.add_argument("--stop", type=float, default=math.inf, help="stop all of them after this time")
    parser.add_argument("--only-kept", action="store_true", help="measure nothing: use what is kept")
    options = parser.parse_args(arguments)
    options.until = time.monotonic() + options.stop
    options.keep = options.keep.resolve()
    options.keep.mkdir(parents=True, exist_ok=True)
    every = [one for one in read_list(options.list) if re.search(options.only, one.key)]
    if not options.only_kept:
        fuzz_rest(every, options)
    outcomes = []
    for one in every:
        if (found := read_json(options.keep / f"{one.key}.json")) is not None:
            others = (("on_gpu", "gpu"), ("in_float64", "float64"), ("at_home", "home"))
            more = {name: read_json(options.keep / f"{one.key}.{end}.json") or {} for name, end in others}
            outcomes.append(Outcome(**{**found, **more}))
    numbers = {"cases": options.cases, "seed": SEED, "solutions": len(every)}
    return Figures(numbers, {"solutions": records(outcomes)})


def read_json(path: Path) -> dict[str, Any] | None:
    found: dict[str, Any] | None = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    return found


if __name__ == "__main__":
    measure(sys.argv[1:])
