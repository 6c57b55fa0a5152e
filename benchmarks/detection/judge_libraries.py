"""Judge the functions of Python libraries that read or write 8 and 4 bits, as they are installed here.

    python -m benchmarks.detection.judge_libraries --device gpu --out FOLDER [torch triton/cast ...]

Each file of tests/data/library_functions/LIBRARY/ claims one function; a first line `# each: A = x, y; B = z` makes
one claim for each combination, with the words A and B replaced. Each claim is tried in a process of its own, for so
many seconds after its first trial. Prints the lines of a table in Markdown as they end: kept, broken with the smallest
case that was met, refused, or not judged and why.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path

from kfuzz.callables.device import PythonDevice
from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.claims.kernel import load
from kfuzz.devices import ClaimError, DeviceError
from kfuzz.trials.defect import Defect
from kfuzz.trials.trial import run_trial
from kfuzz.trials.unjudged import unjudged_text

HERE = Path(__file__).parents[2] / "tests" / "data" / "library_functions"
LIBRARIES = {
    "numpy": "ml_dtypes", "torch": "torch", "triton": "triton", "jax": "jax", "cupy": "cupy-cuda13x",
    "torchao": "torchao", "bitsandbytes": "bitsandbytes", "liger": "liger-kernel", "flashinfer": "flashinfer-python",
}  # fmt: skip
"""The folders in their order, and the package of each."""
SEED, RUNS, LIMIT, ELEMENTS = 35, 2, 20.0, 1 << 14
"""Of the trials: their seed, runs of each case, seconds for each run, and elements of a case."""
GRACE = 240.0
"""Seconds beyond the given time for imports, and for compilations at import."""
SHOWN = 500
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

    def text(self, device: str) -> str:
        """The file that kfuzz tries, with an absolute path to its op."""
        text = self.path.read_text(encoding="utf-8").replace('"../ops/', f'"{HERE}/ops/')
        for word, value in self.words:
            text = re.sub(rf"\b{word}\b", value, text)
        text = text.split("\n", 1)[1] if self.words else text
        return text.replace(TENSOR_CORES, "") if device == "cpu" else text


def claims_of(library: str, function: str = "*", claim: str = "") -> Iterator[Claimed]:
    """The claims of all functions of a library, of one, or one of these by its name."""
    for path in sorted((HERE / library).glob(f"{function}.py")):
        first = path.read_text(encoding="utf-8").split("\n", 1)[0]
        parts = [part.split("=") for part in first.removeprefix("# each:").split(";")] if "# each:" in first else []
        values = [[(word.strip(), value.strip()) for value in given.split(",")] for word, given in parts]
        every = [Claimed(path, words) for words in product(*values)]
        yield from (one for one in every if claim in ("", one.name))


def judge(one: Claimed, device: str, seconds: float, folder: Path) -> str:
    """Try a claim until the time is up, and say in a line what came of it."""
    path = folder / one.library / f"{one.name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(one.text(device), encoding="utf-8")
    opened, trials, rows = PythonDevice(device), 0, 0
    smallest: Defect | None = None
    reasons: dict[str, None] = {}
    until = float("inf")
    try:
        kernel = load(path)
        while time.monotonic() < until:
            attempt = attempt_of(kernel, SEED, trials, ELEMENTS)
            trial = run_trial(kernel, attempt.case, attempt.tune, opened, probe_of(kernel, SEED, trials, RUNS, LIMIT))
            if not trials:
                until = time.monotonic() + seconds
            trials, rows = trials + 1, rows + trial.rows
            reasons |= dict.fromkeys(map(unjudged_text, trial.left_out))
            for defect in trial.errors:
                if smallest is None or defect.scene.elements < smallest.scene.elements:
                    smallest = defect
    except (ClaimError, DeviceError) as error:
        return f"not judged: {error}"
    finally:
        opened.close()
    tried = f"{trials:,} trials, {rows:,} rows"
    if smallest is None:
        return f"kept: {tried}" if rows else f"not judged: {'; '.join(reasons)}"
    if smallest.kind == "exception" and not rows:
        return f"refused: {smallest.message}"
    return f"**broken**: {smallest.kind}, {smallest.scene.words}: {smallest.message} ({tried})"


def main() -> int:
    """Try them all, each in a process of its own, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", nargs="*", default=list(LIBRARIES), metavar="LIBRARY[/FUNCTION[/CLAIM]]")
    parser.add_argument("--device", default="cpu", choices=("cpu", "gpu"))
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, required=True, help="where the files that are tried lie afterwards")
    asked = parser.parse_args()
    out = asked.out.resolve()
    claims = [one for name in asked.libraries for one in claims_of(*name.split("/"))]
    if len(claims) == 1:
        print(line_of(claims[0], judge(claims[0], asked.device, asked.seconds, out)))
        return 0
    print("| library | function | result |\n|---|---|---|", flush=True)
    with ThreadPoolExecutor(asked.jobs) as pool:
        for done in as_completed([pool.submit(in_process, one, asked.device, asked.seconds, out) for one in claims]):
            print(done.result(), flush=True)
    return 0


def in_process(one: Claimed, device: str, seconds: float, out: Path) -> str:
    """The line of a claim, which another process tries: an import or a call that never ends takes no other with it."""
    if not installed(one.library):
        return line_of(one, "not judged: not installed")
    command = [sys.executable, "-m", "benchmarks.detection.judge_libraries", "--device", device]
    command += ["--seconds", str(seconds), "--out", str(out), f"{one.library}/{one.path.stem}/{one.name}"]
    log = out / one.library / f"{one.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as errors:
        run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True)
        try:
            printed, _ = run.communicate(timeout=seconds + GRACE)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            return line_of(one, f"not judged: no end after {seconds + GRACE:.0f} s")
    return printed.strip() or line_of(one, f"not judged: exit code {run.returncode}; {log}")


def line_of(one: Claimed, result: str) -> str:
    """A line of the table."""
    words = ", ".join(f"{word} {value}" for word, value in one.words)
    function = f"`{one.path.stem}`" + (f", {words}" if words else "")
    return f"| {one.library} {installed(one.library)} | {function} | {result[:SHOWN]} |"


def installed(library: str) -> str:
    """The version of a library; empty if it is not installed."""
    try:
        return version(LIBRARIES[library])
    except PackageNotFoundError:
        return ""


if __name__ == "__main__":
    sys.exit(main())
