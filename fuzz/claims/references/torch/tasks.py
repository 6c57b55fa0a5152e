"""Problems of GPU MODE: `generate_input(**args, seed)` makes what `ref_kernel(data)` takes, with the args of task.yml.

Knows torch and the values that it makes; it knows no set. Long, since it reads a task, its data and its sizes.
"""

import ast
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch

from kfuzz.claims.references.torch.declared import CannotError, Declared
from kfuzz.claims.references.torch.seen_integers import drawn_integers, limit_of
from kfuzz.claims.references.torch.task_data import (
    as_text,
    in_view,
    names_of,
    numbers_of_data,
    order_in_memory,
    rebuilt,
    tensors_of_data,
    view_text,
)
from kfuzz.claims.references.torch.task_functions import TaskFunctions, functions_of
from kfuzz.claims.references.torch.task_sizes import LARGER, MORE, TaskSizes, growing, sizes_of
from kfuzz.claims.references.torch.task_tensors import (
    check_tiles,
    filled,
    holds_scales,
    is_dense,
    is_filled,
    is_in_tiles,
    shape_in_memory,
)
from kfuzz.devices.python.raising import words_of
from kfuzz.devices.python.torch.elements import OF_TYPE
from kfuzz.devices.python.torch.packed import is_packed, storage_of, type_text

ARGS = re.compile(r"^\s*-\s*(\{.*\})\s*$")
HALVES = (torch.float16, torch.bfloat16)
LARGEST = 1 << 27
"""The elements of all tensors of a test that kfuzz makes: 1 GB in float64."""


@dataclass(frozen=True)
class TracedTask:
    """A reference as a function of its tensors alone, and how a submission gets them: `data`, a text for each argument.

    `scratch`: tensors in the data that the reference does not read, as they lie in memory: they are for its answer.
    `tiled`: those that hold the numbers of another one, which is named, in tiles.
    """

    call: Callable[..., Any]
    declared: Declared
    data: Sequence[str]
    elements: Mapping[str, str]
    results: tuple[str, ...]
    """The types of its answers, in their order."""
    scratch: Mapping[str, Sequence[str]]
    tiled: Mapping[str, str]
    multiples: Mapping[str, int]
    """A number that divides each size of a name."""

    @property
    def narrow(self) -> list[str]:
        """The types of 16 bits that its arrays have, to which any value may be rounded."""
        return sorted({*self.elements.values(), *self.results} & {str(OF_TYPE[one]) for one in HALVES})


@dataclass(frozen=True)
class Example:
    """The data of one test, its tensors by name, and of integers the number below which they were drawn."""

    arguments: Mapping[str, Any]
    data: Any
    tensors: Mapping[str, torch.Tensor]
    below: Mapping[str, int]

    def shapes(self, orders: "AxisOrders") -> dict[str, tuple[int, ...]]:
        """The shape of each tensor, in numbers, as it lies in memory."""
        return {name: shape_in_memory(one, orders[name]) for name, one in self.tensors.items()}


AxisOrders = Mapping[str, tuple[int, ...]]
"""For each tensor its axes, from the one with the largest step to that with the smallest."""


@dataclass(frozen=True)
class TaskProblem:
    """A test, and what other arguments say of its data: sizes, memory for answers, bounds of integers, numbers."""

    one: Example
    sizes: TaskSizes
    orders: AxisOrders
    scratch: tuple[str, ...]
    tiled: Mapping[str, str]
    below: Mapping[str, str]
    numbers: tuple[str, ...]
    """Each whole number in the data: the name of the size that it is, or its digits."""


def read_tests(task: str) -> list[dict[str, Any]]:
    """The arguments of a task's tests: a line of JSON, or of Python's literals, for each."""
    found, is_inside = [], False
    for line in task.splitlines():
        is_inside = line.strip() == "tests:" or (is_inside and not re.match(r"\w", line))
        if is_inside and (match := ARGS.match(line)):
            found.append(read_arguments(match[1]))
    if not found:
        raise CannotError("task.yml has no tests")
    return found


def read_arguments(text: str) -> dict[str, Any]:
    """A dict as YAML writes it in one line; as some tasks have it, with Python's True."""
    try:
        found = json.loads(text)
    except ValueError:
        try:
            found = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            raise CannotError(f"a test of task.yml cannot be read: {text}") from None
    return dict(found)


