"""Right ways to compute public functions, of which none may be accused, and the same functions with a bug.

    python -m benchmarks.detection measure comparisons FOLDER... [--device cuda] [--seeds 4] [--bugs 12] [--jobs 2]

A FOLDER has a folder for each function, as benchmarks.detection.any_reference has it: `problem.py` with the function
and get_inputs(). A comparison is one right way at one set of inputs, against the sets that kfuzz makes of the function
there. The ways: torch itself, sums and products in a random order with other formulas, variances by moments, operands
of products in 16 bits where inputs are, and float32 inside where inputs have 16 bits. The inputs: those of get_inputs
under each seed, and others in their place: 8 times as large, 64 times as small, of few values, of many sizes, and with
one infinity, NaN or 0. A bug changes the text in one place (changed_text); it counts if the exact values, rounded to
the outputs' types, differ at get_inputs' own inputs under two seeds, and these alone are asked: an eps of 2e-8 for
1e-8 may change no right answer at all. Keeps names, counts and kfuzz's own words.
"""

import argparse
import json
import random
import re
import signal
import sys
import time
import types
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

from benchmarks.detection.changed_text import with_one_bug
from benchmarks.measurement import Figures, Record
from kfuzz.claims.references.torch.declared import CannotError, DrawsError
from kfuzz.claims.references.torch.twins.as_arrays import grade_answer, reference_sets
from kfuzz.claims.references.torch.twins.leaves import answer_of, call_with, fresh, tensors_among
from kfuzz.claims.references.torch.twins.sets import UnstableError
from kfuzz.claims.references.torch.twins.three_runs import Answered, UnfollowedError
from kfuzz.oracle.sets.reference_sets import Grade, ReferenceSet
from tests.fuzz.claims.references.twins.other_ways import Floats, right_ways

Function = Callable[..., Any]
SECONDS_OF_INPUTS, SECONDS_OF_BUG = 60, 20
NOTHING = {"comparisons": {}, "found": [], "without": {}, "elements": {}, "bugs": {}, "missed": [], "error": ""}
"""A row of a function with which nothing could be done."""
WORST_FIRST = (Grade.BROKEN, Grade.SUSPECT, Grade.KEPT)
NOT_JUDGED = (UnstableError, DrawsError, CannotError, UnfollowedError)


class TooLongError(Exception):
    """What does not end in its time."""


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Raise a TooLongError after so many seconds."""

    def stop(*_: object) -> None:
        raise TooLongError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


@dataclass(frozen=True)
class Problem:
    """A public function: its text, and what calls it."""

    folder: Path
    origin: Record

    @property
    def text(self) -> str:
        return (self.folder / "problem.py").read_text(encoding="utf-8")

    def loaded(self, text: str) -> dict[str, Any]:
        """The names of a module of this text, which can import what lies beside it."""
        module = types.ModuleType(f"problem_{self.folder.name}")
        module.__file__ = str(self.folder / "problem.py")
        sys.modules[module.__name__] = module
        exec(compile(text, module.__file__, "exec"), module.__dict__)  # noqa: S102  public text, as its tests run it
        return module.__dict__

    def function_of(self, space: dict[str, Any]) -> Function:
        """The function, or the problem's model with its weights."""
        if "Model" in space:
            torch.manual_seed(0)
            made: Function = space["Model"](*space.get("get_init_inputs", list)()).eval().requires_grad_(False)
            return made
        function: Function = space.get("reference") or space[self.origin["name"]]
        return function


def inputs_of(space: dict[str, Any], seed: int) -> list[Any]:
    torch.manual_seed(seed)
    random.seed(seed)
    return list(space["get_inputs"]())


def with_one_odd(x: torch.Tensor, draw: random.Random) -> torch.Tensor:
    """One infinity, NaN or 0 among the numbers."""
    made = x.clone().contiguous()
    made.view(-1)[draw.randrange(x.numel())] = draw.choice([float("inf"), float("-inf"), float("nan"), 0.0])
    return made


def of_many_sizes(x: torch.Tensor, draw: random.Random) -> torch.Tensor:
    powers = torch.randint(-6, 4, x.shape, generator=torch.Generator().manual_seed(draw.randrange(2**31)))
    return x * torch.exp2(powers.to(x.dtype))


OTHERS: dict[str, Callable[[torch.Tensor, random.Random], torch.Tensor]] = {
    "times 8": lambda x, _: x * 8,
    "a 64th": lambda x, _: x / 64,
    "few values": lambda x, _: (x * 2).round() / 2,
    "many sizes": of_many_sizes,
    "one odd number": with_one_odd,
}


