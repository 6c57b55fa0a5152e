"""Traces a torch reference and writes its operations as a formula over a number system, in a separate process.

A folder holds question.json; the process leaves answer.json and arrays.npz there. The file of the reference runs here,
and never in a process that judges an answer. Sizes stay symbols, so one trace serves all sizes.
"""

import ast
import copy
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import cpp_extension
from torch.utils._python_dispatch import TorchDispatchMode

from kfuzz.callables.loading import execute_file
from kfuzz.callables.raising import words_of
from kfuzz.callables.torch.configs import configure
from kfuzz.callables.torch.declared import CannotError, Declared, OneSizeError, inputs_of, reference_of
from kfuzz.callables.torch.elements import as_array
from kfuzz.callables.torch.integers import ABSENT, integers_of, rules_of, structure_of, with_limits
from kfuzz.callables.torch.recurrent import keep_whole
from kfuzz.callables.torch.run_formula import file_of_runs
from kfuzz.callables.torch.sizes import (
    BOOLEAN,
    FEW,
    MOST_WEIGHTS,
    Below,
    Dims,
    Steps,
    length_of,
    prime_sizes,
    sizes_in,
    sizes_to_compare,
)
from kfuzz.callables.torch.tasks import read_tests, task_of
from kfuzz.callables.torch.trace_reader import TraceReader
from kfuzz.callables.torch.without_card import on_a_card
from kfuzz.oracle.shapes import is_derived
from kfuzz.sources.cuda_in_python import builds_cuda

KEPT = ("path", "source", "reference", "inputs", "integers", "narrow", "task", "config")
"""What a question says that each further run has to know."""
LARGER = (1, 20, 70)
"""Least sizes at which a reference is traced: one with windows does not run at the smallest."""


