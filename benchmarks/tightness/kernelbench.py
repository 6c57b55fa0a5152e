"""KernelBench's problems, each run with a set beside each number, and held against its own answers.

    python -m benchmarks.tightness measure kernelbench FOLDER [--jobs 2] [--only level1] [--seconds 120] [--keep FOLDER]
        [--eval]

FOLDER holds level1, level2, ...; it is only read. Each problem's sizes are made small: the smallest of a few limits at
which the problem runs. A network with more weights than MOST_WEIGHTS also gets fewer channels, and level 4's models are
small ones with random weights. A problem is judged if it has no operation without a rule, and if nine of ten elements
have a set; torch's own answers widen the sets where they lie outside. Long, since a problem, its smaller sizes and its
judgement are one process's work.
"""

import argparse
import ast
import json
import multiprocessing
import multiprocessing.connection
import os
import re
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.measurement import Figures
from benchmarks.tightness.other_ways import compare, is_floats
from benchmarks.tightness.pretrained import without_hub
from kfuzz.claims.references.torch.declared import DrawsError
from kfuzz.claims.references.torch.twins.leaves import tensors_among
from kfuzz.claims.references.torch.twins.run import core
from kfuzz.claims.references.torch.twins.three_runs import Answered, OutputSet

ANY = 1 << 30
LIMITS = ((2, 8), (0, 8), (8, 8), (2, 16), (0, 16), (2, 32), (0, 32), (0, 64), (4, 64), (16, 128), (2, ANY))
"""The largest batch, and the largest other size, that a constant of a problem may be: the first at which it runs.

With a batch of 0 all constants of 16 or more are divided by one power of two, which keeps what is equal, or half, and
which divides them all: an image of 224 places stays one of many patches. Batches and plain images are small there, too.
"""
NETWORK = 5
"""The fewest layers with weights of a network."""
LEAST_SIZE = 16
"""Smaller constants may be a window or a stride, which have to fit each other."""
NARROWINGS = (1, 2, 4, 8, 16)
IN_EVAL = """

train_init = Model.__init__


def eval_init(self, *inits):
    train_init(self, *inits)
    self.eval()


Model.__init__ = eval_init
"""
"""Added to a problem, so that its batch norms use their running values, and its dropouts drop nothing."""
MOST_WEIGHTS = 1 << 12
"""A model with more weights gets fewer channels: the numbers in its classes are divided by one of these."""
LEAST_BATCH = 4
"""The least batch of a network, so that a batch norm has a few numbers."""
OF_NETWORKS = ((LEAST_BATCH, 4), *((max(batch, LEAST_BATCH) if batch else 0, most) for batch, most in LIMITS))
"""The limits of networks."""
MOST_TRIES = 4
"""So many limits at which a problem runs are tried until it is judged: a batch norm of few numbers says nothing."""
SIZES = 2
"""A problem is run at so many sizes, if it runs at as many: those of the first limits, and of the next."""
PATCHES = 4
"""The most patches along each side of an image, if the problem has a constant for the size of a patch."""
IMAGE_SIZE = 128
IMAGES = re.compile(r"\b(224|227|256|512), ?(224|227|256|512)\b")
IMAGE_SIDES = ("height", "width", "height, width")
IMAGE_PARAMETERS = ("image_size", "img_size")
U = 2.0**-24


@dataclass
class Outcome:
    """What became of one problem: judged, partly, not, or not measured."""

    name: str
    status: str
    why: str = ""
    elements: int = 0
    unjudged: int = 0
    outside: int = 0
    width: float = float("nan")
    """The median half width of the first float32 answer's bounds, in u of the element or of 1/1000 of the largest."""
    narrower: int = 1
    """What its numbers of channels were divided by."""
    compared: int = 0
    """Right answers in other ways (other_ways.py)."""
    accused: list[str] = field(default_factory=list)
    """Those of them that have an error or a suspect, and how many elements."""


