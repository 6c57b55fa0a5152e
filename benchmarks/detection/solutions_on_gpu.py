"""The same solutions on a GPU at their problem's own sizes, compared with the problem's model in float64.

    python -m benchmarks.detection.solutions_on_gpu LIST.json --keep FOLDER [--first 200] [--jobs 16]

For the first solutions of the list, which benchmarks.detection.solutions_drawn has shuffled: torch builds the solution
with nvcc and calls it once with the inputs of `get_inputs`, and computes the model with the same weights in float64.
Weights of the same name and shape are those of the model, wherever they are drawn. FOLDER keeps for each the error |y -
exact| / |exact| (2-norms), that of torch in float32 and with operands in TF32, and whether it changes its inputs; an
answer of indices is compared by the elements at them. Of problems with long sums it keeps the largest error as a part
of what adding in any order may give, by a textbook bound. Then KernelBench's own test is asked, as its eval.py has it:
five other draws of the inputs, allclose with 1e-4 against torch in float32 as torch sets it; and the same with the 1e-2
of its first versions. Neither kfuzz nor its oracle takes part. Runs what others wrote, natively. Long, since it is the
process that runs one solution, too, and knows nothing of kfuzz.

A core builds a solution in about a minute, and twice that with all of torch's headers: the compilers get those of
tensors alone (HEADER), and all of them if that fails. Solutions are built several at a time
(benchmarks.detection.built_together), and by themselves where that fails.
"""

import argparse
import fcntl
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import IO, Any

from benchmarks.detection.any_order import part_of_bound
from benchmarks.detection.built_together import NAME, USED, batches, run_file, stand_in
from benchmarks.detection.kept_lines import add_line, read_lines
from benchmarks.detection.solutions import CHECKS, Solution, read_list
from benchmarks.measurement import Record

SEED = 42
TRIALS, TOLERANCE, LOOSE = 5, 1e-4, 1e-2
"""KernelBench's for float32, absolute and relative: today's, and that of its versions 0 and 0.1."""
SECONDS = 450.0
ON_GPU = 90
"""Seconds for a solution once the GPU is its own: one that hangs would keep it from the others."""
PART = 1 << 26
"""So many elements are compared at a time: in float64 a whole answer may take 17 GB."""
COMPLAINT = re.compile(r"\berror\b(?! building extension)|cannot find", re.IGNORECASE)
RAISED = re.compile(r"(?:\w+\.)*\w+(?:Error|Exception)\b")
UNDECIDED = "the problem has several answers, or none that is a tensor"
RANDOM = "the problem draws random numbers"
FAILED = "the problem's own model fails: "
NO_GPU = "no GPU: "
OPEN = (UNDECIDED, RANDOM, FAILED, NO_GPU, "more than ", "no answer in ")
"""How the reasons begin for which a solution is neither right nor wrong."""
ROOT = Path(__file__).parents[2]
HEADER = """#pragma once
#include <torch/types.h>
#ifndef __CUDACC__
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>
#endif
"""
"""torch/extension.h without the modules, and for nvcc without the bindings to Python: 35 seconds of a core with nvcc
instead of 88, and 14 with g++ instead of 26."""


