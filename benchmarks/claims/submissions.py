"""Problems of public benchmarks: which of them kfuzz judges, each by its own reference as a submission.

    python -m benchmarks.claims measure submissions CHECKOUT... [--trials 4] [--only PATTERN] [--jobs 9] [--keep FOLDER]

A checkout is of flashinfer-bench, SOL-ExecBench, robust-kbench or GPU MODE's reference-kernels; it is only read. The
reference of each problem is its own solution: a problem is *judged* if some trials of it have no finding, no error and
no warning, and elements of every output are judged; *partly* if those of some outputs are. Each problem has a process.
"""

import argparse
import json
import multiprocessing
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measurement import Figures, Record, records
from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.campaign.trials.unjudged import without_numbers
from kfuzz.claims.kernel import Kernel, load
from kfuzz.claims.references.solutions import DEFINITION
from kfuzz.claims.references.submissions.gpu_mode import TASK
from kfuzz.common.errors import TargetError
from kfuzz.devices import ClaimError
from kfuzz.devices.python.device import PythonDevice
from kfuzz.measure.roundings.guess_host import FunctionWords
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with
from kfuzz.oracle.bounds.question import enclose
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import values
from kfuzz.ui.targets.targets import find_one

SEED = 7
PLACE = re.compile(r"^\S+: (op = \"reference\": )?(\w+ in \S+: )?")
"""Where a refusal was, which is another place on each machine."""
LONGEST_REASON = 200
MORE = 4
"""So many times the trials are tried, until elements of every output are judged: inputs may be infinite in a few."""
BACKWARD = "func_backward.py"
"""The file of robust-kbench that asks for gradients."""
FUNCTIONS = re.compile(r"^def (reference_\w+)\(", re.MULTILINE)
"""The references of a task that has several."""
GRACE = 30
"""Seconds that a process has to end by itself when its time is over."""
NOT_MEASURED = "not measured"
"""The status of a problem that time did not suffice for; the figures have the number of them alone."""


@dataclass
class Outcome:
    """What became of one problem: judged, partly, not, or not measured."""

    name: str
    status: str
    why: str = ""
    trials: int = 0
    elements: int = 0
    outputs: dict[str, int] = field(default_factory=dict)
    """The judged elements of each output, in the first trial that has any."""
    unjudged: str = ""
    """Why an element was not judged, in the first trial that says so."""


@dataclass(frozen=True)
class Problem:
    """A problem in a checkout: a definition, or a file of torch with its model and its inputs."""

    name: str
    file: Path


def problems_of(checkout: Path) -> Iterator[Problem]:
    """Definitions of flashinfer-bench, samples of SOL-ExecBench, tasks of robust-kbench and of GPU MODE."""
    for path in sorted(checkout.glob("flashinfer_trace/definitions/*/*.json")):
        yield Problem(f"{path.parent.name}/{path.stem}", path)
    known = set()
    for path in (
        *sorted(checkout.glob("tests/*/samples/*/definition.json")),
        *checkout.glob(f"examples/*/*/{DEFINITION}"),
    ):
        if path.parent.name not in known:
            known.add(path.parent.name)
            yield Problem(path.parent.name, path)
    for path in sorted(checkout.glob("tasks/**/func_*.py")):
        yield Problem(f"{path.parent.relative_to(checkout / 'tasks')}/{path.stem.removeprefix('func_')}", path)
    for path in sorted(checkout.glob(f"problems/**/{TASK}")):
        yield Problem(str(path.parent.relative_to(checkout / "problems")), path)


def judge_problem(problem: Problem, device: PythonDevice, trials: int) -> Outcome:
    """Let the references of a problem solve it, each in some trials."""
    found = Outcome(problem.name, "not")
    with tempfile.TemporaryDirectory() as folder:
        try:
            for prefix, kernel in kernels_of(problem, Path(folder)):
                found.outputs |= dict.fromkeys((f"{prefix}{name}" for name in find(kernel.op).outputs), 0)
                if why := judge_kernel(kernel, prefix, device, trials, found):
                    found.why = why
                    return found
        except (ClaimError, TargetError) as error:
            found.why = PLACE.sub("", str(error)).replace(f"{problem.file.parent}/", "")
            return found
    left = [name for name, count in found.outputs.items() if not count]
    found.status = "judged" if not left else "partly" if len(left) < len(found.outputs) else "not"
    because = f": {found.unjudged}" * bool(found.unjudged)
    found.why = f"no element of {', '.join(left)} was judged{because}" if left else ""
    return found