def shrink(source: str, batch: int, most: int) -> str:
    """The text with the constants of its module, and the sizes of its images, made smaller."""
    lines, every = source.split("\n"), constants_of(source)
    large = [one for _, value in every for one in as_numbers(value) if one >= LEAST_SIZE]
    by = 1
    while not batch and max(large, default=0) // by > most and all(one % (2 * by) == 0 for one in large):
        by *= 2

    def smaller(value: int, limit: int) -> int:
        if not batch:
            value = value // by if value >= LEAST_SIZE else value
        while value > limit:
            value //= 2
        return value

    patch = next((value for node, value in every if ast.unparse(node.targets[0]) == "patch_size"), 0)
    for node, whole in every:
        target = ast.unparse(node.targets[0])
        value = min(whole, PATCHES * patch) if patch and target in IMAGE_PARAMETERS else whole
        name = target.lower()
        limit = batch or LEAST_BATCH if "batch" in name else most if batch else ANY
        if not batch and not patch and name in IMAGE_SIDES:
            limit = 2 * most
        sizes = [smaller(one, limit) for one in as_numbers(value)]
        text = repr(sizes[0] if isinstance(value, int) else type(value)(sizes))
        at = node.value
        line = lines[at.lineno - 1]
        lines[at.lineno - 1] = line[: at.col_offset] + text + line[at.end_col_offset :]
    models, rest = parts_of("\n".join(lines))
    side = min(64, 2 * most)
    return models + (IMAGES.sub(f"{side}, {side}", rest) if most < IMAGE_SIZE else rest)


def parts_of(source: str) -> tuple[str, str]:
    """The text up to the end of its classes, whose pairs of numbers are channels, and the rest, which has images."""
    lines = source.splitlines(keepends=True)
    end = max((one.end_lineno or 0 for one in ast.parse(source).body if isinstance(one, ast.ClassDef)), default=0)
    return "".join(lines[:end]), "".join(lines[end:])


def constants_of(source: str) -> list[tuple[ast.Assign, Any]]:
    """The constants of a module that are whole numbers, or tuples or lists of them, each on a line of its own."""
    found = []
    for node in ast.parse(source).body:
        if not isinstance(node, ast.Assign) or node.value.lineno != node.value.end_lineno:
            continue
        try:
            value = eval(compile(ast.Expression(node.value), "", "eval"), {"__builtins__": {}})  # noqa: S307  runs later too
        except (NameError, TypeError, AttributeError, ArithmeticError, LookupError, ValueError):  # no constants alone
            continue
        if isinstance(value, int | tuple | list) and all(type(one) is int for one in as_numbers(value)):
            found.append((node, value))
    return found


def as_numbers(value: Any) -> list[Any]:  # noqa: ANN401  a number, or several
    return list(value) if isinstance(value, tuple | list) else [value]


