"""Right and wrong submissions to KernelBench: each problem's own Model, and the same with one planted bug.

    python -m benchmarks.detection measure planted_submissions FOLDER [--jobs 2] [--only PATTERN] [--keep FOLDER]
    python -m benchmarks.detection measure planted_submissions FOLDER --keep FOLDER --only-kept --known

FOLDER holds level1, level2, ...; it is only read. The second command takes outcomes of other machines into the page.
planted_edits.toml has one bug for each of 100 problems. The right submission is the problem's Model under the name
ModelNew, and a second one is the same with torch's decompositions of each operation; neither must have an error. Each
submission has a campaign of its own (`kfuzz fuzz --reference`); a bug is found if it reports an error. A problem with
many weights gets smaller constants. Long, since a campaign runs in a process of this file.
"""

import argparse
import ast
import json
import math
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from queue import Queue
from typing import Any

import torch

from benchmarks.detection.own_tests import ask_own_test
from benchmarks.measurement import Figures, records
from benchmarks.tightness.kernelbench import LIMITS, shrink
from kfuzz.campaign.campaign import Lane
from kfuzz.campaign.explain import search
from kfuzz.campaign.options import Options
from kfuzz.claims.language.reference import OP
from kfuzz.devices import ClaimError, DeviceError, Job, Probe
from kfuzz.devices import Outcome as Ended
from kfuzz.devices.python.device import PythonDevice
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with

HERE = Path(__file__).parent
EDITS, FUNCTIONS, DECOMPOSED = HERE / "planted_edits.toml", HERE / "planted_functions.py", HERE / "decomposed.py"
DATA = HERE / "data" / "planted_submissions.json"
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


def judge_submission(
    problem: Problem, sort: str, options: argparse.Namespace, server: "Server", seconds: float
) -> Outcome:
    """Fuzz one submission as `kfuzz fuzz --reference` does; a bug until it is found."""
    found = Outcome(problem.name, sort, problem.bug if sort == "bug" else "")
    source, found.is_smaller = with_few_weights(without_docstrings(problem.path.read_text(encoding="utf-8")))
    with tempfile.TemporaryDirectory() as folder:
        asked, answer = Path(folder) / "problem.py", Path(folder) / f"{problem.path.stem}.py"
        asked.write_text(source, encoding="utf-8")
        answer.write_text(submission(problem, source, sort), encoding="utf-8")
        question = {
            "problem": str(asked), "answer": str(answer), "is_bug": sort == "bug",
            "trials": options.trials if sort == "bug" else options.trials // 3,
            "own_test": options.own_test and sort == "bug",
        }  # fmt: skip
        answer = server.ask(question, seconds)
        return replace(found, **{**answer, "why": answer["why"].replace(f"{folder}/", "")})


