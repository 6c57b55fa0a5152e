"""Problems of GPU MODE: `generate_input(**args, seed)` makes what `ref_kernel(data)` takes, with the args of task.yml.

Their data is one value: a tensor, or tuples, lists and dicts of tensors and numbers. Knows torch and such values; it
knows no trace.
"""

import ast
import inspect
import json
import math
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch

from kfuzz.callables.torch.declared import CannotError, Declared
from kfuzz.callables.torch.elements import OF_TYPE
from kfuzz.oracle.elements import BF16, F16, F32

GENERATE = "generate_input"
ARGS = re.compile(r"^\s*-\s*(\{.*\})\s*$")
TESTS = 3
"""So many of a task's tests, the smallest ones, say which sizes vary together."""
PLAIN = (bool, int, float, str, type(None))


@dataclass(frozen=True)
class TracedTask:
    """A reference as a function of its tensors alone, and how a submission gets them: `data` as text.

    `scratch`: tensors in the data that the reference does not read, with the shape of its answer.
    """

    call: Callable[..., Any]
    declared: Declared
    data: str
    elements: Mapping[str, str]
    results: tuple[str, ...]
    """The types of its answers, in their order."""
    scratch: tuple[str, ...]


def read_tests(task: str) -> list[dict[str, Any]]:
    """The arguments of a task's tests: a line of JSON for each."""
    found, is_inside = [], False
    for line in task.splitlines():
        is_inside = line.strip() == "tests:" or (is_inside and not re.match(r"\w", line))
        if is_inside and (match := ARGS.match(line)):
            found.append(json.loads(match[1]))
    if not found:
        raise CannotError("task.yml has no tests")
    return found


def task_of(module: ModuleType, reference: Callable[..., Any], tests: Sequence[Mapping[str, Any]]) -> TracedTask:
    """The inputs of a reference, by the sizes that its tests have in common."""
    few = sorted(tests, key=volume)[:TESTS]
    with host_generators():
        every = [getattr(module, GENERATE)(**dict(test)) for test in few]
    names = names_of(reference, every[0])
    tensors = [dict(zip(names, tensors_of_data(one), strict=True)) for one in every]
    for name, one in tensors[0].items():
        if OF_TYPE.get(one.dtype) not in (F32, F16, BF16):
            raise CannotError(f"{name} is a tensor of {one.dtype}; one of float32, float16 or bfloat16 is wanted")
    dims, sizes = dimensions_of(tensors, few)
    scratch = tuple(name for name in names if len(names) > 1 and is_unread(reference, every[0], names, name))

    def call(*given: torch.Tensor) -> Any:  # noqa: ANN401  what the reference returns
        known = dict(zip((name for name in names if name not in scratch), given, strict=True))
        lengths = {d: n for name, one in known.items() for d, n in zip(dims[name], one.shape, strict=True)}
        for name in scratch:
            known[name] = torch.zeros([lengths.get(d, int(d) if d.isdigit() else 0) for d in dims[name]])
        return reference(rebuilt(every[0], iter(known[name] for name in names)))

    own = {name: of for name, of in dims.items() if name not in scratch}
    elements = {name: str(OF_TYPE[tensors[0][name].dtype]) for name in own}
    used = {d for of in own.values() for d in of}
    declared = Declared(own, {}, {}, {d: n for d, n in sizes.items() if d in used})
    with torch.no_grad():
        answers = tensors_of_data(reference(rebuilt(every[0], (one.clone() for one in tensors[0].values()))))
    results = tuple(str(OF_TYPE.get(one.dtype, one.dtype)) for one in answers)
    return TracedTask(call, declared, as_text(every[0], iter(names)), elements, results, scratch)


def volume(test: Mapping[str, Any]) -> int:
    return math.prod(abs(one) or 1 for name, one in test.items() if isinstance(one, int) and name != "seed")


@contextmanager
def host_generators() -> Iterator[None]:
    """Generators of a GPU are the host's."""
    own = torch.Generator
    torch.Generator = lambda device=None: own()
    try:
        yield
    finally:
        torch.Generator = own