def narrow(source: str, by: int) -> str:
    """The text with the numbers of 16 or more in its functions divided, where that leaves no rest.

    Numbers of layers are kept, and the sizes of images.
    """
    lines, sides = source.split("\n"), {int(one) for pair in IMAGES.findall(parts_of(source)[1]) for one in pair}
    functions = [one for one in ast.parse(source).body if isinstance(one, ast.ClassDef | ast.FunctionDef)]
    made = [one for of in functions for one in ast.walk(of) if isinstance(one, ast.Assign)]
    kept = {id(one) for count in made if counts_layers(count) for one in ast.walk(count.value)}
    every = [one for of in functions for one in ast.walk(of) if isinstance(one, ast.FunctionDef)]
    kept |= {id(value) for one in every for value in (*defaults_for_images(one), *sides_of_inputs(one))}
    numbers = [
        one for of in functions for one in ast.walk(of)
        if isinstance(one, ast.Constant) and type(one.value) is int and id(one) not in kept
    ]  # fmt: skip
    for one in sorted(numbers, key=lambda one: (one.lineno, one.col_offset), reverse=True):
        if one.value >= LEAST_SIZE and one.value % by == 0 and one.value not in sides:
            line = lines[one.lineno - 1]
            lines[one.lineno - 1] = line[: one.col_offset] + str(one.value // by) + line[one.end_col_offset :]
    return "\n".join(lines)


def defaults_for_images(function: ast.FunctionDef) -> list[ast.expr]:
    """The values that its parameters for the size of an image have if they are not given."""
    last = zip(function.args.args[::-1], function.args.defaults[::-1], strict=False)
    return [value for name, value in last if name.arg in IMAGE_PARAMETERS]


def sides_of_inputs(function: ast.FunctionDef) -> list[ast.expr]:
    """The height and the width of each image [batch, channels, height, width] that it makes."""
    made = [one for one in ast.walk(function) if isinstance(one, ast.Call) and "rand" in ast.unparse(one.func)]
    return [side for one in made if len(one.args) == len("bchw") for side in one.args[2:]]


def counts_layers(made: ast.Assign) -> bool:
    return "layers" in ast.unparse(made.targets[0]) and isinstance(made.value, ast.List)


def module_of(source: str) -> dict[str, Any]:
    """What a problem's file defines."""
    module: dict[str, Any] = {"__name__": "problem"}
    exec(compile(source, "problem", "exec"), module)  # noqa: S102  it runs later, too
    return module


def model_of(source: str) -> torch.nn.Module:
    """The model with weights of its own."""
    module = module_of(source)
    made: torch.nn.Module = module["Model"](*module["get_init_inputs"]())
    return made


def weights_of(source: str) -> int:
    """How many weights the model has."""
    return sum(one.numel() for one in model_of(source).parameters())


def is_network(source: str, divisors: list[int]) -> bool:
    """Whether it has many layers, with channels divided by any of these."""
    for by, limits in product(divisors, LIMITS):
        with suppress(Exception):  # of a model with channels that do not fit each other
            made = model_of(shrink(narrow(source, by), *limits))
            return sum(bool(list(one.parameters(recurse=False))) for one in made.modules()) >= NETWORK
    return False


def narrowings(source: str) -> list[int]:
    """The divisors of channels to try: first the least with few weights, last the model as it is."""
    weights: dict[int, int] = {}
    for by in NARROWINGS:
        with suppress(Exception):  # of a model with channels that do not fit each other
            weights[by] = weights_of(shrink(narrow(source, by), *LIMITS[0]))
        if weights.get(by, MOST_WEIGHTS + 1) <= MOST_WEIGHTS:
            break
    return sorted(weights, reverse=True) or [1]


def judge_problem(path: Path, in_eval: bool) -> Iterator[Outcome]:
    """Run a problem with its sets at the first limits at which it runs, then its right answers in other ways there and
    at the next limits.
    """
    found, known, tries = Outcome(problem_name(path), "not"), list[list[list[int]]](), 0
    yield found
    source = without_hub(path.read_text(encoding="utf-8")) + IN_EVAL * in_eval
    every = narrowings(source)
    for few, (batch, most) in product(every, OF_NETWORKS if is_network(source, every) else LIMITS):
        by = few if most < IMAGE_SIZE or few == 1 else NARROWINGS[-1]  # 224 places have 50,000 of each channel
        if known and by != found.narrower:
            return
        try:
            model, given = problem_of(shrink(narrow(source, by), batch, most))
            shapes = [list(one.shape) for one in tensors_among(given)]
            if shapes in known:
                continue
            judge_answers(found, Answered(model, given, str(path)), is_first=not known)
            if found.status != "judged" and not known and (tries := tries + 1) < MOST_TRIES:
                found.elements = found.unjudged = found.outside = 0
                continue
        except Exception as error:  # of the problem's own code, of torch or of a rule: it is this problem's outcome
            found.why = found.why if known else " ".join(f"{type(error).__name__}: {error}".split())[:200]
            yield found
            if isinstance(error, DrawsError) or known:  # it draws at all sizes
                return
            continue
        found.narrower = by
        known.append(shapes)
        yield found
        yield from compare_ways(found, model, given, str(path))
        if len(known) == SIZES:
            return


def problem_of(source: str) -> tuple[torch.nn.Module, list[Any]]:
    """A problem's model, and its inputs."""
    module = module_of(source)
    torch.manual_seed(1)
    return module["Model"](*module["get_init_inputs"]()), list(module["get_inputs"]())


def compare_ways(found: Outcome, model: torch.nn.Module, given: list[Any], path: str) -> Iterator[Outcome]:
    """Count the right answers in other ways, for the problem's numbers, and for normal ones of another size."""
    wide = [8 * torch.randn_like(one) if is_floats(one) else one for one in given]
    for draw, numbers in enumerate((given, wide)):
        for way, broken, suspect in compare(model, numbers, path):
            found.compared += 1
            if broken or suspect:
                found.accused.append(f"{way}, draw {draw}: {broken} broken, {suspect} suspect")
            yield found


def judge_answers(found: Outcome, answered: Answered, is_first: bool) -> None:
    """Run the problem with its sets, which hold the answers that it gives by itself, or raise an error."""
    sets = answered.sets
    found.elements += sum(one.x.numel() for one in sets)
    found.unjudged += sum(int((~one.proved.isfinite()).sum()) for one in sets)
    found.outside += len(answered.widened)
    if is_first:
        found.width = float(np.median(np.concatenate([width_of(one) for one in sets])))
    found.why = f"no rule for {', '.join(answered.notes.measured)}" if answered.notes.measured else ""
    if not found.unjudged * 10 < found.elements:
        found.why = f"{found.unjudged} of {found.elements} elements cannot be judged"
    found.status = "judged" if not found.why else "partly" if found.unjudged < found.elements else "not"


def width_of(one: OutputSet) -> Any:  # noqa: ANN401  an array
    """The half widths of a set, in u of the element or of 1/1000 of the largest."""
    size = one.x.abs().double().nan_to_num(0, posinf=0)
    most = float(size.max()) if size.numel() else 0.0
    return (one.proved / (size + 1e-3 * most + 1e-300) / U).numpy().ravel()


def problem_name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def in_child(path: Path, into: Path, seconds: int, in_eval: bool) -> None:
    """Judge one problem in this process, which ends with it."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115  until the process ends
    for found in judge_problem(path, in_eval):
        into.with_suffix(".new").write_text(json.dumps(asdict(found)), encoding="utf-8")
        into.with_suffix(".new").rename(into)


def measure(arguments: Sequence[str]) -> Figures:
    """Judge the problems, or read what is kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=2, help="problems at a time, each in a process of its own")
    parser.add_argument("--only", default="level[1-4]", help="a pattern of the folders")
    parser.add_argument("--seconds", type=int, default=120, help="the most processor time for a problem")
    parser.add_argument("--keep", type=Path, help="keep each outcome here, and use what is there already")
    parser.add_argument("--eval", action="store_true", help="in eval mode, though KernelBench's models train")
    parser.add_argument("--only-kept", action="store_true", help="measure nothing: write what is kept")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    core()  # it imports for 10 s, here and not in each child
    paths = sorted(
        options.folder.glob(f"{options.only}*/*.py" if "/" not in options.only else f"{options.only}*.py"),
        key=lambda path: (path.parent.name, int(path.stem.partition("_")[0])),
    )
    with tempfile.TemporaryDirectory() as folder:
        kept = options.keep or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        if not options.only_kept:
            judge_all([path for path in paths if not outcome_file(kept, path).exists()], kept, options)
        outcomes = [read_outcome(kept, path) for path in paths]
    by_level: dict[str, list[Outcome]] = {}
    for one in outcomes:
        by_level.setdefault(one.name.partition("/")[0], []).append(one)
    return Figures(tables={
        "levels": [
            {"level": name, "elements": sum(one.elements for one in some), "outside": sum(one.outside for one in some),
             "compared": sum(one.compared for one in some), "accused": sum(len(one.accused) for one in some)}
            for name, some in sorted(by_level.items())
        ],
        "problems": [
            {"name": one.name, "status": one.status, "why": one.why, "width": width_or_none(one.width),
             "narrower": one.narrower, "accused": one.accused}
            for one in outcomes
        ],
    })  # fmt: skip


