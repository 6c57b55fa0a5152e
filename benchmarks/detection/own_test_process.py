"""Asks a benchmark's own test about a submission, each in a fork: torch is imported once. own_tests.py starts it.

A line on standard input names a folder with test.json; the fork leaves answer.json there. KernelBench compares five
answers within one tolerance, as its eval.py does; GPU MODE asks the task's check_implementation in each of its tests.
Both files run in the fork, and never in a process that judges. Knows torch; it knows no trial and no verdict of kfuzz.
"""

import json
import os
import resource
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from kfuzz.claims.references.submissions.gpu_mode import folders_of
from kfuzz.claims.references.torch.task_data import rebuilt, tensors_of_data
from kfuzz.claims.references.torch.tasks import read_tests
from kfuzz.common.serving import serve
from kfuzz.devices.python.hiding import hidden
from kfuzz.devices.python.loading import execute_file
from kfuzz.devices.python.raising import find_lack, words_of
from kfuzz.devices.python.torch.without_gpu import as_on_gpu

TRIALS, SEED = 5, 42
"""Those of KernelBench's scripts and of its eval.py."""
TOLERANCE = 1e-4
"""KernelBench's for float32, absolute and relative; its models compute in float32. A question may name another one."""
SHARE = 8
"""The inputs, the weights and both answers may take this part of the memory that is free."""
SUBMITTED = "custom_kernel"
PART = 1 << 22
"""Elements that are compared at a time."""
GIGABYTE = 1e9


class NotAskedError(Exception):
    """The test cannot be asked here, and why."""


def main() -> None:
    """Answer until the input ends."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # a fork of a process with threads may hang
    serve(partial(answer_in_fork, threads))


def answer_in_fork(threads: int, folder: Path) -> None:
    """Ask one test in a process of its own, and wait for its end."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        asked = json.loads((folder / "test.json").read_text(encoding="utf-8"))
        torch.set_num_threads(threads)
        (folder / "answer.json").write_text(json.dumps(answer(asked)), encoding="utf-8")
    finally:  # whatever the files have done
        os._exit(0)


def answer(asked: Mapping[str, Any]) -> dict[str, Any]:
    """How many trials the submission passed, of how many; why it failed one, or why it was not asked."""
    trials: Iterator[str] = (ask_task if asked["task"] else ask_kernelbench)(asked)
    passed, count, why = 0, 0, ""
    try:
        for wrong in trials:
            count, passed, why = count + 1, passed + (not wrong), why or wrong
    except NotAskedError as error:
        return {"passed": 0, "trials": 0, "why": str(error)}
    except (MemoryError, RuntimeError) as error:
        if not lacks_memory(error):
            raise
        return {"passed": 0, "trials": 0, "why": f"its sizes do not fit into this machine's memory: {words_of(error)}"}
    return {"passed": passed, "trials": count, "why": why}