def main() -> None:
    """Check the first solutions, or one of them in this process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("list", type=Path)
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--first", type=int, default=200, help="so many of the list")
    parser.add_argument("--jobs", type=int, default=16)
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--stop", type=float, default=math.inf, help="keep nothing that ends after this time")
    parser.add_argument("--together", type=int, default=10, help="so many solutions are built as one extension")
    parser.add_argument("--at-once", type=int, default=1, help="so many have arrays on one GPU at a time")
    parser.add_argument("--one", help="the key of one solution, to check in this process")
    parser.add_argument("--built", type=Path, help="the folder of an extension that has its functions")
    options = parser.parse_args()
    every = {one.key: one for one in read_list(options.list)}
    if options.one:
        print(json.dumps(check(every[options.one], options)))
        return
    options.keep, options.until = options.keep.resolve(), time.monotonic() + options.stop
    options.keep.mkdir(parents=True, exist_ok=True)
    known = read_lines(options.keep / CHECKS["on_gpu"])
    chosen = [one for one in [*every.values()][: options.first] if one.key not in known]
    with ThreadPoolExecutor(options.jobs) as pool:
        parts = enumerate(batches(chosen, options.together))
        left = [one for part in pool.map(lambda one: check_batch(one[1], one[0], options), parts) for one in part]
        list(pool.map(lambda one: check_batch([one[1]], one[0], options), enumerate(left)))


def check_batch(batch: Sequence[Solution], number: int, options: argparse.Namespace) -> list[Solution]:
    """Check solutions that are built as one, or in halves if that fails; those that must be built by themselves."""
    visible = (os.environ.get("CUDA_VISIBLE_DEVICES") or ",".join(map(str, range(options.gpus)))).split(",")
    own = {"CUDA_VISIBLE_DEVICES": visible[number % len(visible)], "TORCH_CUDA_ARCH_LIST": "9.0", "MAX_JOBS": "2"}
    if len(batch) == 1:
        check_apart(batch[0], own, options, None)
        return []
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "benchmarks.detection.built_together", str(options.list.resolve())]
        with suppress(subprocess.TimeoutExpired):
            subprocess.run([*words, *(one.key for one in batch)], cwd=folder, timeout=SECONDS, check=False,
                           env=environment(Path(folder), own), stdout=subprocess.DEVNULL)  # fmt: skip
        parts = Path(folder, "together.json")
        if time.monotonic() > options.until:
            return []
        if not parts.is_file():
            half = len(batch) // 2
            return [one for part in (batch[:half], batch[half:]) for one in check_batch(part, number, options)]
        built = json.loads(parts.read_text(encoding="utf-8"))
        for one in batch:
            if one.key in built:
                check_apart(one, own, options, Path(folder))
        return [one for one in batch if one.key not in built]


def check_apart(solution: Solution, own: dict[str, str], options: argparse.Namespace, built: Path | None) -> None:
    """Check one solution in a process of its own, if there is time."""
    if time.monotonic() > options.until:
        return
    words = [sys.executable, "-m", "benchmarks.detection.solutions_on_gpu", str(options.list.resolve()), "--keep",
             str(options.keep), "--at-once", str(options.at_once), "--one", solution.key,
             *(("--built", str(built)) if built else ())]  # fmt: skip
    has_built, found = run_apart(words, own, has_few_headers=True)
    if solution.language == "cuda" and not has_built:
        has_built, found = run_apart(words, own, has_few_headers=False)
        if not has_built:
            found = {**found, "why": found.get("why", "no extension was built, and it answered by torch")}
    has_no_memory = re.search("OutOfMemoryError|out of memory", found.get("why", ""))  # another process has it
    if time.monotonic() < options.until and not has_no_memory:  # after that time its compiler may have been stopped
        add_line(options.keep / CHECKS["on_gpu"], solution.key, found)
        print(solution.key, found, file=sys.stderr, flush=True)


def environment(folder: Path, own: dict[str, str], has_few_headers: bool = True) -> dict[str, str]:
    """The variables of a process that builds in a folder."""
    header = folder / "few" / "torch" / "extension.h"
    header.parent.mkdir(parents=True)
    header.write_text(HEADER, encoding="utf-8")
    few = {"CPATH": str(header.parent.parent)} if has_few_headers else {}
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, **own, "PYTHONPATH": paths, "TORCH_EXTENSIONS_DIR": str(folder), **few}


def run_apart(words: list[str], own: dict[str, str], has_few_headers: bool) -> tuple[bool, dict[str, Any]]:
    """Whether a process built an extension, and what it found."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False, cwd=folder,
                                  env=environment(Path(folder), own, has_few_headers))  # fmt: skip
        except subprocess.TimeoutExpired:
            return True, {"ran": False, "why": f"more than {SECONDS:.0f} s"}
        has_built = any(Path(folder).rglob("*.so"))
    if done.returncode == -signal.SIGALRM:
        return True, {"ran": False, "why": f"no answer in {ON_GPU} s"}
    if done.returncode == -signal.SIGKILL:
        return True, {"ran": False, "why": "more than the machine's memory"}
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        said = done.stderr.strip().splitlines()
        errors = [line for line in said if RAISED.match(line)]  # what CUDA advises comes after that
        return has_built, {"ran": False, "why": " ".join((errors or said)[-1:])[:300]}
    found = json.loads(lines[-1])
    has_built = found.pop(NAME) or has_built
    if not found["ran"] and (errors := [one for one in lines[:-1] if COMPLAINT.search(one)]):
        found["why"] = " ".join(without_folder(errors[0]).split())[-200:]  # of a build that is verbose
    return has_built, found