def read_outcome(folder: Path, problem: Path) -> Outcome:
    file = outcome_file(folder, problem)
    if not file.exists():
        return Outcome(problem_name(problem), "not measured")
    return Outcome(**json.loads(file.read_text(encoding="utf-8")))


def outcome_file(folder: Path, problem: Path) -> Path:
    return folder / f"{problem.parent.name}_{problem.stem}.json"


def judge_all(waiting: list[Path], folder: Path, options: argparse.Namespace) -> None:
    """Judge each problem in a child, several at a time, and leave its outcome in the folder."""
    fork = multiprocessing.get_context("fork")
    running: dict[Any, tuple[Any, Path]] = {}
    while waiting or running:
        while waiting and len(running) < options.jobs:
            path = waiting.pop(0)
            child = fork.Process(
                target=in_child, args=(path, outcome_file(folder, path), options.seconds, options.eval)
            )
            child.start()
            running[child.sentinel] = (child, path)
        for sentinel in multiprocessing.connection.wait(list(running)):
            child, path = running.pop(sentinel)
            child.join()
            into = outcome_file(folder, path)
            made = read_outcome(folder, path)
            if child.exitcode and made.status in ("not", "not measured"):
                is_late = child.exitcode == -signal.SIGPROF
                ended = f"more than {options.seconds} s of processor time" if is_late else "the process ended"
                made = Outcome(problem_name(path), "not", ended)
                into.write_text(json.dumps(asdict(made)))
            print(made.status, made.name, made.why, made.compared, *made.accused, file=sys.stderr, flush=True)


def width_or_none(width: float) -> float | None:
    """The width as JSON holds it: without NaN and infinity."""
    return width if np.isfinite(width) else None