def task_of(module: ModuleType, reference: Callable[..., Any], tests: Sequence[Mapping[str, Any]]) -> TracedTask:
    """The inputs of a reference, by the sizes that follow from the arguments of its tests."""
    if any("world_size" in test for test in tests):
        raise CannotError("its tests have a world_size: it needs several GPUs")
    functions = functions_of(module, reference)
    problem = first_problem(functions, sorted(map(functions.with_sizes, tests), key=volume))
    one, sizes, orders, unread = problem.one, problem.sizes, problem.orders, (*problem.scratch, *problem.tiled)
    names = [name for name in one.tensors if name not in unread]

    def call(*given: torch.Tensor) -> Any:  # noqa: ANN401  what the reference returns
        known = dict(zip(names, given, strict=True))
        shapes = {name: shape_in_memory(of, range(of.ndim)) for name, of in known.items()}
        at = {d: n for name, shape in shapes.items() for d, n in zip(sizes.dims[name], shape, strict=True)}
        for name in unread:
            shape = [eval(d, {}, at) for d in sizes.dims[name]]  # noqa: S307  an expression of ours
            dtype = one.tensors[name].dtype  # it is judged as the array that is stored: nothing is rounded before
            known[name] = torch.zeros(shape, dtype=torch.float32 if dtype in HALVES else dtype)
        numbers = (int(text) if text.isdigit() else at[text] for text in problem.numbers)
        return functions.reference(
            rebuilt(one.data, (in_view(known[name], orders[name]) for name in one.tensors), numbers)
        )

    with torch.no_grad():
        answers = tensors_of_data(functions.reference(rebuilt(one.data, map(torch.clone, one.tensors.values()))))
    stored = {name: storage_of(tensor) for name, tensor in one.tensors.items()}
    floats = [name for name in names if stored[name].element.is_float]
    narrow = {name: one.tensors[name].dtype for name in floats if stored[name].element.is_narrow}
    below = {name: problem.below[name] for name in names if name in problem.below}
    tiles = {name: f".reshape({', '.join(sizes.dims[name])})" for name in problem.tiled}
    types = {name: type_text(tensor) for name, tensor in one.tensors.items()}
    texts = iter(f"{name}{tiles.get(name, '')}{types[name]}{view_text(orders[name])}" for name in one.tensors)
    numbers = iter(problem.numbers)
    return TracedTask(
        call,
        Declared({name: sizes.dims[name] for name in names}, below, {}, sizes.home, narrow=narrow),
        [as_text(part, texts, numbers) for part in (one.data if functions.names else [one.data])],
        {name: str(storage) for name, storage in stored.items()},
        tuple(str(OF_TYPE.get(answer.dtype, answer.dtype)) for answer in answers),
        {name: sizes.dims.get(name, ["1"]) for name in problem.scratch},
        problem.tiled,
        sizes.multiples,
    )


def first_problem(functions: TaskFunctions, tests: Sequence[Mapping[str, Any]]) -> TaskProblem:
    """The smallest test whose data says what each tensor is for; the error is that of the last one."""
    failed: Exception | None = None
    for test in tests:
        try:
            one = example(functions, test)
            unread = check_use(functions.reference, one)
            return problem_of(one, unread, *probes_of(functions, one))
        except CannotError as error:
            failed = error
    assert failed is not None
    raise failed


def problem_of(
    one: Example, unread: Mapping[str, str], probes: Mapping[str, list[Example]], large: Example
) -> TaskProblem:
    """What the data with other arguments says of a test's data."""
    orders = {name: order_in_memory(of) for name, of in large.tensors.items()}  # an axis of one element has any step
    shapes = {name: [(of.arguments, of.shapes(orders)) for of in some] for name, some in probes.items()}
    sizes = sizes_of(one.arguments, one.shapes(orders), shapes)
    below = {name: limit_text(name, one, probes, sizes) for name in one.below}
    every = [one, *(of for some in probes.values() for of in some)]
    numbers = []
    for place, number in enumerate(numbers_of_data(one.data)):
        values = [(of.arguments, numbers_of_data(of.data)[place : place + 1]) for of in every]
        names = (name for name in sizes.home if name in one.arguments)
        same = [name for name in names if all(found == [of[name]] for of, found in values)]
        numbers.append(same[0] if same else str(number))
    tiled = {name: of for name, of in unread.items() if of}
    check_tiles(tiled, orders, every)
    return TaskProblem(
        one, sizes, orders, tuple(name for name in unread if name not in tiled), tiled, below, tuple(numbers)
    )