def tensors_of_data(data: Any) -> list[torch.Tensor]:  # noqa: ANN401  whatever generate_input makes
    """The tensors in nested tuples, lists and dicts, in their order."""
    if isinstance(data, torch.Tensor):
        return [data]
    if isinstance(data, Mapping):
        data = list(data.values())
    if isinstance(data, tuple | list):
        return [leaf for one in data for leaf in tensors_of_data(one)]
    if not isinstance(data, PLAIN):
        raise CannotError(f"{GENERATE} makes a {type(data).__name__}, which is neither tensor, number nor container")
    return []


def rebuilt(data: Any, tensors: Iterator[torch.Tensor]) -> Any:  # noqa: ANN401  as above
    """The same containers with other tensors."""
    if isinstance(data, torch.Tensor):
        return next(tensors)
    if isinstance(data, Mapping):
        return {name: rebuilt(one, tensors) for name, one in data.items()}
    if isinstance(data, tuple | list):
        made = [rebuilt(one, tensors) for one in data]
        return tuple(made) if isinstance(data, tuple) else made
    return data


def as_text(data: Any, names: Iterator[str]) -> str:  # noqa: ANN401  as above
    """The data as an expression of Python, with a name for each tensor."""
    if isinstance(data, torch.Tensor):
        return next(names)
    if isinstance(data, Mapping):
        return "{" + ", ".join(f"{name!r}: {as_text(one, names)}" for name, one in data.items()) + "}"
    if isinstance(data, tuple | list):
        inside = "".join(f"{as_text(one, names)}, " for one in data).strip()
        return f"({inside})" if isinstance(data, tuple) else f"[{inside}]"
    return repr(data)


def names_of(reference: Callable[..., Any], data: Any) -> list[str]:  # noqa: ANN401  as above
    """A name for each tensor: that by which the reference unpacks it, its key, or `x0` and so on."""
    if isinstance(data, Mapping) and all(isinstance(one, torch.Tensor) for one in data.values()):
        return [str(name) for name in data]
    count = len(tensors_of_data(data))
    tree = ast.parse(textwrap.dedent(inspect.getsource(reference)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            names = [one.id for one in node.targets[0].elts if isinstance(one, ast.Name)]
            if len(set(names) - {"_"}) == count == len(node.targets[0].elts):
                return names
    return [f"x{number}" for number in range(count)] if count > 1 else ["x"]


def dimensions_of(
    tensors: Sequence[Mapping[str, torch.Tensor]], tests: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, list[str]], dict[str, int]]:
    """A name for each size: of the argument that it equals in each test, or its own; digits if it never varies."""
    known: dict[tuple[Any, ...], str] = {}
    for name in tests[0]:
        values = tuple(test.get(name) for test in tests)
        if name != "seed" and all(type(one) is int for one in values):
            known.setdefault(values, name)
    dims: dict[str, list[str]] = {}
    sizes: dict[str, int] = {}
    for name, one in tensors[0].items():
        dims[name] = []
        for axis in range(one.ndim):
            lengths = tuple(int(some[name].shape[axis]) for some in tensors)
            if lengths not in known and len(set(lengths)) == 1:
                dims[name].append(str(lengths[0]))
                continue
            named = known.setdefault(lengths, f"{name}_{axis}")
            dims[name].append(named)
            sizes[named] = lengths[0]
    return dims, sizes


def is_unread(reference: Callable[..., Any], data: Any, names: Sequence[str], name: str) -> bool:  # noqa: ANN401
    """Whether the answer does not depend on a tensor: NaN there changes nothing."""
    tensors = dict(zip(names, tensors_of_data(data), strict=True))
    try:
        answers = []
        for number in (float("nan"), 1.0):
            given = {key: one.clone() for key, one in tensors.items()} | {name: torch.full_like(tensors[name], number)}
            with torch.no_grad():
                answers.append(tensors_of_data(reference(rebuilt(data, iter(given[one] for one in names)))))
        return all(torch.equal(a, b) for a, b in zip(*answers, strict=True))
    except Exception:  # of the reference's own code
        return False