def check(solution: Solution, options: argparse.Namespace) -> dict[str, Any]:
    """What a solution answers at home, and whether it used its part of an extension of several."""
    with stand_in(solution.key, options.built):
        found = measured(solution, options.at_once)
    return {**found, NAME: bool(USED)}


def measured(solution: Solution, at_once: int) -> dict[str, Any]:
    """The error of a solution at home, of torch in float32, and the benchmark's own test."""
    import torch  # noqa: PLC0415  only the process of one solution needs it

    try:
        problem = run_file(solution.problem, "problem")
    except Exception as error:
        return {"ran": False, "why": FAILED + words_of(error)}
    began = time.perf_counter()
    try:
        answer = run_file(solution.solution, "answer")
    except BaseException as error:
        return {"ran": False, "why": f"no import: {words_of(error)}"}
    found = {"build_seconds": time.perf_counter() - began}
    try:
        torch.zeros(1, device="cuda")  # begins with the GPU, for seconds, before others have to wait for this process
    except Exception as error:
        return {"ran": False, "why": NO_GPU + words_of(error)}
    with one_of_few(at_once), torch.no_grad():
        signal.alarm(ON_GPU)  # it ends the process, whatever that waits for
        found |= against_float64(torch, solution.name, problem, answer)
        torch.cuda.empty_cache()
        return found | (own_test(torch, problem, answer) if found["ran"] else {})


def against_float64(torch: Any, name: str, problem: Any, answer: Any, place: str = "cuda") -> Record:  # noqa: ANN401
    """The error of a solution at home, and of torch in float32."""
    flags = torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    try:
        model, wide = (build(torch, one, place=place) for one in (problem.Model, problem.Model))
        torch.manual_seed(SEED)
        inputs = made_inputs(torch, problem, place)
        before = random_states(torch)
        exact = wide.double()(*(widen(torch, one) for one in inputs))
        if not isinstance(exact, torch.Tensor):
            return {"ran": False, "why": UNDECIDED}
        if random_states(torch) != before:
            return {"ran": False, "why": RANDOM}
        found = {"single": compare(torch, model(*inputs), exact, inputs, model)}
        with tf32(torch):
            found["tf32"] = compare(torch, model(*inputs), exact, inputs, model)
    except Exception as error:
        return {"ran": False, "why": FAILED + words_of(error)}
    try:
        given = [one.clone() if isinstance(one, torch.Tensor) else one for one in inputs]
        other = build(torch, answer.ModelNew, problem, place)
        own, wanted = model.state_dict(), other.state_dict()
        same = {key: own[key] for key in wanted if key in own and own[key].shape == wanted[key].shape}
        other.load_state_dict(same, strict=False)  # weights that are drawn on a GPU have other numbers
        got = other(*given)
        if place == "cuda":
            torch.cuda.synchronize()
        found["changes_inputs"] = any(map(is_changed, given, inputs))
    except BaseException as error:
        return {"ran": False, "why": f"no answer: {words_of(error)}", **found}
    finally:
        torch.backends.cudnn.allow_tf32 = flags
    if isinstance(got, torch.Tensor) and got.shape == exact.shape:
        found |= {"of_any_order": part_of_bound(torch, name, got, exact, inputs)}
        return {"ran": True, **found, "error": compare(torch, got, exact, inputs, model)}
    shape = list(got.shape) if isinstance(got, torch.Tensor) else type(got).__name__
    return {"ran": True, **found, "why": f"its shape is {shape} and not {list(exact.shape)}", "error": None}


@contextmanager
def tf32(torch: Any) -> Iterator[None]:  # noqa: ANN401  a module
    """Let torch's products and convolutions round their operands to TF32."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False


def own_test(torch: Any, problem: Any, answer: Any) -> dict[str, Any]:  # noqa: ANN401  modules
    """Whether KernelBench's own test accepts a solution, with each tolerance, and the seconds of its trials."""
    began = time.perf_counter()
    accepts = {"accepted": True, "accepted_loosely": True}
    try:
        model, other = build(torch, problem.Model), build(torch, answer.ModelNew, problem)
        torch.manual_seed(SEED)
        for seed in [int(torch.randint(0, 2**32 - 1, (1,)).item()) for _ in range(TRIALS)]:
            torch.manual_seed(seed)
            inputs = made_inputs(torch, problem)
            want, got = model(*inputs), other(*inputs)
            if want.shape != got.shape:
                accepts = dict.fromkeys(accepts, False)
                break
            for name, tolerance in zip(accepts, (TOLERANCE, LOOSE), strict=True):
                parts = zip(want.reshape(-1).split(PART), got.reshape(-1).split(PART), strict=True)
                accepts[name] &= all(torch.allclose(one, two, atol=tolerance, rtol=tolerance) for one, two in parts)
    except Exception:  # of the solution, which fails KernelBench's own test, too, or of a type without allclose
        accepts = dict.fromkeys(accepts, False)
    return {**accepts, "own_seconds": time.perf_counter() - began}


