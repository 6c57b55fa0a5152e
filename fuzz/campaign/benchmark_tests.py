"""What the own test of a benchmark says of a submission, beside kfuzz's verdict; it never influences that.

KernelBench's problems and GPU MODE's tasks have such a test. A process with torch runs it at the problem's own sizes.
Knows kernels' references and that process; it knows no trial.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from kfuzz.claims.kernel import Kernel
from kfuzz.claims.language.python_text import read_text
from kfuzz.claims.language.reference_files import texts_beside
from kfuzz.claims.references import serving
from kfuzz.claims.references.references import Reference, reference_behind
from kfuzz.common.phases import Phase, Stage, announce
from kfuzz.devices import cache

TESTER = "kfuzz.claims.references.torch.benchmark_test"
SECONDS = 60.0
KERNELBENCH, GPU_MODE, BY_DEFINITION = "KernelBench", "GPU MODE", "flashinfer-bench"
NEEDS = {KERNELBENCH: {"get_inputs", "get_init_inputs"}, GPU_MODE: {"generate_input", "check_implementation"}}
"""What the file of a reference defines if it is a problem of this benchmark."""
SUBMISSIONS = "submissions"
"""The folder of the cache for solutions that came with a definition."""


@dataclass(frozen=True)
class BenchmarkTest:
    """The answer of a benchmark's own test: trials passed, of how many; 0 of 0 if it was not asked.

    `why`: why the submission failed a trial, or why the test was not asked.
    """

    benchmark: str
    passed: int
    trials: int
    why: str


def benchmark_of(reference: Reference) -> str:
    """The benchmark of a reference; empty if it is of none that has a test."""
    names, beside = read_text(reference.source).names, reference.path.resolve()
    if beside.is_relative_to(cache.folder() / SUBMISSIONS):
        return BY_DEFINITION
    arguments = texts_beside(beside)
    if arguments["task"]:
        return GPU_MODE if names >= NEEDS[GPU_MODE] else ""
    is_model = reference.name == "Model" and not arguments["config"]
    return KERNELBENCH if is_model and names >= NEEDS[KERNELBENCH] else ""


def ask_benchmarks(kernels: Sequence[Kernel], on_card: bool) -> dict[str, BenchmarkTest]:
    """The answers for the kernels whose reference is a problem of a benchmark, by their names."""
    found = {}
    for kernel in kernels:
        reference = reference_behind(kernel.front, kernel.written)
        if reference is not None and (benchmark := benchmark_of(reference)):
            announce(Phase(Stage.ASKING, kernel.name))
            found[kernel.name] = ask_benchmark(benchmark, kernel, reference, on_card)
    return found


def ask_benchmark(benchmark: str, kernel: Kernel, reference: Reference, on_card: bool) -> BenchmarkTest:
    """Ask the own test of a benchmark about a submission to the problem that is its reference."""
    if benchmark == BY_DEFINITION:
        return BenchmarkTest(benchmark, 0, 0, "it compares answers to its workloads, which are not beside a definition")
    call = kernel.launches[0].called
    if call is None:
        return BenchmarkTest(benchmark, 0, 0, "it calls Python, and this is a CUDA file")
    question = {
        "path": str(reference.path.resolve()), "problem": reference.source, "reference": reference.name,
        "answer_path": str(kernel.path.resolve()), "answer": kernel.source, "entry": call.function, "on_card": on_card,
        "task": texts_beside(reference.path)["task"],
    }  # fmt: skip
    with cache.scratch() as folder:
        (folder / "test.json").write_text(json.dumps(question), encoding="utf-8")
        try:
            serving.ask(TESTER, folder, SECONDS, on_card)
            answer = json.loads((folder / "answer.json").read_text(encoding="utf-8"))
        except serving.NoAnswerError as error:
            return BenchmarkTest(benchmark, 0, 0, str(error)[:200])
        except OSError:
            return BenchmarkTest(benchmark, 0, 0, "its process ended")
    return BenchmarkTest(benchmark, answer["passed"], answer["trials"], answer["why"])
