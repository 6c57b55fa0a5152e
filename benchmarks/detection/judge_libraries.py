"""Judge the public functions of Python libraries, as they are installed here.

    python -m benchmarks.detection.judge_libraries --device gpu --out FOLDER [torch triton/cast ...]

Each file of tests/data/library_functions/LIBRARY/ claims one function; a first line `# each: A = x, y; B = z` makes
one claim for each combination, with the words A and B replaced there and in the op. Each claim is tried in a process of
its own, for so many seconds after its first trial. Prints a table in Markdown: kept, broken with the worst answer that
was met, suspect where another way to compute the same may give it, refused, or not judged and why. Where
exact_values.py defines the function, the accused element is computed a second time, by mpmath: an accusation that this
does not confirm is withdrawn, and is a bug of kfuzz.

FOLDER keeps the files that were tried, and each result: the same command goes on where it was interrupted.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.detection.exact_values import exact_value
from kfuzz.callables.device import PythonDevice
from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.claims.kernel import Kernel, load
from kfuzz.devices import ClaimError, DeviceError
from kfuzz.oracle.elements import Element, values
from kfuzz.trials.defect import Defect
from kfuzz.trials.trial import run_trial
from kfuzz.trials.unjudged import unjudged_text

HERE = Path(__file__).parents[2] / "tests" / "data" / "library_functions"
LIBRARIES = {
    "numpy": "ml_dtypes", "torch": "torch", "triton": "triton", "jax": "jax", "cupy": "cupy-cuda13x",
    "torchao": "torchao", "bitsandbytes": "bitsandbytes", "liger": "liger-kernel", "flashinfer": "flashinfer-python",
    "numpy_floats": "numpy", "scipy_floats": "scipy", "torch_floats": "torch", "jax_floats": "jax",
}  # fmt: skip
"""The folders in their order, and the package of each: first functions of 8 and 4 bits, then those of floats."""
SEED, RUNS, LIMIT, ELEMENTS = 35, 2, 20.0, 1 << 14
"""Of the trials: their seed, runs of each case, seconds for each run, and elements of a case."""
GRACE = 240.0
"""Seconds beyond the given time for imports, and for compilations at import."""
SHOWN = 500
OP = re.compile(r'"\.\./ops/([^"]+)"')
TENSOR_CORES = '# accumulate = "mma fp8"\n'
"""A line of a claim that holds on a GPU alone: a CPU adds products of 8-bit floats in float32."""


@dataclass(frozen=True)
class Claimed:
    """One claim of one function: its file, and what its words stand for."""

    path: Path
    words: tuple[tuple[str, str], ...]

    @property
    def library(self) -> str:
        return self.path.parent.name

    @property
    def name(self) -> str:
        return "-".join([self.path.stem, *(value for _, value in self.words)])

    def write(self, folder: Path, device: str) -> Path:
        """Write the file that kfuzz tries, and its op beside it, with the words replaced."""
        path = folder / self.library / f"{self.name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = self.path.read_text(encoding="utf-8")
        text = text.split("\n", 1)[1] if self.words else text
        if op := OP.search(text):
            own = path.parent / "ops" / f"{self.name}-{op[1]}"
            own.parent.mkdir(exist_ok=True)
            own.write_text(self._replaced((HERE / "ops" / op[1]).read_text(encoding="utf-8")), encoding="utf-8")
            text = text.replace(op[0], f'"{own}"')
        text = self._replaced(text)
        path.write_text(text.replace(TENSOR_CORES, "") if device == "cpu" else text, encoding="utf-8")
        return path

    def _replaced(self, text: str) -> str:
        for word, value in self.words:
            text = re.sub(rf"\b{word}\b", value, text)
        return text


def claims_of(library: str, function: str = "*", claim: str = "") -> Iterator[Claimed]:
    """The claims of all functions of a library, of one, or one of these by its name."""
    for path in sorted((HERE / library).glob(f"{function}.py")):
        first = path.read_text(encoding="utf-8").split("\n", 1)[0]
        parts = [part.split("=") for part in first.removeprefix("# each:").split(";")] if "# each:" in first else []
        values = [[(word.strip(), value.strip()) for value in given.split(",")] for word, given in parts]
        every = [Claimed(path, words) for words in product(*values)]
        yield from (one for one in every if claim in ("", one.name))


@dataclass(frozen=True)
class Result:
    """What came of a claim.

    `worst`: the largest error of a kept answer, in units of the bound. `exact`: the second computation of the accused
    element, in 20 digits, and `units`: how far the answer is from it, in units of the last place of its type.
    """

    status: str
    words: str
    trials: int = 0
    rows: int = 0
    worst: float = 0.0
    exact: str = ""
    units: float = 0.0

    def __str__(self) -> str:
        tried = f"{self.trials:,} trials, {self.rows:,} rows"
        if self.status == "kept":
            return f"kept: {tried}; worst error {self.worst:.2g} of the bound"
        if self.status in ("broken", "suspect"):
            off = f"; exactly {self.exact}: {self.units:.3g} units off" if self.exact else ""
            return f"{'**broken**' if self.status == 'broken' else 'suspect'}: {self.words}{off} ({tried})"
        return f"{self.status}: {self.words}"


@dataclass(frozen=True)
class Accusation:
    """A defect with the inputs of its case, as the function got them."""

    defect: Defect
    inputs: Mapping[str, NDArray[np.float64]]
    output: Element


def judge(one: Claimed, device: str, seconds: float, folder: Path) -> Result:
    """Try a claim until the time is up, and say what came of it."""
    opened, trials, rows, worst = PythonDevice(device), 0, 0, 0.0
    gravest: Accusation | None = None
    reasons: dict[str, None] = {}
    until = float("inf")
    try:
        kernel = load(one.write(folder, device))
        while time.monotonic() < until:
            attempt = attempt_of(kernel, SEED, trials, ELEMENTS)
            trial = run_trial(kernel, attempt.case, attempt.tune, opened, probe_of(kernel, SEED, trials, RUNS, LIMIT))
            if not trials:
                until = time.monotonic() + seconds
            trials, rows, worst = trials + 1, rows + trial.rows, max(worst, trial.ratio)
            reasons |= dict.fromkeys(map(unjudged_text, trial.left_out))
            for defect in trial.defects:
                if gravest is None or gravity(defect) > gravity(gravest.defect):
                    gravest = accusation(kernel, defect, attempt.case.arrays)
    except (ClaimError, DeviceError) as error:
        return Result("not judged", str(error))
    finally:
        opened.close()
    if gravest is None:
        return Result("kept", "", trials, rows, worst) if rows else Result("not judged", "; ".join(reasons))
    if gravest.defect.kind == "exception" and not rows:
        return Result("refused", gravest.defect.message)
    return confirm(one, gravest, trials, rows)


def gravity(defect: Defect) -> tuple[bool, bool, float, int]:
    """Errors come before warnings; a special answer before a number that is far off, and a small case before others."""
    is_number = defect.kind == "numeric"
    return defect.severity == "error", not is_number, (defect.ratio or 0.0) * is_number, -defect.scene.elements


def accusation(kernel: Kernel, defect: Defect, arrays: Mapping[str, NDArray[np.generic]]) -> Accusation:
    """A defect with the numbers that the function got."""
    inputs = {role: values(array) for role, array in kernel.stored(arrays).items()}
    output = defect.worst.output if defect.worst else ""
    written = next((array for array in kernel.arrays.values() if array.writes == output), None)
    return Accusation(defect, inputs, written.element if written else next(iter(kernel.arrays.values())).element)


def confirm(one: Claimed, accused: Accusation, trials: int, rows: int) -> Result:
    """Compute the accused element a second time: the right answer must lie where the oracle says that it does."""
    defect, worst = accused.defect, accused.defect.worst
    status = "broken" if defect.severity == "error" else "suspect"
    words = f"{defect.kind}, {defect.scene.words}: {defect.message}"
    if worst is None:
        return Result(status, words, trials, rows)
    found = exact_value(dict(one.words).get("FUNCTION", one.path.stem), accused.inputs, worst.index)
    if found is None:
        return Result(status, words, trials, rows)
    number = np.asarray(float(found.number))
    nearest = float(accused.output.round(number))
    if not worst.lo <= nearest <= worst.hi or worst.got == nearest:
        return Result("withdrawn", f"{words}; exactly {found.digits}", trials, rows)
    shown = f"{found.given} gives {worst.got:.9g}"
    units = float(abs(worst.got - number) / accused.output.last_place(number))
    return Result(status, shown, trials, rows, exact=found.digits, units=units)


def main() -> int:
    """Try them all, each in a process of its own, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", nargs="*", default=list(LIBRARIES), metavar="LIBRARY[/FUNCTION[/CLAIM]]")
    parser.add_argument("--device", default="cpu", choices=("cpu", "gpu"))
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, required=True, help="where the files that are tried, and the results, lie")
    asked = parser.parse_args()
    out = asked.out.resolve()
    claims = [one for name in asked.libraries for one in claims_of(*name.split("/"))]
    if asked.alone:
        keep(out, claims[0], judge(claims[0], asked.device, asked.seconds, out))
        return 0
    print("| library | function | result |\n|---|---|---|", flush=True)
    with ThreadPoolExecutor(asked.jobs) as pool:
        results = pool.map(lambda one: in_process(one, asked.device, asked.seconds, out), claims)
        every = []
        for one, result in zip(claims, results, strict=True):
            every.append(result)
            print(line_of(one, str(result)), flush=True)
    print(f"\n{summary(every, asked.device)}")
    return 0


