"""Traces a torch reference and writes its operations as a formula over a number system, in a separate process.

    python -m kfuzz.callables.torch.tracing FOLDER

FOLDER holds question.json; the process leaves formula.py, answer.json and arrays.npz there. The file of the reference
runs here, and never in a process that judges an answer. Sizes stay symbols, so one trace serves all sizes.
Long, since it is the only reader of references that imports torch.
"""

import ast
import copy
import inspect
import json
import operator
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import cpp_extension
from torch.utils._python_dispatch import TorchDispatchMode

from kfuzz.callables.aten.elementwise import POWERS
from kfuzz.callables.aten.norms import MOMENTS
from kfuzz.callables.aten.table import write_operation
from kfuzz.callables.aten.term import HELPERS, Arg, Term, Writer
from kfuzz.callables.loading import SEED, execute_file
from kfuzz.callables.raising import words_of
from kfuzz.callables.torch.elements import OF_TYPE, as_array
from kfuzz.callables.torch.without_card import on_a_card
from kfuzz.oracle.elements import NARROW
from kfuzz.sources.cuda_in_python import builds_cuda

FACTORIES = ("rand", "randn", "zeros", "ones", "empty", "full", "randint")
ARITHMETIC = {operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/", operator.floordiv: "//"}
PRIMES = [n for n in range(5, 2000) if all(n % by for by in range(2, n))]
MOST_WEIGHTS = 1 << 24
"""Numbers that a reference keeps. Judging takes 49 bytes for each of them (67 million took 3.3 GB), in each process."""
LARGER = (1, 20, 70)
"""Least sizes at which a reference is traced: one with windows does not run at the smallest."""
MANY_SIZES = 3
OF_SIZES = {
    "slice", "select", "narrow", "view", "expand", "reshape", "arange", "full", "split", "unsafe_split",
    "split_with_sizes", "repeat", "roll",
}  # fmt: skip
"""Operations whose numbers are sizes and places, and never elements."""
Dims = dict[str, list[str]]
"""The dimensions of each input."""
Below = dict[str, str]
"""For each input of integers, the dimension that they are below."""
Steps = Mapping[str, tuple[int, int]]
"""For each dimension its least size, and a number that divides every size."""


class CannotError(Exception):
    """kfuzz cannot write a formula for this reference."""


@dataclass(frozen=True)
class Declared:
    """The inputs of a reference: their dimensions, the limits of integers, and the dimensions of only one size."""

    dims: Dims
    below: Below
    fixed: dict[str, int]


def main(folder: Path) -> int:
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
    return 0


def answer_question(asked: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The formula's text with its names, and the reference's own answers for some inputs."""
    for build in ("load", "load_inline"):  # a reference needs no extension, and a submission's takes a minute to build
        setattr(cpp_extension, build, lambda *_, **__: None)
    torch.max_pool1d = pool_by_two_axes
    path, source = Path(asked["path"]), asked["source"]
    with on_a_card(path) if builds_cuda(source) else nullcontext():  # its inputs may be on a GPU
        module = execute_file(path, source, 0)
    reference, is_module = reference_of(module, asked["reference"])
    if asked["inputs"]:
        return trace_reference(reference, is_module, asked, Declared(asked["inputs"], {}, {}))
    with on_a_card(path) if builds_cuda(source) else nullcontext():
        declared, reference = inputs_of(module, reference, source)
    every = {name for dims in declared.dims.values() for name in dims[1:] if not name.isdigit()}
    try:
        return trace_reference(reference, is_module, asked, declared)
    except Exception:  # a weight may depend on a size that looks like one of the inputs' alone
        if every <= set(declared.fixed):
            raise
        fixed = declared.fixed | {name: int(getattr(module, name)) for name in every}
        return trace_reference(reference, is_module, asked, replace(declared, fixed=fixed))


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
    steps = {name: asked["axes"].get(name, (1, 0, 1)) for dims in inputs.values() for name in dims}
    steps = {name: (least, multiple) for name, (least, _, multiple) in steps.items() if not name.isdigit()}
    fixed = {name: size for name, size in fixed.items() if name in steps}
    numbers = {int(name) for dims in inputs.values() for name in dims if name.isdigit()}
    sizes = prime_sizes(
        {name: (max(least, larger), multiple) for name, (least, multiple) in steps.items()}, fixed, numbers
    )
    given = tensors_of(inputs, sizes, below)
    write = partial(formula_of, inputs=inputs, below=below, sizes=sizes, fixed=set(fixed), title=asked["title"])
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
        arrays |= {f"input {number} {name}": one.numpy() for name, one in given.items()}
        arrays |= answers_of(f"single {number}", outputs, reference, given, some)
        if wide is not None:
            with Narrowings() as narrowings, suppress(CannotError):  # its own numbers may be in single precision
                found = answers_of(f"double {number}", outputs, wide, widen_inputs(given), some)
                arrays |= found if not narrowings.seen else {}
    names = {name: [size if size not in fixed else str(fixed[size]) for size in dims] for name, dims in inputs.items()}
    return {"formula": text, "inputs": names, "unknown": unknown, "is_module": is_module}, arrays


def reference_of(module: ModuleType, name: str) -> tuple[Callable[..., Any], bool]:
    """The function to call, or `forward` of one object, made as KernelBench makes it."""
    found = getattr(module, name, None)
    if not callable(found):
        raise CannotError(f"{name} is not a function once the file is imported")
    if not isinstance(found, type):
        return found, False
    torch.manual_seed(SEED)
    made = found(*getattr(module, "get_init_inputs", list)())
    made = made.eval() if isinstance(made, torch.nn.Module) else made
    for parameter in made.parameters() if isinstance(made, torch.nn.Module) else ():
        parameter.requires_grad_(False)
    return (made if callable(made) else made.forward), True


def inputs_of(module: ModuleType, reference: Callable[..., Any], source: str) -> tuple[Declared, Callable[..., Any]]:
    """The dimensions of each input, by their names in get_inputs; a size that is also used elsewhere is fixed.

    A number among the inputs is a constant of the reference.
    """
    tree = ast.parse(source)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if "get_inputs" not in functions:
        raise CannotError('arrays are missing: write { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }')
    every = list(without_memory(module.get_inputs))
    made = [one for one in every if isinstance(one, torch.Tensor)]
    called = getattr(reference, "forward", reference)
    names = [name for name in inspect.signature(called).parameters if name != "self"]
    names = [name for name, one in zip(names, every, strict=False) if isinstance(one, torch.Tensor)]
    calls = [
        node
        for node in ast.walk(functions["get_inputs"])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FACTORIES
    ]
    calls.sort(key=lambda node: (node.lineno, node.col_offset))
    if len(made) > len(names):
        raise CannotError("get_inputs makes more tensors than the reference takes; write arrays")
    if len(calls) != len(made):  # an input is made in several steps: its sizes are known by their numbers alone
        if not all(one.is_floating_point() for one in made):
            raise CannotError("get_inputs does not make each input by a call of torch.rand or its kin; write arrays")
        return Declared(dict(zip(names, ([*map(str, one.shape)] for one in made), strict=False)), {}, {}), with_numbers(
            reference, every
        )
    found, inside = Dims(), {node.id for node in ast.walk(functions["get_inputs"]) if isinstance(node, ast.Name)}
    most: dict[str, ast.expr] = {}
    for name, call, one in zip(names, calls, made, strict=False):
        args = list(call.args)
        if isinstance(call.func, ast.Attribute) and call.func.attr == "randint":
            options = {option.arg: option.value for option in call.keywords}
            many = 1 + (len(args) > 1 and not isinstance(args[1], ast.Tuple | ast.List))
            limit, args = options.get("high", args[many - 1]), [options.get("size", args[-1])]
            most |= {} if one.is_floating_point() else {name: limit}
        elif not one.is_floating_point():
            raise CannotError(f"{name} is a tensor of {one.dtype}; a reference of floats is wanted")
        said = [getattr(arg, "elts", [arg]) for arg in args]
        flat = [arg for args in said for arg in args]
        texts = [arg.id if isinstance(arg, ast.Name) else "" for arg in flat][: one.ndim]
        texts += [""] * (one.ndim - len(texts))
        found[name] = [
            text if getattr(module, text, None) == size else str(size)
            for text, size in zip(texts, one.shape, strict=True)
        ]
    elsewhere = {
        node.id
        for top in tree.body
        if top is not functions["get_inputs"] and not isinstance(top, ast.Assign | ast.AnnAssign)
        for node in ast.walk(top)
        if isinstance(node, ast.Name)
    }
    used = {name for dims in found.values() for name in dims}
    below = {}
    for name, limit in most.items():
        word = limit.id if isinstance(limit, ast.Name) else str(getattr(limit, "value", ""))
        below[name] = word if word in used else str(getattr(module, word, word))
        if not (below[name] in used or below[name].isdigit()):
            raise CannotError(f"{name} holds integers below {ast.unparse(limit)}, which is no number")
    fixed = {name: int(getattr(module, name)) for name in inside & elsewhere & used}
    return Declared(found, below, fixed), with_numbers(reference, every)


def with_numbers(reference: Callable[..., Any], inputs: Sequence[object]) -> Callable[..., Any]:
    """The reference as a function of its tensors alone: its other inputs are as get_inputs gives them."""
    if all(isinstance(one, torch.Tensor) for one in inputs):
        return reference

    def call(*tensors: torch.Tensor) -> Any:  # noqa: ANN401  what the reference returns
        left = iter(tensors)
        return reference(*(next(left) if isinstance(one, torch.Tensor) else one for one in inputs))

    return call


def without_memory(make: Callable[[], Sequence[object]]) -> Sequence[object]:
    """The inputs without their numbers, since only their sizes matter: those of a benchmark take gigabytes."""
    try:
        with torch.device("meta"):
            return make()
    except Exception:  # their code: it may need the numbers, and then raises what it likes
        return make()


def prime_sizes(steps: Steps, fixed: Mapping[str, int], numbers: set[int]) -> dict[str, int]:
    """A different size for each dimension: torch makes one symbol for each distinct size."""
    found, taken = dict(fixed), numbers | set(fixed.values())
    for name, (least, multiple) in steps.items():
        sizes = (prime * multiple for prime in PRIMES if prime * multiple >= least)
        found.setdefault(name, next((size for size in sizes if size not in taken), least))
        taken.add(found[name])
    return {name: found[name] for name in steps}


def sizes_to_compare(
    sizes: Mapping[str, int], steps: Steps, fixed: Mapping[str, int], inputs: Dims
) -> list[dict[str, int]]:
    """Sizes at which kfuzz compares the formula with the reference: those of the trace, larger ones, and the least.

    If fixed sizes make these too large to be judged, they are the least and the next.
    """
    more = 6 if len(sizes.keys() - fixed.keys()) < MANY_SIZES else 1  # a volume of 20 places each way is large
    larger = {name: size + more * steps[name][1] for name, size in sizes.items()}
    least = {name: max(least, multiple) for name, (least, multiple) in steps.items()}
    second = {name: size + steps[name][1] for name, size in least.items()}
    every = [dict(sizes), {**larger, **fixed}, {**least, **fixed}]
    few = [{**least, **fixed}, {**second, **fixed}]
    fitting = [one for one in every if elements_of(inputs, one) <= MOST_WEIGHTS]
    return every if fitting == every else [one for one in few if elements_of(inputs, one) <= MOST_WEIGHTS] or few[:1]


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


def elements_of(inputs: Dims, sizes: Mapping[str, int]) -> int:
    """The elements of all inputs at these sizes."""
    return sum(prod(int(d) if d.isdigit() else sizes[d] for d in dims) for dims in inputs.values())


def tensors_of(inputs: Dims, sizes: Mapping[str, int], below: Below) -> dict[str, torch.Tensor]:
    """Normal numbers, or integers below a size, of these shapes."""
    torch.manual_seed(1)

    def length(dimension: str) -> int:
        return int(dimension) if dimension.isdigit() else sizes[dimension]

    shapes = {name: [length(d) for d in dims] for name, dims in inputs.items()}
    return {
        name: torch.randint(length(below[name]), shape) if name in below else torch.randn(shape)
        for name, shape in shapes.items()
    }


def list_tensors(results: object) -> list[torch.Tensor]:
    """The returned tensors."""
    every = list(results) if isinstance(results, tuple | list) else [results]
    if not every or not all(isinstance(one, torch.Tensor) for one in every):
        raise CannotError("it does not return a tensor")
    return every


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
            results = list_tensors(reference(*given.values()))
    except Exception as error:  # any error of torch for such shapes
        at = " ".join(f"{name}={size}" for name, size in sizes.items())
        raise CannotError(
            f"at {at} the reference itself ends with {words_of(error)}; write axes without that"
        ) from None
    return {f"{prefix} {name}": as_array(one.detach()) for name, one in zip(outputs, results, strict=True)}


def is_stored(node: torch.fx.Node, op: str) -> bool:
    """Whether a tensor is made narrow only to be returned: then a kernel's own array is narrow too."""
    return op == "_to_copy" and all(user.op == "output" for user in node.users)


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
) -> tuple[str, list[str], dict[str, Any], list[str], bool]:
    """A formula's text, outputs, tensors and unknown operations, and whether it holds in float32 only."""
    # Its own weights are not inputs: they are constants.
    graph = make_fx(reference, tracing_mode="symbolic", _allow_non_fake_inputs=True)(*given.values())
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


class TraceReader:
    """Reads a trace, node by node."""

    def __init__(
        self, graph: torch.fx.GraphModule, inputs: Dims, below: Below, sizes: Mapping[str, int], fixed: set[str]
    ) -> None:
        self.graph, self.inputs, self.below = graph, inputs, below
        self.fixed = {name: sizes[name] for name in fixed}
        every = {name for dims in inputs.values() for name in dims if not name.isdigit()}
        self.to = Writer({f"n_{name}": self.declared_size(name) for name in sorted(every)})
        self.values: dict[Any, Any] = {}
        self.numbers: dict[Any, str] = {}
        self.symbols: dict[str, str] = {}
        self.constants: dict[str, Any] = {}
        self.unknown: list[str] = []
        self.results: list[Term] = []
        self.waiting = list(inputs)

    @property
    def outputs(self) -> list[str]:
        """The names of the outputs."""
        names = ["y"] if len(self.results) == 1 else [f"y{number}" for number in range(len(self.results))]
        return [name if name not in self.inputs else f"{name}_out" for name in names]

    def read_node(self, node: torch.fx.Node) -> None:
        """One step of the trace."""
        if node.op == "placeholder":
            self.read_placeholder(node)
        elif node.op == "get_attr":
            self.read_constant(node)
        elif node.op == "output":
            every = node.args[0] if isinstance(node.args[0], tuple | list) else [node.args[0]]
            self.results = [self.values[one] for one in every]
        elif isinstance(node.meta.get("val"), torch.SymInt | torch.SymFloat):
            self.read_size(node)
        else:
            self.read_operation(node)

    def read_placeholder(self, node: torch.fx.Node) -> None:
        name = self.waiting.pop(0)
        for claimed, size in zip(self.inputs[name], node.meta["val"].shape, strict=True):
            if isinstance(size, torch.SymInt) and not size.node.expr.is_number:
                text = claimed if claimed.isdigit() else f"n_{claimed}"
                self.symbols[str(size.node.expr)] = text
            elif not claimed.isdigit() and claimed not in self.fixed and int(size) != 1:
                raise CannotError(f"the reference is for {claimed} = {int(size)} alone; write that into axes")
        self.values[node] = Term(name, self.shape(node.meta["val"].shape), is_mask=name in self.below, is_input=True)

    def shape(self, sizes: Sequence[Any]) -> tuple[str, ...]:
        """Sizes over those of the inputs, as text."""
        return tuple(self.expression(size) for size in sizes)

    def expression(self, size: int | torch.SymInt) -> str:
        if not isinstance(size, torch.SymInt):
            return str(int(size))
        expr = size.node.expr.expand()
        text = str(expr)
        for symbol in sorted((str(one) for one in expr.free_symbols), key=len, reverse=True):
            text = text.replace(symbol, self.symbols.get(symbol, symbol))
        if not all(letter.isalnum() or letter in "_+-*/() " for letter in text):
            raise CannotError(f"a size of {text} cannot be written down")
        return text

    def read_constant(self, node: torch.fx.Node) -> None:
        held = self.graph
        for name in str(node.target).split("."):
            held = getattr(held, name)
        self.add_constant(node, held)

    def add_constant(self, node: torch.fx.Node, held: torch.Tensor) -> None:
        """A tensor that belongs to the reference: its numbers are stored with the formula."""
        shape = tuple(str(int(size)) for size in held.shape)
        self.constants[node.name] = held.detach().float().cpu().numpy()
        text = f'N.input(CONSTANTS["{node.name}"].astype("f8"))'
        self.values[node] = Term(self.to.set(node.name, text), shape)

    def read_size(self, node: torch.fx.Node) -> None:
        """A number that follows from sizes: an integer in shapes, a value of the number system in computations."""
        value = node.meta["val"]
        if isinstance(value, torch.SymInt):
            text = self.expression(value)
            self.values[node] = text
            self.numbers[node] = f'N.number(N.size("{self.to.dims[text]}"))' if text in self.to.dims else ""
            return
        args = [self.numbers.get(one, repr(one) if isinstance(one, int | float) else "") for one in node.args]
        sign = ARITHMETIC.get(node.target)
        if not all(args):
            made = ""
        elif sign in ("+", "-", "*", "/"):
            made = f"({args[0]} {sign} {args[1]})"
        elif node.target is operator.pow and node.args[1] in POWERS:
            made = f"({POWERS[node.args[1]].format(args[0])})"
        else:
            made = args[0] if getattr(node.target, "__name__", "") == "sym_float" else ""
        self.numbers[node] = self.values[node] = made

    def read_operation(self, node: torch.fx.Node) -> None:
        """One operation of torch; of an operation's tuple, elements that its rule does not give are unknown."""
        value = node.meta.get("val")
        if node.target is operator.getitem:
            every = self.values[node.args[0]]
            every = every if isinstance(every, list) else [every]
            is_known = node.args[1] < len(every)
            self.values[node] = every[node.args[1]] if is_known else self.unknown_term(node, value)
            return
        first = value[0] if isinstance(value, tuple | list) else value
        if not isinstance(first, torch.Tensor):
            return  # an assertion about sizes
        op = str(node.target).removeprefix("aten.").partition(".")[0]
        options: dict[str, Any] = {key: self.option(one) for key, one in node.kwargs.items()}
        if first.dtype == torch.bool:
            options["dtype"] = "bool"
        if isinstance(value, tuple | list):
            options["results"] = [self.shape(one.shape) for one in value if isinstance(one, torch.Tensor)]
        is_narrow = OF_TYPE.get(first.dtype) in NARROW.values() and not is_stored(node, op)
        args = [self.operand(one, op) for one in node.args]
        made = None if is_narrow else write_operation(self.to, op, node.name, args, options, self.shape(first.shape))
        self.values[node] = made or self.unknown_term(node, first, op)

    def unknown_term(self, node: torch.fx.Node, value: torch.Tensor, op: str = "") -> Term:
        """A tensor of unknown values."""
        op = op or str(node.args[0].target).removeprefix("aten.").partition(".")[0]
        if node.users:
            self.unknown.append(op)
        sizes = "".join(f", {size}" for size in self.shape(value.shape))
        text = f'N.unknown("of torch\'s {op}, which kfuzz has no rule for"{sizes})'
        return Term(self.to.set(node.name, text), self.shape(value.shape))

    def operand(self, one: object, op: str) -> Any:  # noqa: ANN401  an Arg, or a list of them: what a rule takes
        """An operand as a rule takes it: sizes as text, numbers that follow from sizes as values of the system."""
        if isinstance(one, list | tuple):
            return [self.operand(each, op) for each in one]
        if isinstance(one, torch.fx.Node):
            if one in self.numbers:
                return self.values[one] if op in OF_SIZES else self.numbers[one] or None
            return self.values[one]
        return one

    def option(self, one: object) -> Arg:
        found = self.operand(one, "")
        return found if isinstance(found, Term | int | float | str | None) else str(found).removeprefix("torch.")

    def text(self, title: str) -> str:
        """The text of the formula's file, without unused lines."""
        every = [(name, one) for name, one in zip(self.outputs, self.results, strict=True)]
        wanted = {one.text for _, one in every}
        lines: list[str] = []
        for name, text in reversed(self.to.lines):
            if name in wanted:
                wanted |= names_in(text)
                lines.append(f"    {name} = {text}")
        taken: list[str] = []
        used = {name for name in wanted if name.startswith("n_")}
        for role, dims in self.inputs.items():
            named = [f"n_{d}" if not d.isdigit() else "_" for d in dims]
            if used & set(named):
                taken.append(f"    {', '.join(named)}, = {role}.shape")
                used -= set(named)
        known = {f"n_{d}": self.declared_size(d) for dims in self.inputs.values() for d in dims if not d.isdigit()}
        shown = {role: ", ".join(map(self.declared_size, dims)) for role, dims in self.inputs.items()}
        below = {role: self.declared_size(name) for role, name in self.below.items()}
        inputs = {
            role: f"int[{text}] < {below[role]}" if role in below else f"float[{text}]" for role, text in shown.items()
        }
        shapes = {name: ", ".join(output_size(size, known) for size in one.shape) or "1" for name, one in every}
        kinds = {name: "int" if one.is_place else "float" for name, one in every}
        outputs = {name: f"{kinds[name]}[{shape}]" for name, shape in shapes.items()}
        forms = tuple(map(", ".join, product(*sorted(self.to.forms.values(), key=MOMENTS.__ne__))))
        forms = forms if self.to.forms else ()  # the algorithm of a variance begins a form's name
        head = [f'"""{title}: written by kfuzz from what torch traced."""', ""]
        head += ["from pathlib import Path", ""] if self.constants else []
        head += ["import numpy as np", ""] if self.constants or "np" in wanted else []
        imports = [(module, [one for one in helpers if one in wanted]) for module, helpers in HELPERS.items()]
        head += [*(f"from {module} import {', '.join(some)}" for module, some in imports if some), ""]
        head += [f"INPUTS = {inputs!r}", f"OUTPUTS = {outputs!r}"]
        head += [f"FORMS = {forms!r}"] if forms else []
        used = {part for name, text in self.to.lines if name in wanted for part in names_in(text) if part != name}
        steps = tuple(name for name, _ in self.to.lines if name in self.to.steps and name in used)
        head += [f"STEPS = {steps!r}"] if steps else []
        head += [f'SPECIAL = {{"all_neg_inf": "{self.to.all_masked}"}}'] if self.to.all_masked else []
        if self.constants:
            head.append('CONSTANTS = dict(np.load(Path(__file__).with_suffix(".npz")))')
        results = ", ".join(f'"{name}": {one.text}' for name, one in every)
        body = [f"def formula(N, {', '.join(self.inputs)}):", *taken, *reversed(lines), f"    return {{{results}}}"]
        return "\n".join([*head, "", "", *body, ""])

    def declared_size(self, dimension: str) -> str:
        """A dimension as the formula declares it: a number if it is fixed."""
        return str(self.fixed.get(dimension, dimension))


def output_size(size: str, known: Mapping[str, str]) -> str:
    """A size of an output, over the dimensions of the inputs."""
    if size in known:
        return known[size]
    return re.sub(r"\bn_\w+", lambda name: known[name[0]], size)


def names_in(text: str) -> set[str]:
    """Every name in an expression."""
    return {node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)}


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