def answer_folder(folder: Path) -> None:
    """Answer the question that lies in a folder."""
    asked = json.loads((folder / "question.json").read_text(encoding="utf-8"))
    try:
        answer, arrays = answer_question(asked)
    except CannotError as error:
        answer, arrays = {"error": str(error)}, {}
    except Exception as error:  # any error of the user's file or of torch's tracer: reported as it is
        answer, arrays = {"error": f"the reference cannot be traced: {words_of(error)}"}, {}
    np.savez(folder / "arrays.npz", **arrays)
    (folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")


def answer_question(asked: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The formula's text with its names, and the reference's own answers for some inputs."""
    known = runnable_of(asked)
    if any(below in ("", ABSENT) for below in known.declared.below.values()):
        found = with_limits(known.call, known.declared, sizes_to_run(known.declared, asked), tensors_for)
        known = replace(known, declared=found)
    answer, arrays = formula_for(known, asked)
    return {**answer, **known.beside}, arrays


def formula_for(known: "Runnable", asked: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The formula for all sizes, else one that runs the reference at each."""
    if goes_by_integers(known.declared):
        return trace_by_runs(known, asked)
    try:
        if asked["inputs"]:
            found = trace_reference(known.call, known.is_module, asked, known.declared)
        else:
            found = trace_first_of(known.call, known.is_module, asked, ways_to_vary(known.declared))
        return found if not found[0]["unknown"] else with_fewer_unknown(found, known, asked)
    except CannotError as error:
        if not isinstance(error, OneSizeError) or not asked["inputs"]:
            raise
        return trace_by_runs(known, asked)  # a loop over a size
    except Exception as symbolic:  # any error of torch's tracer: it may go by integers, or write into slices
        try:
            return trace_by_runs(known, asked)
        except Exception as error:  # of the reference itself, or one that says where it is not understood
            raise (error if isinstance(error, CannotError) else symbolic) from None


def with_fewer_unknown(
    found: tuple[dict[str, Any], dict[str, Any]], known: "Runnable", asked: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A formula that knows all operations, if there is one: without its writes, or by runs."""
    ways = partial(formula_for, known, {**asked, "is_pure": True}), partial(trace_by_runs, known, asked)
    for way in ways[asked.get("is_pure", False) :]:
        try:
            other = way()
        except Exception:  # of the reference at other sizes, or one that a run does not follow  # noqa: S112
            continue
        if not other[0]["unknown"]:
            return other
    return found


@dataclass(frozen=True)
class Runnable:
    """A reference as a function of its tensors, and what its inputs are."""

    call: Callable[..., Any]
    is_module: bool
    declared: Declared
    beside: Mapping[str, Any] = field(default_factory=dict)
    """What a submission is handed, or made with, that the formula does not say."""

    @property
    def names(self) -> tuple[str, ...]:
        """Its inputs, in their order."""
        return tuple(self.declared.dims)


def runnable_of(asked: Mapping[str, Any]) -> Runnable:
    """Execute a reference's file and find its inputs."""
    for build in ("load", "load_inline"):  # a reference needs no extension, and a submission's takes a minute to build
        setattr(cpp_extension, build, lambda *_, **__: None)
    torch.max_pool1d = pool_by_two_axes
    keep_whole()
    path, source = Path(asked["path"]), asked["source"]
    context = partial(on_a_card, path) if builds_cuda(source) or asked.get("task") else nullcontext
    if asked.get("task"):
        sys.path.append(str(path.parent.parent))  # utils.py of all tasks
    with context():  # its inputs may be on a GPU
        module = execute_file(path, source, 0)
        configure(module, asked.get("config", ""), asked["reference"])
    reference, is_module = reference_of(module, asked["reference"])
    if asked["inputs"]:
        return Runnable(reference, is_module, Declared(asked["inputs"], asked.get("integers", {}), {}))
    if asked.get("task"):
        with context():
            task = task_of(module, reference, read_tests(asked["task"]))
        beside = {"data": task.data, "elements": task.elements, "results": task.results, "scratch": task.scratch}
        return Runnable(on_host(task.call, context), False, task.declared, beside)
    with context():
        declared, reference = inputs_of(module, reference, source)
    beside = {**(made_with(module) if is_module else {}), "whole": dict(declared.whole)}
    return Runnable(reference, is_module, declared, beside)


def on_host(call: Callable[..., Any], context: Callable[[], Any]) -> Callable[..., Any]:
    """A function whose GPU is the host."""

    def called(*tensors: torch.Tensor) -> Any:  # noqa: ANN401  what the reference returns
        with context():
            return call(*tensors)

    return called


def made_with(module: ModuleType) -> dict[str, Any]:
    """The literals with which a model is made, for a submission that does not have them."""
    every = [repr(one) for one in getattr(module, "get_init_inputs", list)()]
    try:
        for one in every:
            ast.literal_eval(one)
    except (ValueError, SyntaxError):
        return {}
    return {"init": every}


def trace_by_runs(known: Runnable, asked: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A formula that runs the reference again at the sizes and integers of each case; answers to compare it with."""
    path = Path(asked["path"])
    declared = with_fixed(known.declared, asked)
    sizes, larger = sizes_to_run(declared, asked)
    make = partial(tensors_for, declared)
    text, outputs, unknown = file_of_runs(
        known.call, path, declared, (sizes, larger), make, asked["title"], asked.get("narrow", ())
    )
    arrays: dict[str, Any] = {}
    for number, some in enumerate((sizes, larger)):
        arrays |= {f"input {number} {name}": one.numpy() for name, one in make(some).items()}
        arrays |= answers_of(f"single {number}", outputs, known.call, make(some), some)
    names = {name: [str(declared.fixed.get(d, d)) for d in dims] for name, dims in declared.dims.items()}
    answer = {"formula": text, "inputs": names, "unknown": unknown, "is_module": known.is_module}
    return answer | {"run": {key: asked[key] for key in KEPT if key in asked}}, arrays


def goes_by_integers(declared: Declared) -> bool:
    """Whether its inputs are of a kind that no reference takes without a loop over their elements."""
    given = [structure_of(one, declared.dims[name][-1]) for name, one in declared.below.items() if one != BOOLEAN]
    return any(one.is_segments for one in given) or any(is_derived(d) for dims in declared.dims.values() for d in dims)


def with_fixed(declared: Declared, asked: Mapping[str, Any]) -> Declared:
    """The inputs with the sizes that the claim fixes."""
    names = sizes_in(declared.dims)
    fixed = {name: least for name, (least, most, _) in asked["axes"].items() if least == most and name in names}
    return replace(declared, fixed=fixed | {n: size for n, size in declared.fixed.items() if n in names})


def sizes_to_run(declared: Declared, asked: Mapping[str, Any]) -> tuple[dict[str, int], dict[str, int]]:
    """Two sets of sizes at which the reference is run."""
    steps = {name: asked["axes"].get(name, (1, 0, 1)) for name in sizes_in(declared.dims)}
    multiples = {name: (least, by) for name, (least, _, by) in steps.items()}
    fixed = with_fixed(declared, asked).fixed
    numbers = {int(name) for dims in declared.dims.values() for name in dims if name.isdigit()}
    rules = (*rules_of(declared.below, declared.dims), *asked.get("where", ()))
    sizes = prime_sizes(multiples, fixed, numbers, rules, FEW)
    return sizes, {name: size if name in fixed else size + multiples[name][1] for name, size in sizes.items()}


def ways_to_vary(declared: Declared) -> Iterator[Declared]:
    """The dimensions as they are; with equal ones as one; with the second fixed; all but the first; all fixed.

    The second is often that of channels. A weight may depend on a size that looks like one of the inputs' alone, and
    two inputs may have to be of one length.
    """
    tried = []
    merged = declared.with_equal_sizes_as_one()
    inner = {name for dims in declared.dims.values() for name in dims[1:]}
    first = replace(declared, fixed={n: size for n, size in declared.sizes.items() if n in inner} | declared.fixed)
    channels = {name for dims in declared.dims.values() for name in dims[1:2]}
    second = replace(declared, fixed={n: size for n, size in declared.sizes.items() if n in channels} | declared.fixed)
    for one in (declared, merged, second, first, replace(declared, fixed=dict(declared.sizes))):
        if one not in tried:
            tried.append(one)
            yield one


def trace_first_of(
    reference: Callable[..., Any], is_module: bool, asked: Mapping[str, Any], ways: Iterator[Declared]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The first of these traces that succeeds; the error is the first one's."""
    first: Exception | None = None
    for declared in ways:
        try:
            return trace_reference(reference, is_module, asked, declared)
        except Exception as error:  # any error of torch for such dimensions
            first = first or error
    assert first is not None
    raise first


def trace_reference(
    reference: Callable[..., Any], is_module: bool, asked: Mapping[str, Any], declared: Declared
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The formula and answers for inputs of these dimensions, at the smallest sizes at which the reference runs."""
    for number, least in enumerate(LARGER, 1):
        try:
            return trace_at(reference, is_module, asked, declared, least)
        except CannotError:
            raise
        except Exception:  # any error of torch for such sizes
            if number == len(LARGER):
                raise
    raise AssertionError


def trace_at(
    reference: Callable[..., Any], is_module: bool, asked: Mapping[str, Any], declared: Declared, larger: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The formula and answers, traced at sizes that are no smaller than `larger`."""
    inputs, below = declared.dims, declared.below
    fixed = declared.fixed | {name: least for name, (least, most, _) in asked["axes"].items() if least == most}
    given_axes = {name: asked["axes"].get(name, (1, 0, 1)) for name in sizes_in(inputs)}
    steps = {name: (least, multiple) for name, (least, _, multiple) in given_axes.items()}
    fixed = {name: size for name, size in fixed.items() if name in steps}
    numbers = {int(name) for dims in inputs.values() for name in dims if name.isdigit()}
    sizes = prime_sizes(
        {name: (max(least, larger), multiple) for name, (least, multiple) in steps.items()}, fixed, numbers
    )
    given = tensors_of(inputs, sizes, below)
    write = partial(formula_of, inputs=inputs, below=below, sizes=sizes, fixed=set(fixed), title=asked["title"],
                    is_pure=asked.get("is_pure", False))  # fmt: skip
    text, outputs, constants, unknown, is_single = write(reference, given)
    if (weights := sum(one.size for one in constants.values())) > MOST_WEIGHTS:
        raise CannotError(
            f"it has {weights:,} weights of its own; kfuzz judges by at most {MOST_WEIGHTS:,}, which take 1 GB in each "
            "of its processes. Give it smaller sizes"
        )
    wide = None if is_single else in_double(reference, given, text, write)
    arrays = {f"constant {name}": value for name, value in constants.items()}
    if not asked["inputs"] and (limits := least_sizes(reference, declared, sizes, steps, fixed)):
        steps |= {name: (least, steps[name][1]) for name, least in limits.items()}
        rules = tuple(f"{name} >= {least}" for name, least in limits.items())
        text = text.replace("\nOUTPUTS = ", f"\nWHERE = {rules!r}\nOUTPUTS = ", 1)
    for number, some in enumerate(sizes_to_compare(sizes, steps, fixed, inputs)):
        given = tensors_of(inputs, some, below)
        if any_nan(reference, given):  # of a logarithm or a root, where its inputs have to be positive
            given = {name: one.abs() if one.is_floating_point() else one for name, one in given.items()}
        arrays |= {f"input {number} {name}": one.numpy() for name, one in given.items()}
        arrays |= answers_of(f"single {number}", outputs, reference, given, some)
        if wide is not None:
            with Narrowings() as narrowings, suppress(CannotError):  # its own numbers may be in single precision
                found = answers_of(f"double {number}", outputs, wide, widen_inputs(given), some)
                arrays |= found if not narrowings.seen else {}
    names = {name: [size if size not in fixed else str(fixed[size]) for size in dims] for name, dims in inputs.items()}
    return {"formula": text, "inputs": names, "unknown": unknown, "is_module": is_module}, arrays


def least_sizes(
    reference: Callable[..., Any], declared: Declared, sizes: Mapping[str, int], steps: Steps, fixed: Mapping[str, int]
) -> dict[str, int]:
    """For each dimension that has one, the size below which the reference does not run, with the others as traced."""
    smallest = {**{name: max(least, multiple) for name, (least, multiple) in steps.items()}, **fixed}
    if does_run(reference, declared, smallest):
        return {}
    free = [name for name in steps if name not in fixed]

    def least_of(name: str, others: Mapping[str, int]) -> int | None:
        tried = range(smallest[name], sizes[name] + 1, steps[name][1])
        return next((n for n in tried if does_run(reference, declared, {**others, name: n})), None)

    alone = {name: least_of(name, sizes) or sizes[name] for name in free}
    every = {**smallest, **alone}
    if not does_run(reference, declared, every):  # a rule over several sizes, as that there are two elements
        name = next((name for name in reversed(free) if least_of(name, every) is not None), None)
        every = {**sizes} if name is None else {**every, name: least_of(name, every) or sizes[name]}
    return {name: every[name] for name in free if every[name] > smallest[name]}


def does_run(reference: Callable[..., Any], declared: Declared, sizes: Mapping[str, int]) -> bool:
    """Whether the reference gives elements at these sizes."""
    try:
        with torch.no_grad():
            return all(
                one.numel()
                for one in list_tensors(reference(*tensors_of(declared.dims, sizes, declared.below).values()))
            )
    except Exception:  # any error of torch for such shapes
        return False


def tensors_of(inputs: Dims, sizes: Mapping[str, int], below: Below) -> dict[str, torch.Tensor]:
    """Normal numbers, or integers of their structure, of these shapes; zeros if it is not known."""
    torch.manual_seed(1)

    def made(name: str, dims: Sequence[str]) -> torch.Tensor:
        shape = [length_of(d, sizes) for d in dims]
        if name not in below:
            return torch.randn(shape)
        is_known = below[name] not in ("", ABSENT)
        return integers_of(below[name], dims, sizes) if is_known else torch.zeros(shape, dtype=torch.int64)

    return {name: made(name, dims) for name, dims in inputs.items()}


def tensors_for(declared: Declared, sizes: Mapping[str, int]) -> dict[str, torch.Tensor]:
    """The inputs as they are declared."""
    return tensors_of(declared.dims, sizes, declared.below)


def any_nan(reference: Callable[..., Any], given: Mapping[str, torch.Tensor]) -> bool:
    """Whether an answer to these inputs holds NaN."""
    try:
        with torch.no_grad():
            return any(bool(one.isnan().any()) for one in list_tensors(reference(*given.values())))
    except Exception:  # any error of torch for such shapes: the caller calls it again, and reports it
        return False


def list_tensors(results: object) -> list[torch.Tensor]:
    """The returned tensors."""
    every = list(results) if isinstance(results, tuple | list) else [results]
    if not every or not all(isinstance(one, torch.Tensor) for one in every):
        raise CannotError("it does not return a tensor")
    return every


def tensors_returned(results: object) -> list[torch.Tensor]:
    """The returned tensors; of a dict its values."""
    return list_tensors(list(results.values()) if isinstance(results, Mapping) else results)


def answers_of(
    prefix: str,
    outputs: Sequence[str],
    reference: Callable[..., Any],
    given: Mapping[str, torch.Tensor],
    sizes: Mapping[str, int],
) -> dict[str, Any]:
    """The reference's answers, by name."""
    try:
        with torch.no_grad():
            results = tensors_returned(reference(*given.values()))
    except Exception as error:  # any error of torch for such shapes
        at = " ".join(f"{name}={size}" for name, size in sizes.items())
        raise CannotError(
            f"at {at} the reference itself ends with {words_of(error)}; write axes without that"
        ) from None
    return {f"{prefix} {name}": as_array(one.detach()) for name, one in zip(outputs, results, strict=True)}


class Narrowings(TorchDispatchMode):  # type: ignore[misc]  # torch is not there where types are checked
    """Records whether torch computes anything in a type narrower than double."""

    seen = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        """Run an operation, and look at its result."""
        out = func(*args, **(kwargs or {}))
        for one in out if isinstance(out, tuple | list) else [out]:
            if isinstance(one, torch.Tensor) and one.is_floating_point() and one.dtype != torch.float64:
                self.seen = True
        return out


def widen_inputs(given: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The same numbers in double."""
    return {name: one.double() if one.is_floating_point() else one for name, one in given.items()}


def in_double(
    reference: Callable[..., Any], given: Mapping[str, torch.Tensor], text: str, write: Callable[..., Any]
) -> Callable[..., Any] | None:
    """The reference with its own numbers in double; None if it is a different function there.

    F.rms_norm's eps depends on the type. A reference with its own single-precision numbers may not run at all.
    """
    wide = copy.deepcopy(reference).double() if isinstance(reference, torch.nn.Module) else reference
    try:
        return wide if write(wide, widen_inputs(given))[0] == text else None
    except Exception:  # any error of torch for two types that do not go together
        return None


def formula_of(
    reference: Callable[..., Any],
    given: Mapping[str, torch.Tensor],
    *,
    inputs: Dims,
    below: Below,
    sizes: Mapping[str, int],
    fixed: set[str],
    title: str,
    is_pure: bool = False,
) -> tuple[str, list[str], dict[str, Any], list[str], bool]:
    """A formula's text, outputs, tensors and unknown operations, and whether it holds in float32 only.

    `is_pure`: its writes are traced as new tensors.
    """
    # Its own weights are not inputs: they are constants.
    traced = torch.func.functionalize(reference) if is_pure else reference
    graph = make_fx(traced, tracing_mode="symbolic", _allow_non_fake_inputs=True)(*given.values())
    read = TraceReader(graph, inputs, below, sizes, fixed)
    for node in graph.graph.nodes:
        read.read_node(node)
    return read.text(title), read.outputs, read.constants, list(dict.fromkeys(read.unknown)), read.to.is_single


OneOrMore = int | Sequence[int]


def pool_by_two_axes(
    input: torch.Tensor,
    kernel_size: OneOrMore,
    stride: OneOrMore | None = None,
    padding: OneOrMore = 0,
    dilation: OneOrMore = 1,
    ceil_mode: bool = False,
) -> torch.Tensor:
    """torch.max_pool1d as a pool of two axes: in a trace its own has room for one size alone."""

    def both(first: int, one: OneOrMore) -> tuple[int, ...]:
        return (first, one) if isinstance(one, int) else (first, *one)

    how = both(1, kernel_size), both(1, stride or kernel_size), both(0, padding), both(1, dilation), ceil_mode
    return torch.max_pool2d(input.unsqueeze(-2), *how).squeeze(-2)
