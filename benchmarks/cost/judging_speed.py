"""The processor time of a verdict, op by op, beside that of an older kfuzz, in turns on the same arrays.

    python -m benchmarks.cost measure judging_speed FOLDER [--only OP] [--rounds 7]

FOLDER holds `kfuzz/`, the package as it was. An op that both have is judged on float32 arrays of at most a quarter of a
million elements, in one thread. In each round both judge once, one after the other; the least time of each counts.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import prod
from pathlib import Path

import numpy as np

from benchmarks.measurement import Figures, Record
from kfuzz.oracle.judging.find_op import find, op_names

HERE = Path(__file__).parent
SIZES = (512, 256, 128, 64, 32, 16, 8)
MOST_ELEMENTS, MOST_SECONDS = 1 << 18, 4.0
"""An op that takes longer is measured at smaller sizes."""
CONVOLUTION = {"x": (1, 64, 34, 34), "w": (64, 64, 3, 3), "bias": (64,)}
"""64 x 64 channels, 32 x 32 places and a window of 9: 38 million products."""
MEMORY = 4 << 30
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Worker:
    """A process that judges with one kfuzz."""

    def __init__(self, package: Path | None) -> None:
        path = os.pathsep.join(filter(None, [str(package or ""), os.environ.get("PYTHONPATH", "")]))
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "judging_worker.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": path, **dict.fromkeys(THREADS, "1")},
        )  # fmt: skip

    def seconds(self, folder: Path) -> tuple[float, str]:
        """The processor time of one verdict, and its status."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{folder}\n")
        self.process.stdin.flush()
        first, _, status = self.process.stdout.readline().strip().partition(" ")
        return (float("inf"), status) if first == "raised" else (float(first), status)

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def write_case(folder: Path, op: str, n: int, shapes: Mapping[str, tuple[int, ...]] | None = None) -> int:
    """Write inputs and the right answer of an op; the number of elements, 0 if there are too many."""
    module, rng = find(op), np.random.default_rng(36)
    if shapes is None:
        sizes = module.small_sizes(n)
        if sum(prod(role.shape(sizes)) for _, role in module.roles) > MOST_ELEMENTS:
            return 0
    made = (
        module.random_inputs(sizes, rng)
        if shapes is None
        else {name: rng.standard_normal(shape) for name, shape in shapes.items()}
    )
    given = {name: one.astype(np.float32 if module.inputs[name].is_float else np.int32) for name, one in made.items()}
    answers = module.compute(given, {})
    stored = {name: one.astype(np.float32 if module.outputs[name].is_float else np.int32)
              for name, one in answers.items()}  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "op.txt").write_text(op, encoding="utf-8")
    arrays = {f">{name}": one for name, one in given.items()} | {f"<{name}": one for name, one in stored.items()}
    np.savez(folder / "arrays.npz", **arrays)  # type: ignore[arg-type]  # numpy's stubs know no such dict
    return sum(one.size for one in arrays.values())


def measure_op(op: str, workers: Mapping[str, Worker], folder: Path, rounds: int) -> Record | None:
    """The least times of both, at the largest sizes that they judge in a few seconds; None if one does not judge it."""
    for n in SIZES:
        if not (elements := write_case(folder, op, n)):
            continue
        first = {name: worker.seconds(folder) for name, worker in workers.items()}
        if any(status not in ("kept", "suspect") for _, status in first.values()):
            return None
        if max(seconds for seconds, _ in first.values()) <= MOST_SECONDS or n == SIZES[-1]:
            times = [{name: worker.seconds(folder)[0] for name, worker in workers.items()} for _ in range(rounds)]
            best = {name: min(one[name] for one in times) for name in workers}
            return {"op": op, "elements": elements, **best, "ratio": best["now"] / best["before"]}
    return None


@np.errstate(all="ignore")
def measure(arguments: Sequence[str]) -> Figures:
    """Measure the ops that both know, and one convolution."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args(arguments)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))  # of the workers, too: an op that needs more is left out
    workers = {"before": Worker(asked.before.resolve()), "now": Worker(None)}
    found: list[Record] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        older = {path.stem for path in (asked.before / "kfuzz" / "oracle" / "ops").glob("*.py")}
        for op in (one for one in op_names() if one in older and one.startswith(asked.only)):
            with suppress(Exception):  # of an op whose answers are not determined by its inputs
                if (record := measure_op(op, workers, folder, asked.rounds)) is not None:
                    found.append(record)
                    print(record, file=sys.stderr, flush=True)
        write_case(folder, "conv2d", 0, CONVOLUTION)
        convolution = min(workers["now"].seconds(folder)[0] for _ in range(asked.rounds))
    for worker in workers.values():
        worker.close()
    return Figures({"convolution": convolution}, {"ops": found})
