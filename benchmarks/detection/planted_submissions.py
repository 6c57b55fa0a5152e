"""Right and wrong submissions to KernelBench: each problem's own Model, and the same with one planted bug.

    python -m benchmarks.detection measure planted_submissions FOLDER [--jobs 2] [--only PATTERN] [--keep FOLDER]

FOLDER holds level1, level2, ...; it is only read. planted_edits.toml has one bug for each of 100 problems. The right
submission is the problem's Model under the name ModelNew, and a second one is the same with torch's decompositions of
each operation; neither must have an error. Each submission has a campaign of its own (`kfuzz fuzz --reference`); a bug
is found if it reports an error. A problem with many weights gets smaller constants.
"""

import argparse
import ast
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from benchmarks.measurement import Figures, records
from benchmarks.tightness.kernelbench import LIMITS, shrink

HERE = Path(__file__).parent
EDITS, FUNCTIONS, DECOMPOSED = HERE / "planted_edits.toml", HERE / "planted_functions.py", HERE / "decomposed.py"
SEED = 11
SORTS = ("bug", "twin", "decomposed")
MOST_WEIGHTS = 1 << 15
"""A model with more weights gets smaller constants: kfuzz computes bounds for each of its products."""
DIVIDED = tuple((0, 1 << power) for power in range(11, 2, -1))
"""The largest constant, where all are divided by one number: the channels of a group remain as many."""
LONGEST_REASON = 300


@dataclass(frozen=True)
class Problem:
    """A problem, and the bug that is planted into its Model: its words, a pattern and what stands there instead."""

    path: Path
    bug: str
    pattern: str
    replacement: str

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.stem}"


@dataclass
class Outcome:
    """What became of one submission: broken, warned, kept, or not judged."""

    name: str
    sort: str
    bug: str
    status: str = "not judged"
    kind: str = ""
    trial: int | None = None
    """The first trial with an error, or with a warning if none has an error."""
    trials: int = 0
    why: str = ""
    test: dict[str, Any] | None = None
    """What KernelBench's own test says of it, at the constants that it has here."""
    is_smaller: bool = False
    """The problem's constants were made smaller."""


def problems_in(folder: Path) -> Iterator[Problem]:
    """The problems that have a bug, in their order."""
    edits = tomllib.loads(EDITS.read_text(encoding="utf-8"))
    for level, every in edits.items():
        for number, (bug, pattern, replacement) in every.items():
            for path in folder.glob(f"{level}/{number}_*.py"):
                yield Problem(path, bug, pattern, replacement)


def without_docstrings(source: str) -> str:
    """The text as ast.unparse writes it."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Module) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def submission(problem: Problem, source: str, sort: str) -> str:
    """The problem's Model as a submission of this sort."""
    text = re.sub(r"\bModel\b", "ModelNew", source)
    if sort == "bug":
        edited, count = re.subn(problem.pattern, problem.replacement, text)
        if count != 1 or edited == text:
            raise ValueError(f"{problem.name}: the pattern matches {count} times")
        return f"{edited}\n\n{without_docstrings(FUNCTIONS.read_text(encoding='utf-8'))}\n"
    if sort == "decomposed":
        return f"{text}\n\n{without_docstrings(DECOMPOSED.read_text(encoding='utf-8'))}\n"
    return f"{text}\n"


def with_few_weights(source: str) -> tuple[str, bool]:
    """The text with the largest constants whose model has few weights, and whether they are smaller than its own."""
    if weights_of(source) <= MOST_WEIGHTS:
        return source, False
    for batch, most in (*DIVIDED, *LIMITS[-2::-1]):
        with suppress(Exception):  # of a model whose constants do not fit each other any more
            smaller = shrink(source, batch, most)
            if weights_of(smaller) <= MOST_WEIGHTS:
                return smaller, True
    return source, False


def weights_of(source: str) -> int:
    """How many weights the model has."""
    module: dict[str, Any] = {"__name__": "problem"}
    exec(compile(source, "problem", "exec"), module)  # noqa: S102  it runs later, too
    with torch.device("meta"):
        return sum(one.numel() for one in module["Model"](*module["get_init_inputs"]()).parameters())


