"""Asks the own test of a benchmark about a submission, in a process with torch, at the problem's own sizes.

    python -m benchmarks.detection.own_tests ANSWER.py PROBLEM [--on-gpu]

PROBLEM is a problem of KernelBench, or the folder of a task of GPU MODE. The test takes a minute at most. kfuzz neither
asks such a test nor knows of its answer.
"""

import argparse
import json
from dataclasses import dataclass, replace
from pathlib import Path

from kfuzz.claims.kernel import Kernel
from kfuzz.claims.language.reference import OP
from kfuzz.claims.references.formats import texts_beside
from kfuzz.claims.references.submissions import gpu_mode, kernelbench
from kfuzz.common import serving
from kfuzz.common.time_limits import limited, time_limits
from kfuzz.devices import cache
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with
from kfuzz.oracle.numbers.plural import plural

TESTER = "benchmarks.detection.own_test_process"
SECONDS = 60.0
WITH_A_TEST = (kernelbench.FORMAT.title, gpu_mode.FORMAT.title)
"""The benchmarks whose problems come with their own test."""


@dataclass(frozen=True)
class OwnTest:
    """The answer of a benchmark's own test: trials passed, of how many; 0 of 0 if it was not asked.

    `why`: why the submission failed a trial, or why the test was not asked.
    """

    benchmark: str
    passed: int
    trials: int
    why: str

    def __str__(self) -> str:
        test = f"{self.benchmark}'s own test"
        if not self.trials:
            return f"{test} was not asked: {self.why}"
        if self.passed == self.trials:
            return f"{test} accepts it in {plural(self.trials, 'trial')}"
        return f"{test} rejects it in {self.trials - self.passed} of {plural(self.trials, 'trial')}: {self.why}"


def main() -> None:
    """Print the answer about one submission."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("answer", type=Path)
    parser.add_argument("problem", type=Path)
    parser.add_argument("--on-gpu", action="store_true", help="run the test on the GPU")
    options = parser.parse_args()
    kernel = kernel_with(options.answer, Unclaimed(OP, reference=options.problem))
    print(ask_own_test(kernel, options.on_gpu) or f"{options.problem} is no problem of a benchmark that has a test")


def ask_own_test(kernel: Kernel, on_gpu: bool) -> OwnTest | None:
    """Ask the own test of the benchmark whose problem is a kernel's reference; None if it is the problem of none."""
    reference = kernel.reference
    if reference is None or reference.format not in WITH_A_TEST:
        return None
    benchmark = reference.format
    call = kernel.launches[0].called
    if call is None:
        return OwnTest(benchmark, 0, 0, "it calls Python, and this is a CUDA file")
    question = {
        "path": str(reference.path.resolve()), "problem": reference.source, "reference": reference.name,
        "answer_path": str(kernel.path.resolve()), "answer": kernel.source, "entry": call.function, "on_gpu": on_gpu,
        "task": texts_beside(reference.path)["task"],
    }  # fmt: skip
    with cache.scratch() as folder:
        (folder / "test.json").write_text(json.dumps(question), encoding="utf-8")
        try:
            with limited(replace(time_limits(), compile=SECONDS)):
                serving.ask(TESTER, folder, on_gpu)
            answer = json.loads((folder / "answer.json").read_text(encoding="utf-8"))
        except serving.NoAnswerError as error:
            return OwnTest(benchmark, 0, 0, str(error)[:200])
        except OSError:
            return OwnTest(benchmark, 0, 0, "its process ended")
    return OwnTest(benchmark, answer["passed"], answer["trials"], answer["why"])


if __name__ == "__main__":
    main()