def variations(space: dict[str, Any], seeds: int) -> Iterator[tuple[str, list[Any]]]:
    """The inputs of each seed, and others in their place."""
    for seed in range(seeds):
        yield "get_inputs", inputs_of(space, seed)
        for name, how in OTHERS.items():
            made, draw = inputs_of(space, 100 + seed), random.Random(f"{name} {seed}")  # noqa: S311  inputs
            for one in tensors_among(made):
                if one.dtype in Floats and one.numel() > 1:
                    one.detach().copy_(how(one.detach(), draw))
            yield name, made


def moved(one: Any, device: str) -> Any:  # noqa: ANN401  an input, an output
    if isinstance(one, torch.Tensor):
        return one.to(device)
    if isinstance(one, list | tuple) and not hasattr(one, "_fields"):
        return type(one)(moved(part, device) for part in one)
    return {name: moved(part, device) for name, part in one.items()} if isinstance(one, dict) else one


def stored_as(got: torch.Tensor, like: Any) -> Any:  # noqa: ANN401  an output
    """An answer in the type that the reference's has."""
    fits = isinstance(like, torch.Tensor) and like.dtype in Floats and got.is_floating_point()
    return got.to(like.dtype) if fits else got


def answers(function: Function, given: Sequence[Any], device: str) -> Iterator[tuple[str, list[Any]]]:
    """What each right way answers, in the form in which the reference does."""
    own = answer_of(function, fresh(given), None)
    here = torch.get_default_device()
    for way, kernel in right_ways(function, tensors_among(given)):
        with suppress(NotImplementedError, RuntimeError, TypeError):  # torch has no such way here
            torch.set_default_device(device)
            made = call_with(kernel, moved(fresh(given), device))
            torch.set_default_device(here)
            if [name for name, _ in made] == [name for name, _ in own]:
                leaves = [(moved(one, "cpu"), like) for (_, one), (_, like) in zip(made, own, strict=True)]
                yield way, [stored_as(*pair) if isinstance(pair[0], torch.Tensor) else pair[0] for pair in leaves]
        torch.set_default_device(here)


def graded(sets: Sequence[ReferenceSet], got: Sequence[Any]) -> Counter[Grade]:
    """How many elements have each grade; an answer of another form is broken."""
    made = grade_answer(sets, got)
    if isinstance(made, str):
        return Counter({Grade.BROKEN: 1})
    return Counter(Grade(int(one)) for grades in made for one in grades.ravel())


def compare(problem: Problem, seeds: int, device: str) -> Record:
    """All right ways at all inputs of a function."""
    space = problem.loaded(problem.text)
    function = problem.function_of(space)
    kinds, found, elements, without = Counter[str](), [], Counter[Grade](), Counter[str]()
    for about, given in variations(space, seeds):
        try:
            with at_most(SECONDS_OF_INPUTS):
                answer_of(function, fresh(given), None)
                sets = reference_sets(Answered(function, given, str(problem.folder / "problem.py")))
                for way, got in answers(function, given, device):
                    made = graded(sets, got)
                    elements.update(made)
                    worst = next(
                        (one for one in (Grade.BROKEN, Grade.SUSPECT, Grade.KEPT) if made[one]), Grade.UNJUDGED
                    )
                    kinds[worst.name.lower()] += 1
                    if worst in (Grade.BROKEN, Grade.SUSPECT):
                        found.append(f"{worst.name.lower()}: {way}, {about}")
        except TooLongError:
            without["did not end"] += 1
        except NOT_JUDGED as error:
            without[f"not judged: {type(error).__name__}"] += 1
        except Exception as error:  # the function refuses these inputs
            without[f"does not run: {type(error).__name__}"] += 1
    return {
        "comparisons": dict(kinds), "found": sorted(set(found)), "without": dict(without),
        "elements": {one.name.lower(): elements[one] for one in Grade},
    }  # fmt: skip


def differ(one: Sequence[ReferenceSet], other: Sequence[ReferenceSet], answer: Sequence[Any]) -> bool:
    """Whether exact values do, as numbers of the types of an answer."""
    for a, b, like in zip(one, other, answer, strict=True):
        x, y = torch.from_numpy(a.x), torch.from_numpy(b.x)
        if isinstance(like, torch.Tensor) and like.dtype in Floats:
            x, y = x.to(like.dtype), y.to(like.dtype)
        if not bool(((x == y) | (x.isnan() & y.isnan())).all()):
            return True
    return False