def summary(every: list[Result], device: str) -> str:
    """The results in numbers."""
    counts = Counter(one.status for one in every)
    by_status = ", ".join(
        f"{counts[status]} {status}" for status in ("kept", "suspect", "broken", "refused", "not judged")
    )
    accused = [one for one in every if one.status == "broken"]
    confirmed, far = sum(bool(one.exact) for one in accused), sum(not one.units <= 1 for one in accused)
    trials, rows = sum(one.trials for one in every), sum(one.rows for one in every)
    tried = f"{len(every)} claims on the {device}: {by_status}; {trials:,} trials, {rows:,} rows."
    return (
        f"{tried} mpmath confirms {confirmed} of {counts['broken']} accusations, {far} of them by more than one unit "
        f"in the last place; it has no definition for the others, and contradicts {counts['withdrawn']}, which are "
        "withdrawn."
    )


def kept_result(out: Path, one: Claimed) -> Path:
    """The file of a result."""
    return out / one.library / f"{one.name}.json"


def keep(out: Path, one: Claimed, result: Result) -> None:
    """Write a result, whole or not at all."""
    path = kept_result(out, one)
    path.with_suffix(".new").write_text(json.dumps(asdict(result)), encoding="utf-8")
    path.with_suffix(".new").replace(path)


def in_process(one: Claimed, device: str, seconds: float, out: Path) -> Result:
    """The result of a claim, which another process tries: an import or a call that never ends takes it alone."""
    path = kept_result(out, one)
    if path.exists():
        return Result(**json.loads(path.read_text(encoding="utf-8")))
    if not installed(one.library):
        return Result("not judged", "not installed")
    command = [sys.executable, "-m", "benchmarks.detection.judge_libraries", "--device", device]
    command += ["--seconds", str(seconds), "--out", str(out), "--alone", f"{one.library}/{one.path.stem}/{one.name}"]
    log = out / one.library / f"{one.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as errors:
        run = subprocess.Popen(command, stderr=errors, start_new_session=True)
        try:
            run.wait(timeout=seconds + GRACE)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            return Result("not judged", f"no end after {seconds + GRACE:.0f} s")
    if not path.exists():
        return Result("not judged", f"exit code {run.returncode}; {log}")
    return Result(**json.loads(path.read_text(encoding="utf-8")))


def line_of(one: Claimed, result: str) -> str:
    """A line of the table."""
    words = ", ".join(f"{word} {value}" for word, value in one.words)
    function = f"`{one.path.stem}`" + (f", {words}" if words else "")
    return f"| {LIBRARIES[one.library]} {installed(one.library)} | {function} | {result[:SHOWN]} |"


def installed(library: str) -> str:
    """The version of a library; empty if it is not installed."""
    try:
        return version(LIBRARIES[library])
    except PackageNotFoundError:
        return ""


if __name__ == "__main__":
    sys.exit(main())