def judge_submission(problem: Problem, sort: str, options: argparse.Namespace) -> Outcome:
    """Fuzz one submission as a user does; a bug until it is found."""
    found = Outcome(problem.name, sort, problem.bug if sort == "bug" else "")
    source, found.is_smaller = with_few_weights(without_docstrings(problem.path.read_text(encoding="utf-8")))
    with tempfile.TemporaryDirectory() as folder:
        asked, answer = Path(folder) / "problem.py", Path(folder) / f"{problem.path.stem}.py"
        asked.write_text(source, encoding="utf-8")
        answer.write_text(submission(problem, source, sort), encoding="utf-8")
        trials = options.trials if sort == "bug" else options.trials // 2
        words = [
            sys.executable, "-m", "kfuzz", "fuzz", str(answer), "--reference", str(asked), "--device", "cpu", "--jobs",
            "1", "--max-cases", str(trials), "--seed", str(SEED), "--corpus", f"{folder}/corpus", "--json",
            f"{folder}/report.json", *(["--stop-at-first"] if sort == "bug" else []),
            "--own-test" if options.own_test and sort == "bug" else "--no-own-test",
        ]  # fmt: skip
        usual = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        own = subprocess.Popen(words, env=usual, text=True, start_new_session=True, **pipes)
        try:
            found.why = " ".join(own.communicate(timeout=options.seconds)[1].split())
        except subprocess.TimeoutExpired:
            os.killpg(own.pid, signal.SIGKILL)
            found.why = f"more than {options.seconds} s"
            return found
        if (Path(folder) / "report.json").is_file():
            add_report(found, json.loads((Path(folder) / "report.json").read_text(encoding="utf-8"))["kernels"][0])
    return found


def add_report(found: Outcome, kernel: dict[str, Any]) -> None:
    """Add what the report says of the submission."""
    found.trials, found.test = kernel["trials"], kernel["benchmark"]
    findings = sorted(kernel["findings"], key=lambda one: (one["severity"] != "error", one["first_trial"]))
    if findings:
        first = findings[0]
        found.status = "broken" if first["severity"] == "error" else "warned"
        found.kind, found.trial, found.why = first["kind"], first["first_trial"], first["message"]
    elif kernel["trials"] and not (kernel["error"] or kernel["unjudged"]):
        found.status, found.why = "kept", "; ".join(kernel["not_judged"])


def judge_and_keep(problem: Problem, sort: str, options: argparse.Namespace) -> None:
    """Judge one submission, and keep its outcome."""
    found = judge_submission(problem, sort, options)
    found.why = " ".join(found.why.split())[:LONGEST_REASON]
    kept_file(options.keep, problem, sort).write_text(json.dumps(asdict(found)), encoding="utf-8")
    print(found.status, found.sort, found.name, found.kind, found.trial, found.why[:90], file=sys.stderr, flush=True)


def kept_file(folder: Path, problem: Problem, sort: str) -> Path:
    return folder / f"{problem.name.replace('/', '_')}.{sort}.json"


def measure(arguments: Sequence[str]) -> Figures:
    """Judge each submission that has no kept outcome, and return all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="a pattern of SORT/LEVEL/NAME")
    parser.add_argument("--trials", type=int, default=40, help="the most trials of a bug; half as many of a right one")
    parser.add_argument("--seconds", type=int, default=600, help="a submission that takes longer is not judged")
    parser.add_argument("--keep", type=Path, help="keep each outcome here, and use what is there already")
    parser.add_argument("--own-test", action="store_true", help="also ask KernelBench's own test about each bug")
    parser.add_argument("--only-kept", action="store_true", help="measure nothing: use what is kept")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        options.keep = options.keep or Path(folder)
        options.keep.mkdir(parents=True, exist_ok=True)
        every = [
            (problem, sort) for sort in SORTS for problem in problems_in(options.folder)
            if re.search(options.only, f"{sort}/{problem.name}")
        ]  # fmt: skip
        if not options.only_kept:
            left = [pair for pair in every if not kept_file(options.keep, *pair).is_file()]
            with ThreadPoolExecutor(options.jobs) as pool:
                for one in [pool.submit(judge_and_keep, problem, sort, options) for problem, sort in left]:
                    one.result()
        kept = [file for pair in every if (file := kept_file(options.keep, *pair)).is_file()]
        outcomes = [Outcome(**json.loads(file.read_text(encoding="utf-8"))) for file in kept]
    return Figures(
        {"trials": options.trials, "problems": len(list(problems_in(options.folder)))},
        {sort: records(one for one in outcomes if one.sort == sort) for sort in SORTS},
    )