def find_bugs(problem: Problem, most: int) -> Record:
    """Planted bugs at get_inputs' own inputs: how many are found."""
    space = problem.loaded(problem.text)
    function, file = problem.function_of(space), str(problem.folder / "problem.py")
    cases = []
    for seed in range(2):
        with suppress(TooLongError, *NOT_JUDGED), at_most(SECONDS_OF_INPUTS):
            given = inputs_of(space, seed)
            answered = Answered(function, given, file)
            own = [one for _, one in answer_of(function, fresh(given), None)]
            cases.append((given, own, reference_sets(answered), reference_sets(answered, of_values=True)))
    made: Counter[str] = Counter()
    missed: list[str] = []
    every = list(with_one_bug(problem.text))
    random.Random(7).shuffle(every)  # noqa: S311  an order
    for text, where in every if cases else ():
        if made["planted"] == most:
            break
        try:
            with at_most(SECONDS_OF_BUG):
                wrong = problem.function_of(problem.loaded(text))
                worst, is_other = Grade.KEPT, False
                for given, own, sets, exact in cases:
                    values = reference_sets(Answered(wrong, given, file), of_values=True)
                    if [one.x.shape for one in values] != [one.x.shape for one in exact]:
                        raise ValueError("another shape, which any test finds")
                    is_other = is_other or differ(exact, values, own)
                    grades = graded(sets, [one for _, one in call_with(wrong, fresh(given))])
                    worst = max([worst, *(one for one in (Grade.BROKEN, Grade.SUSPECT) if grades[one])])
        except Exception:  # noqa: S112  a text that does not run, or has another form, is no planted bug
            continue
        if is_other:
            made.update(["planted", worst.name.lower()])
            missed += [where] if worst == Grade.KEPT else []
    return {"bugs": dict(made), "missed": missed}


def of_folder(folder: Path, *, seeds: int, device: str, bugs: int) -> Record:
    """The row of a function, in a process of its own."""
    torch.set_num_threads(1)
    torch.backends.cudnn.allow_tf32 = False
    origin = json.loads((folder / "origin.json").read_text(encoding="utf-8"))
    problem, began = Problem(folder, origin), time.monotonic()
    with redirect_stdout(sys.stderr):
        try:
            made = compare(problem, seeds, device) | (find_bugs(problem, bugs) if bugs else {})
        except Exception as error:  # of their module
            made = {"error": f"{type(error).__name__}: {re.sub(r'/[^ ]*/', '', str(error))[:200]}"}
    place = {"folder": f"{folder.parent.name}/{folder.name}", "device": device}
    return {**origin, **place, **NOTHING, **made, "seconds": round(time.monotonic() - began, 1)}


def measure(options: Sequence[str]) -> Figures:
    """A row for each function."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--device", default="cpu", help="where the right ways run; the sets are made on the CPU")
    parser.add_argument("--seeds", type=int, default=4, help="of get_inputs; each gives six sets of inputs")
    parser.add_argument("--bugs", type=int, default=12, help="planted in each function at most; 0: none")
    parser.add_argument("--jobs", type=int, default=1, help="functions at once")
    parser.add_argument(
        "--keep", type=Path, help="a file: each row is appended as it comes; what has a row there is not run again"
    )
    chosen = parser.parse_args(options)
    every = [one.parent for folder in chosen.folders for one in sorted(folder.glob("*/problem.py"))]
    one = partial(of_folder, seeds=chosen.seeds, device=chosen.device, bugs=chosen.bugs)
    kept = chosen.keep.read_text(encoding="utf-8").splitlines() if chosen.keep and chosen.keep.exists() else []
    rows = [json.loads(line) for line in kept]
    known = {(one["folder"], one["device"]) for one in rows}
    every = [folder for folder in every if (f"{folder.parent.name}/{folder.name}", chosen.device) not in known]
    with get_context("spawn").Pool(chosen.jobs, maxtasksperchild=4) as pool:  # Python 3.11 executors may stop here
        for made in pool.imap_unordered(one, every):
            rows.append(made)
            if chosen.keep:
                with chosen.keep.open("a", encoding="utf-8") as file:
                    print(json.dumps(rows[-1]), file=file)
    return Figures({}, {"functions": sorted(rows, key=lambda one: (one["repository"], one["name"], one["device"]))})