class Server:
    """A process that runs campaigns one after the other: torch is imported once, and not for each of them."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def ask(self, question: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """What became of a submission; the process is killed where it takes longer."""
        if self.process is None:
            words = [sys.executable, "-m", "benchmarks.detection.planted_submissions"]
            usual = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(
                words, env=usual, text=True, start_new_session=True, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
            )
        assert self.process.stdin
        assert self.process.stdout
        with suppress(BrokenPipeError):
            print(json.dumps(question), file=self.process.stdin, flush=True)
            if select.select([self.process.stdout], [], [], seconds)[0] and (line := self.process.stdout.readline()):
                answer: dict[str, Any] = json.loads(line)
                return answer
        ended = self.process.poll()
        self.close()
        return {"why": f"more than {seconds:.0f} s" if ended is None else f"its process ended with {ended}"}

    def close(self) -> None:
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.process = None


class Shared:
    """A device that stays open from one campaign to the next."""

    def __init__(self) -> None:
        self.device = PythonDevice()
        self.name = self.device.name

    def run(self, job: Job, probe: Probe) -> Ended:
        return self.device.run(job, probe)

    def close(self) -> None:
        """The device closes with its process."""


def serve() -> None:
    """Answer the questions on the standard input until it ends."""
    answers, sys.stdout = sys.stdout, sys.stderr
    shared = Shared()
    for line in sys.stdin:
        try:
            answer = run_one(json.loads(line), shared)
        except (ClaimError, DeviceError) as error:
            answer = {"why": str(error)}
        print(json.dumps(answer), file=answers, flush=True)


def run_one(question: Mapping[str, Any], device: Shared) -> dict[str, Any]:
    """The campaign of one submission, and what it found."""
    kernel = kernel_with(Path(question["answer"]), Unclaimed(OP, reference=Path(question["problem"])))
    asked = Options(seed=SEED, max_cases=question["trials"], other_shapes=False, stop_at_first=question["is_bug"])
    (result,) = search((kernel,), [Lane(device.name, lambda: device)], asked).kernels
    if question["is_bug"] and result.discoveries and not any(one.is_error for one in result.discoveries):
        # the first error was none at the shape of the problem, so that the search goes on, as kfuzz fuzz does
        whole = replace(asked, stop_at_first=False)
        (result,) = search((kernel,), [Lane(device.name, lambda: device)], whole).kernels
    found: dict[str, Any] = {"trials": result.progress.trials}
    if question["own_test"]:
        test = ask_own_test(kernel, on_gpu=False)
        found["test"] = asdict(test) if test else None
    if bugs := sorted(result.discoveries, key=lambda one: (not one.is_error, one.first_trial)):
        defect = bugs[0].defect
        words = {"status": "broken" if bugs[0].is_error else "warned", "kind": defect.kind, "why": defect.message}
        return {**found, **words, "trial": bugs[0].first_trial}
    if result.progress.trials and not (result.progress.error or result.unjudged):
        return {**found, "status": "kept", "why": "; ".join(result.progress.not_judged)}
    return {**found, "why": result.progress.error or "; ".join(result.progress.not_judged)}


def judge_and_keep(problem: Problem, sort: str, options: argparse.Namespace, servers: "Queue[Server]") -> None:
    """Judge one submission, and keep its outcome, unless the time for all of them ends before."""
    server = servers.get()
    left = options.until - time.monotonic()
    found = judge_submission(problem, sort, options, server, min(options.seconds, left)) if left > 0 else None
    servers.put(server)
    if found is None or (found.status == "not judged" and time.monotonic() >= options.until):
        return
    found.why = " ".join(found.why.split())[:LONGEST_REASON]
    kept_file(options.keep, problem, sort).write_text(json.dumps(asdict(found)), encoding="utf-8")
    print(found.status, found.sort, found.name, found.kind, found.trial, found.why[:90], file=sys.stderr, flush=True)


def kept_file(folder: Path, problem: Problem, sort: str) -> Path:
    return folder / f"{problem.name.replace('/', '_')}.{sort}.json"


def outcome_of(folder: Path, problem: Problem, sort: str, known: Mapping[tuple[str, str], Outcome]) -> Outcome | None:
    """The kept outcome of a submission, or else the known one, if it has the same bug."""
    file = kept_file(folder, problem, sort)
    if file.is_file():
        return Outcome(**json.loads(file.read_text(encoding="utf-8")))
    found = known.get((problem.name, sort))
    return found if found and found.bug == (problem.bug if sort == "bug" else "") else None


def outcomes_before() -> dict[tuple[str, str], Outcome]:
    """What the data file says now, by problem and sort."""
    tables = json.loads(DATA.read_text(encoding="utf-8"))["tables"].values()
    rows = [Outcome(**dict(zip(table["columns"], row, strict=True))) for table in tables for row in table["rows"]]
    return {(one.name, one.sort): one for one in rows}


def rank_in(patterns: Sequence[str], name: str) -> int | None:
    """Which of the patterns is the first that occurs in a name."""
    return next((rank for rank, pattern in enumerate(patterns) if re.search(pattern, name)), None)


def measure(arguments: Sequence[str]) -> Figures:
    """Judge each submission that has no kept outcome, and return all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", action="append", help="a pattern of SORT/LEVEL/NAME; of several, in their order")
    parser.add_argument("--trials", type=int, default=40, help="the most trials of a bug; a third of it of a right one")
    parser.add_argument("--seconds", type=int, default=600, help="a submission that takes longer is not judged")
    parser.add_argument("--stop", type=float, default=math.inf, help="no submission is judged after so many seconds")
    parser.add_argument("--keep", type=Path, help="keep each outcome here, and use what is there already")
    parser.add_argument("--own-test", action="store_true", help="also ask KernelBench's own test about each bug")
    parser.add_argument("--only-kept", action="store_true", help="measure nothing: use what is kept")
    parser.add_argument("--known", action="store_true", help="add what the last measurement says of the others")
    options = parser.parse_args(arguments)
    options.until = time.monotonic() + options.stop
    with tempfile.TemporaryDirectory() as folder:
        options.keep = options.keep or Path(folder)
        options.keep.mkdir(parents=True, exist_ok=True)
        every = {
            (problem, sort): rank for sort in SORTS for problem in problems_in(options.folder)
            if (rank := rank_in(options.only or [""], f"{sort}/{problem.name}")) is not None
        }  # fmt: skip
        if not options.only_kept:
            in_order = sorted(every, key=every.__getitem__)
            left = [pair for pair in in_order if not kept_file(options.keep, *pair).is_file()]
            servers: Queue[Server] = Queue()
            for _ in range(options.jobs):
                servers.put(Server())
            with ThreadPoolExecutor(options.jobs) as pool:
                for one in [pool.submit(judge_and_keep, problem, sort, options, servers) for problem, sort in left]:
                    one.result()
            while not servers.empty():
                servers.get().close()
        known = outcomes_before() if options.known else {}
        outcomes = [one for pair in every if (one := outcome_of(options.keep, *pair, known))]
    return Figures(
        {"trials": options.trials, "problems": len(list(problems_in(options.folder)))},
        {sort: records(one for one in outcomes if one.sort == sort) for sort in SORTS},
    )


if __name__ == "__main__":
    serve()