def judge_kernel(kernel: Kernel, prefix: str, device: PythonDevice, trials: int, found: Outcome) -> str:
    """Count trials and judged elements; what is wrong with the kernel, and in which trial, if anything is."""
    outputs = dict.fromkeys(find(kernel.op).outputs, 0)
    for index in range(trials * MORE):
        if index >= trials and all(outputs.values()):
            break
        attempt = attempt_of(kernel, SEED, index)
        trial = run_trial(kernel, attempt.case, attempt.tune, device, probe_of(kernel, SEED, index, 2, 120.0))
        found.trials += 1
        found.elements += trial.elements
        found.unjudged = found.unjudged or next((str(without_numbers(one)) for one in trial.reasons), "")
        if trial.defects:
            return f"{trial.defects[0].kind}, in trial {index}"
        if trial.elements and not all(outputs.values()):
            outputs = judged_elements(kernel, attempt.case.arrays, outputs)
    found.outputs |= {f"{prefix}{name}": count for name, count in outputs.items()}
    return ""


def kernels_of(problem: Problem, folder: Path) -> Iterator[tuple[str, Kernel]]:
    """The references of a problem as kernels that are judged by themselves; the names of several stand before them."""
    if problem.file.name == TASK:
        path = problem.file.with_name("reference.py")
        text = path.read_text(encoding="utf-8")
        names = ["ref_kernel"] if "def ref_kernel(" in text else FUNCTIONS.findall(text)
        for name in names:
            words, reference = FunctionWords(name, (), {}, False), path.with_name(f"{path.name}:{name}")
            yield f"{name}: " * (len(names) > 1), kernel_with(path, Unclaimed("reference", words, reference=reference))
    elif problem.file.name == BACKWARD:
        words, path = FunctionWords("backward"), write_gradients(problem, folder)
        yield "", kernel_with(path, Unclaimed("reference", words, reference=problem.file))
    elif problem.file.suffix == ".py":
        yield "", kernel_with(problem.file, Unclaimed("reference", FunctionWords("forward_fn")))
    else:
        yield "", load(find_one(str(write_solution(problem, folder))))


def write_solution(problem: Problem, folder: Path) -> Path:
    """The definition, and its reference as a solution that returns its answers."""
    definition = json.loads(problem.file.read_text(encoding="utf-8"))
    spec = {"languages": ["pytorch"], "entry_point": "main.py::run", "destination_passing_style": False}
    sources = [{"path": "main.py", "content": definition["reference"]}]
    (folder / DEFINITION).write_text(json.dumps(definition), encoding="utf-8")
    path = folder / "solution.json"
    path.write_text(json.dumps({"name": "reference", "spec": spec, "sources": sources}), encoding="utf-8")
    return path


def write_gradients(problem: Problem, folder: Path) -> Path:
    """The task, and the gradients of its function by torch as a submission that takes what `backward_fn` is handed."""
    asked = [sys.executable, "-m", "benchmarks.claims.gradients", str(problem.file)]
    made = subprocess.run(asked, capture_output=True, text=True, check=False)
    if made.returncode:
        raise ClaimError(f"its gradients cannot be written: {made.stderr.strip().rpartition(chr(10))[2]}")
    path = folder / "backward.py"
    path.write_text(made.stdout, encoding="utf-8")
    return path


def judged_elements(kernel: Kernel, arrays: Any, known: dict[str, int]) -> dict[str, int]:  # noqa: ANN401  of a case
    """How many elements of each output are judged for these inputs; what is known stays."""
    op, bound = find(kernel.op), kernel.bind(arrays, {})
    stored = {str(one.writes): one.element for one in kernel.arrays.values() if one.writes}
    given = {name: values(one) if op.inputs[name].is_float else one for name, one in kernel.stored(arrays).items()}
    with np.errstate(all="ignore"):
        every = enclose(op, given, bound.accuracy, kernel.special, bound.scalars, stored)
    return {name: count or int(every[name].judged.sum()) for name, count in known.items()}