def example(functions: TaskFunctions, arguments: Mapping[str, Any]) -> Example:
    """The data that these arguments give."""
    with drawn_integers() as drawn:
        data = functions.data(arguments)
    every = tensors_of_data(data)
    if sum(one.numel() for one in every) > LARGEST:
        raise CannotError(f"its smallest test has {sum(one.numel() for one in every):,} elements, which are too many")
    names = names_of(functions.tops, data)
    has_blocks = any(map(is_packed, every))
    named = (
        f"{name}_scale" if has_blocks and holds_scales(one) else name for name, one in zip(names, every, strict=True)
    )
    tensors = dict(zip(named, every, strict=True))
    below = {}
    for name, one in tensors.items():
        if one.dtype not in OF_TYPE and not is_packed(one):
            raise CannotError(f"{name} is a tensor of {one.dtype}, of which kfuzz has no arrays")
        if not one.is_floating_point() and (limit := limit_of(one, drawn)) is not None:
            below[name] = limit
        if not is_dense(one):
            raise CannotError(f"{name} does not fill its memory: kfuzz hands over arrays without gaps")
    return Example(arguments, data, tensors, below)


def limit_text(name: str, one: Example, probes: Mapping[str, Sequence[Example]], sizes: TaskSizes) -> str:
    """The number that integers are below, or the size with which it grows."""
    most = one.below[name]
    for size, some in probes.items():
        if size in sizes.home and all(of.below[name] == of.arguments[size] for of in (one, *some)):
            return size
    return str(most)


def probes_of(functions: TaskFunctions, one: Example) -> tuple[dict[str, list[Example]], Example]:
    """For each argument the data with the next value that the task takes, and with larger ones; all of them larger."""
    found: dict[str, list[Example]] = {}
    for name, value in growing(one.arguments):
        for more in MORE:
            if other := probe(functions, one, {**one.arguments, name: value + more}):
                larger = (probe(functions, one, {**one.arguments, name: by * value}) for by in LARGER)
                found[name] = [other, *(of for of in larger if of)]
                break
    large = {**one.arguments, **{name: some[-1].arguments[name] for name, some in found.items()}}
    return found, probe(functions, one, large) or one


def probe(functions: TaskFunctions, one: Example, arguments: Mapping[str, Any]) -> Example | None:
    """The data that other arguments give, if the reference takes it and it has the same tensors."""
    try:
        other = example(functions, arguments)
        with torch.no_grad():
            functions.reference(rebuilt(other.data, iter(other.tensors.values())))
    except Exception:  # of the task's own code at other sizes
        return None
    return other if other.tensors.keys() == one.tensors.keys() else None


def check_use(reference: Callable[..., Any], one: Example) -> dict[str, str]:
    """The names of tensors that are memory for the answers, and of those that repeat another one, each with that one.

    CannotError if the data hides what another is for.
    """
    try:
        with torch.no_grad():
            answers = tensors_of_data(reference(rebuilt(one.data, (tensor.clone() for tensor in one.tensors.values()))))
    except Exception as error:  # of the reference's own code
        raise CannotError(f"at {dict(one.arguments)} the reference itself ends with {words_of(error)}") from None
    unread = [name for name in one.tensors if len(one.tensors) > 1 and is_unread(reference, one, name)]
    shapes = [answer.shape or (1,) for answer in answers]  # an array holds at least one element
    found: dict[str, str] = {}
    for name in unread:
        read = {key: of for key, of in one.tensors.items() if key not in (*unread, *found.values())}
        repeated = next((key for key, of in read.items() if is_in_tiles(one.tensors[name], of)), "")
        if not repeated and one.tensors[name].shape not in shapes:
            raise CannotError(f"the reference does not read {name}, from which a submission may read the answer")
        found[name] = repeated
    scratch = [name for name, repeated in found.items() if not repeated]
    if scratch and len(scratch) != len(answers):
        raise CannotError(f"the reference does not read {', '.join(scratch)}, and has {len(answers)} answers")
    for name, tensor in one.tensors.items():
        if name not in unread and not tensor.is_floating_point() and name not in one.below:
            raise CannotError(f"{name} holds integers, and torch.randint did not draw them from 0: which are allowed?")
        if name not in unread and tensor.is_floating_point() and tensor.numel() > 1 and is_filled(tensor):
            raise CannotError(f"{name} holds nothing but 1, which says nothing of other numbers")
    return found


def volume(test: Mapping[str, Any]) -> int:
    return math.prod(abs(one) or 1 for name, one in test.items() if isinstance(one, int) and name != "seed")


def is_unread(reference: Callable[..., Any], one: Example, name: str) -> bool:
    """Whether the answer does not depend on a tensor: other numbers there change nothing."""
    try:
        answers = []
        for number in (float("nan"), 1.0) if one.tensors[name].is_floating_point() else (0, 1):
            given = {key: of.clone() for key, of in one.tensors.items()} | {name: filled(one.tensors[name], number)}
            with torch.no_grad():
                answers.append(tensors_of_data(reference(rebuilt(one.data, iter(given.values())))))
        return all(torch.equal(a, b) for a, b in zip(*answers, strict=True))
    except Exception:  # of the reference's own code
        return False