def made_inputs(torch: Any, problem: Any, place: str = "cuda") -> list[Any]:  # noqa: ANN401  modules
    """The inputs of a problem, drawn on the GPU, or in another place."""
    with torch.device(place):
        inputs = problem.get_inputs()
    return [one.to(place) if isinstance(one, torch.Tensor) else one for one in inputs]


def random_states(torch: Any) -> list[list[int]]:  # noqa: ANN401  a module
    """What the next random numbers depend on."""
    has_gpu = torch.cuda.is_available()
    return [one.get_rng_state().tolist() for one in ((torch, torch.cuda) if has_gpu else (torch,))]


def build(torch: Any, of: Any, problem: ModuleType | None = None, place: str = "cuda") -> Any:  # noqa: ANN401
    """A model with the weights of one seed, on the GPU, or in another place."""
    makes = getattr(problem or sys.modules["problem"], "get_init_inputs", list)
    torch.manual_seed(SEED)
    return of(*makes()).to(place)


def widen(torch: Any, one: Any) -> Any:  # noqa: ANN401  a tensor, or a number
    return one.double() if isinstance(one, torch.Tensor) and one.is_floating_point() else one


def compare(torch: Any, got: Any, exact: Any, inputs: Any, model: Any) -> float | None:  # noqa: ANN401  tensors
    """|got - exact| / |exact| in 2-norms, None if that is no number."""
    if not exact.is_floating_point():
        if bool(((got < 0) | (got >= inputs[0].shape[model.dim])).any()):
            return None
        got, exact = (at_indices(inputs[0], one, model.dim) for one in (got, exact))
    squares, whole = 0.0, 0.0
    for one, right in zip(got.reshape(-1).split(PART), exact.reshape(-1).split(PART), strict=True):
        a, b = one.double(), right.double()
        squares += float((a - b).square().sum())
        whole += float(b.square().sum())
    error = math.sqrt(squares / whole) if squares else 0.0
    return error if math.isfinite(error) else None


def is_changed(given: Any, own: Any) -> bool:  # noqa: ANN401  tensors, or numbers
    """Whether an input has other bits after a call; two NaNs of the same bits are equal."""
    if not hasattr(given, "view"):
        return False
    bits = {2: "int16", 4: "int32", 8: "int64"}.get(given.element_size(), "uint8")
    kind = getattr(sys.modules["torch"], bits)
    return bool((given.view(kind) != own.view(kind)).any())


def at_indices(given: Any, indices: Any, along: int) -> Any:  # noqa: ANN401  tensors
    """The elements of an input at these indices along a dimension: equal elements have several right indices."""
    return given.gather(along, indices.long().unsqueeze(along))


def words_of(error: BaseException) -> str:
    """What an exception says: of a build's output, the first error, else the end."""
    lines = str(error).splitlines()
    errors = [one for one in lines if COMPLAINT.search(one)]
    return f"{type(error).__name__}: {' '.join(without_folder((errors or [str(error)])[0]).split())[-200:]}"


def without_folder(words: str) -> str:
    """Words of a compiler without the folder of this run."""
    return re.sub(rf"{tempfile.gettempdir()}/\w+/", "", words)


@contextmanager
def one_of_few(most: int) -> Iterator[None]:
    """Wait until fewer than so many processes have arrays on this GPU; the largest problem takes 70 GB in float64."""
    gpu = os.environ.get("CUDA_VISIBLE_DEVICES", "0")
    places = [Path(tempfile.gettempdir()) / f"solutions-on-gpu-{gpu}-{n}" for n in range(most)]
    with ExitStack() as stack:
        files = [stack.enter_context(place.open("w")) for place in places]
        while not any(map(is_taken, files)):
            time.sleep(0.2)  # no lock of the system waits for one of several files
        yield


def is_taken(file: IO[str]) -> bool:
    """Whether the lock of a file was free and is this process's now. kfuzz has the like, but takes no part here."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main()