def judge_and_keep(problem: Problem, into: Path, seconds: int, trials: int) -> None:
    """Judge one problem, for no longer than it may take, and keep what became of it."""
    signal.signal(signal.SIGALRM, raise_timeout)
    signal.alarm(seconds)
    device = PythonDevice()
    try:
        found = judge_problem(problem, device, trials)
    except TimeoutError:
        found = took_too_long(problem, seconds)
    except Exception as error:  # of the problem's code, of torch, or of kfuzz: it is this problem's outcome
        found = Outcome(problem.name, "not", f"{type(error).__name__}: {error}")
    finally:
        signal.alarm(0)
    keep(found, into)
    device.close()


def raise_timeout(*_: object) -> None:
    raise TimeoutError


def took_too_long(problem: Problem, seconds: int) -> Outcome:
    return Outcome(problem.name, "not", f"more than {seconds} s")


def keep(outcome: Outcome, into: Path) -> None:
    outcome.why = " ".join(outcome.why.split())[:LONGEST_REASON]
    into.write_text(json.dumps(asdict(outcome)), encoding="utf-8")


def outcome_of(problem: Problem, kept: Path, options: argparse.Namespace) -> Outcome:
    """The outcome that is kept already, else what a process measures and keeps."""
    into = kept / f"{problem.name.replace('/', '_')}.json"
    if not into.is_file() and not options.only_kept:
        given = (problem, into, options.seconds, options.trials)
        child = multiprocessing.get_context("spawn").Process(target=judge_and_keep, args=given)
        child.start()
        child.join(options.seconds + GRACE)
        if not into.is_file():
            found = took_too_long(problem, options.seconds)
            if child.exitcode is not None:
                found.why = f"its process ended with {child.exitcode}"
            child.kill()
            keep(found, into)
    outcome = Outcome(problem.name, NOT_MEASURED)
    if into.is_file():
        outcome = Outcome(**json.loads(into.read_text(encoding="utf-8")))
    print(outcome.status, outcome.name, outcome.why, file=sys.stderr, flush=True)
    return outcome


def judge_all(problems: list[Problem], kept: Path, options: argparse.Namespace) -> list[Outcome]:
    """Every outcome that is kept already, and the others measured, some at a time."""
    with ThreadPoolExecutor(options.jobs) as threads:
        return list(threads.map(partial(outcome_of, kept=kept, options=options), problems))


def commit_of(checkout: Path) -> str:
    asked = ["git", "-C", str(checkout), "rev-parse", "--short=8", "HEAD"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def measure(arguments: Sequence[str]) -> Figures:
    """Judge the problems of each checkout; a table by its name, its commit, and the number of its problems."""
    parser = argparse.ArgumentParser()
    parser.add_argument("checkouts", nargs="+", type=Path)
    parser.add_argument("--only", default="", help="a pattern of the problems' names")
    parser.add_argument("--trials", type=int, default=4, help="trials of each problem")
    parser.add_argument("--seconds", type=int, default=600, help="a problem that takes longer is not judged")
    parser.add_argument("--jobs", type=int, default=1, help="so many problems at once")
    parser.add_argument("--keep", type=Path, help="keep each outcome here, and use what is there already")
    parser.add_argument("--only-kept", action="store_true", help="measure nothing: use what is kept")
    options = parser.parse_args(arguments)
    commits, problems, tables = dict[str, str](), dict[str, int](), dict[str, list[Record]]()
    with tempfile.TemporaryDirectory() as folder:
        for checkout in options.checkouts:
            every = [one for one in problems_of(checkout) if re.search(options.only, one.name)]
            name = checkout.resolve().name
            kept = (options.keep or Path(folder)) / name
            kept.mkdir(parents=True, exist_ok=True)
            commits[name] = commit_of(checkout)
            problems[name] = len(every)
            tables[name] = records(one for one in judge_all(every, kept, options) if one.status != NOT_MEASURED)
    return Figures({"commits": commits, "problems": problems, "trials": options.trials}, tables)