def ask_kernelbench(asked: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong in each trial; nothing if it passes."""
    place = "cuda" if asked["on_gpu"] else "cpu"
    problem = execute_file(Path(asked["path"]), asked["problem"], 0)
    check_fits(problem, asked["reference"], place)
    own = run_own(place, execute_file, Path(asked["answer_path"]), asked["answer"], 1)
    if not isinstance(getattr(own, asked["entry"], None), type):
        raise NotAskedError(f"it calls ModelNew, and {asked['entry']} is no class")
    init = [at_place(one, place) for one in made_by(problem.get_init_inputs, SEED)]
    model = made_by(lambda: getattr(problem, asked["reference"])(*init).to(place), SEED)
    other = run_own(place, made_by, lambda: getattr(own, asked["entry"])(*init).to(place), SEED)
    torch.manual_seed(SEED)
    seeds = [int(torch.randint(0, 2**32 - 1, (1,)).item()) for _ in range(TRIALS)]
    with torch.no_grad():
        for seed in seeds:
            inputs = [at_place(one, place) for one in made_by(problem.get_inputs, seed)]
            torch.manual_seed(seed)
            want = model(*inputs)
            try:
                got = run_own(place, other, *inputs)
            except NotAskedError:
                raise
            except Exception as error:  # of the submission: its test is failed
                yield f"it ends with {words_of(error)}"
                return
            wrong = compare(want, got, asked.get("tolerance", TOLERANCE))
            yield wrong
            if wrong.startswith("its answer has the shape"):
                return


def compare(want: torch.Tensor, got: torch.Tensor, tolerance: float) -> str:
    """What torch.allclose has against an answer."""
    if want.shape != got.shape:
        return f"its answer has the shape {list(got.shape)}, and not {list(want.shape)}"
    parts = zip(want.flatten().split(PART), got.flatten().split(PART), strict=True)
    if all(torch.allclose(one, other, atol=tolerance, rtol=tolerance) for one, other in parts):
        return ""
    return "an element is further away than the tolerance"


def check_fits(problem: ModuleType, name: str, place: str) -> None:
    """Raise NotAskedError if the problem's own sizes take too much memory here; they are counted without any."""
    try:
        with torch.device("meta"), torch.no_grad():
            model = getattr(problem, name)(*problem.get_init_inputs())
            inputs = problem.get_inputs()
            answers = model(*inputs)
    except Exception:  # of a model that needs numbers: the limit on memory holds
        answers, model, inputs = [], torch.nn.Module(), problem.get_inputs()
    tensors = [*model.parameters(), *tensors_in(inputs), *(2 * tensors_in(answers))]
    needs = sum(one.numel() * one.element_size() for one in tensors)
    free = torch.cuda.mem_get_info()[0] if place == "cuda" else free_memory()
    if needs > free // SHARE:
        raise NotAskedError(
            f"at the problem's own sizes its arrays take {needs / GIGABYTE:.1f} GB, and this machine has "
            f"{free / GIGABYTE:.1f} GB"
        )
    if place == "cpu":
        limit_memory(free // 2)


def free_memory() -> int:
    """The bytes of memory that are free."""
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable"))


def limit_memory(more: int) -> None:
    """Let this process take so many bytes more than it has."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * os.sysconf("SC_PAGE_SIZE") + more
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def tensors_in(given: Any) -> list[torch.Tensor]:  # noqa: ANN401  nested lists, tuples and dicts
    if isinstance(given, Mapping):
        given = list(given.values())
    if isinstance(given, list | tuple):
        return [leaf for one in given for leaf in tensors_in(one)]
    return [given] if isinstance(given, torch.Tensor) else []


def made_by(make: Callable[[], Any], seed: int) -> Any:  # noqa: ANN401  a model, or inputs
    torch.manual_seed(seed)
    return make()


def at_place(one: Any, place: str) -> Any:  # noqa: ANN401  an input
    """A tensor on the device, in float32, as KernelBench hands it over; anything else as it is."""
    if not isinstance(one, torch.Tensor):
        return one
    return one.to(place, torch.float32) if one.is_floating_point() else one.to(place)


def run_own(place: str, run: Callable[..., Any], *given: Any) -> Any:  # noqa: ANN401  what the submission takes and makes
    """Run code of the submission; NotAskedError if it lacks a GPU, MemoryError if it lacks memory."""
    try:
        return run(*given)
    except (Exception, SystemExit) as error:
        if place == "cpu" and (lack := find_lack(error)):
            raise NotAskedError(f"it needs a GPU: {lack.words}") from None
        if lacks_memory(error):
            raise MemoryError(str(error)[:100]) from None
        raise


def lacks_memory(error: BaseException) -> bool:
    """Whether memory is what is missing: torch's allocator raises a RuntimeError."""
    return isinstance(error, MemoryError) or "allocate memory" in str(error)


def ask_task(asked: Mapping[str, Any]) -> Iterator[str]:
    """What check_implementation has against the answer in each test of a task."""
    path, place = Path(asked["path"]), "cuda" if asked["on_gpu"] else "cpu"
    if asked["entry"] != SUBMITTED:
        raise NotAskedError(f"it calls {SUBMITTED}, and this is {asked['entry']}")
    sys.path.extend(folders_of(asked["task"], path.parent))
    with ExitStack() as stack:
        for one in contexts(path, place):
            stack.enter_context(one)
        if place == "cpu":
            limit_memory(free_memory() // 2)
        task = execute_file(path, asked["problem"], 0)
        own = run_own(place, execute_file, Path(asked["answer_path"]), asked["answer"], 1)
        for test in read_tests(asked["task"]):
            data = task.generate_input(**test)
            given = rebuilt(data, iter([one.clone() for one in tensors_of_data(data)]))
            try:
                got = run_own(place, getattr(own, asked["entry"]), given)
            except NotAskedError:
                raise
            except Exception as error:  # of the submission: its test is failed
                yield f"it ends with {words_of(error)}"
                continue
            yield objection(task.check_implementation(data, got))


def contexts(path: Path, place: str) -> Iterator[AbstractContextManager[Any]]:
    """What a task needs without a GPU: "cuda" is the host."""
    yield hidden()
    yield as_on_gpu(path) if place == "cpu" else nullcontext()


def objection(said: Any) -> str:  # noqa: ANN401  a text, or a truth and a text
    """The words of check_implementation against an answer; empty if it has none."""
    if isinstance(said, tuple):
        return "" if said[0] else first_line(said[1]) or "it is wrong"
    if isinstance(said, bool):
        return "" if said else "it is wrong"
    return first_line(said)


def first_line(said: Any) -> str:  # noqa: ANN401  a text, or lines
    lines = said if isinstance(said, list | tuple) else str(said or "").splitlines()
    return str(lines[0])[:200] if lines else ""


if __name__ == "__main__":
    main()
