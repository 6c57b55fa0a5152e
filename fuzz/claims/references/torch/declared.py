"""Finds a reference in its file, and what its inputs are: dimensions, by their names in get_inputs, and limits.

Knows torch and the text of a file; it knows no set.
"""

import ast
import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

import torch

from kfuzz.claims.references.torch.seen_integers import MOST_ELEMENTS, SeenIntegers, integers_seen
from kfuzz.claims.references.torch.sizes import BOOLEAN, Below, Dims
from kfuzz.claims.references.torch.storage import unwatched
from kfuzz.devices.python.loading import SEED
from kfuzz.devices.python.torch.elements import OF_TYPE
from kfuzz.oracle.op.shapes import names_in

ORDERS = ("rises", "permutation")
"""What is seen of integers in an order says all of them."""
FACTORIES = ("rand", "randn", "zeros", "ones", "empty", "full", "randint")


class CannotError(Exception):
    """kfuzz cannot write a formula for this reference."""


class DrawsError(CannotError):
    """The reference draws random numbers: no answer is right before they are drawn."""

    def __init__(self, op: str, where: str = "") -> None:
        super().__init__(
            f"not judged: {where or 'it'} draws random numbers (torch's {op}), so its answers differ from call to "
            "call; a dropout draws nothing with p = 0, or in eval mode: self.eval() in the class"
        )


@dataclass(frozen=True)
class Declared:
    """The inputs of a reference: their dimensions, the limits of integers, and the dimensions of only one size.

    `sizes`: the size of each dimension as the file has it. `whole`: the types of its integers. `narrow`: the types of
    inputs of floats of 8 bits or fewer.
    `seen`: what integers were in common, of inputs whose limits the text does not say.
    """

    dims: Dims
    below: Below
    fixed: dict[str, int]
    sizes: Mapping[str, int] = field(default_factory=dict)
    whole: Mapping[str, str] = field(default_factory=dict)
    narrow: Mapping[str, torch.dtype] = field(default_factory=dict)
    seen: Mapping[str, SeenIntegers] = field(default_factory=dict)

    def with_integers(self, role: str, below: str) -> "Declared":
        """The same inputs and one more, of one integer."""
        return replace(self, dims={**self.dims, role: ["1"]}, below={**self.below, role: below})

    def with_fixed(self, names: Collection[str]) -> "Declared":
        """The same inputs, whose dimensions of these names have one size."""
        return replace(self, fixed={name: size for name, size in self.sizes.items() if name in names} | self.fixed)

    def with_equal_sizes_as_one(self) -> "Declared":
        """Dimensions of one size as one dimension: a reference may need it, where its file has two numbers.

        A dimension that only has as many as the weights fix remains by itself: others of its kind may vary.
        """
        first: dict[int, str] = {}
        one = {name: first.setdefault(n, name) for name, n in self.sizes.items() if name not in self.fixed}

        def renamed(text: str) -> str:
            return re.sub(r"[A-Za-z_]\w*", lambda name: one.get(name[0], name[0]), text)

        dims = {role: [renamed(name) for name in names] for role, names in self.dims.items()}
        return replace(self, dims=dims, below={role: renamed(n) for role, n in self.below.items()})


def forgetful(made: torch.nn.Module) -> torch.nn.Module:
    """A model that begins each call with the attributes it was made with: some keep a state for the next call.

    A call without numbers would leave a tensor without numbers there. A batch norm in train mode writes into its
    running values.
    """
    held: list[list[tuple[dict[str, Any], dict[str, Any]]]] = []
    numbers: list[list[tuple[torch.Tensor, torch.Tensor]]] = []

    def before(model: torch.nn.Module, given: object) -> None:
        del given
        spaces = [one for part in model.modules() for one in (vars(part), part._buffers)]
        held.append([(one, dict(one)) for one in spaces])
        with unwatched():
            numbers.append([(one, one.clone()) for one in model.buffers()])

    def after(model: torch.nn.Module, given: object, made: object) -> None:
        del model, given, made
        for space, was in held.pop():
            space.clear()
            space.update(was)
        with unwatched():
            for one, number in numbers.pop():
                one.copy_(number)

    made.register_forward_pre_hook(before)
    made.register_forward_hook(after, always_call=True)
    return made


def reference_of(module: ModuleType, name: str) -> tuple[Callable[..., Any], bool]:
    """The function to call, or `forward` of one object, made as KernelBench makes it, which does not call `eval()`."""
    found = getattr(module, name, None)
    if not callable(found):
        raise CannotError(f"{name} is not a function once the file is imported")
    if not isinstance(found, type):
        return found, False
    torch.manual_seed(SEED)
    made = found(*getattr(module, "get_init_inputs", list)())
    made = forgetful(made) if isinstance(made, torch.nn.Module) else made
    for parameter in made.parameters() if isinstance(made, torch.nn.Module) else ():
        parameter.requires_grad_(False)
    return (made if callable(made) else made.forward), True


def inputs_of(module: ModuleType, reference: Callable[..., Any], source: str) -> tuple[Declared, list[object]]:
    """The dimensions of each input, by their names in get_inputs, and the inputs that it makes.

    A size that is also used elsewhere is fixed.
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
    known = sizes_in(module, functions["get_inputs"])
    if len(calls) != len(made):  # an input is made in several steps: its sizes are known by their numbers alone
        calls = [ast.Call(func=ast.Name("made"), args=[], keywords=[])] * len(made)
    found, inside = Dims(), {node.id for node in ast.walk(functions["get_inputs"]) if isinstance(node, ast.Name)}
    most: dict[str, ast.expr] = {}
    for name, call, one in zip(names, calls, made, strict=False):
        args = list(call.args)
        if isinstance(call.func, ast.Attribute) and call.func.attr == "randint":
            options = {option.arg: option.value for option in call.keywords}
            many = 1 + (len(args) > 1 and not isinstance(args[1], ast.Tuple | ast.List))
            limit, args = options.get("high", args[many - 1]), [options.get("size", args[-1])]
            most |= {} if one.is_floating_point() or one.dtype == torch.bool else {name: limit}
        said = [getattr(arg, "elts", [arg]) for arg in args]
        flat = [arg for args in said for arg in args]
        texts = [arg.id if isinstance(arg, ast.Name) else "" for arg in flat][: one.ndim]
        texts += [""] * (one.ndim - len(texts))
        found[name] = name_sizes(texts, one.shape, known)
    if not known:
        found, known = name_numbers(found, numbers_outside(tree, functions["get_inputs"]))
    elsewhere = {
        node.id
        for top in tree.body
        if top is not functions["get_inputs"] and not isinstance(top, ast.Assign | ast.AnnAssign)
        for node in ast.walk(top)
        if isinstance(node, ast.Name)
    }
    below, seen = limits_of(module, dict(zip(names, made, strict=False)), most, found, known)
    used = {part for dims in found.values() for name in dims for part in names_in(name)}
    below |= {name: BOOLEAN for name, one in zip(names, made, strict=False) if one.dtype == torch.bool}
    sizes = {name: size for name, (_, size) in known.items() if name in used}
    fixed = {name: size for name, size in sizes.items() if known[name][0] in inside & elsewhere}
    types = {name: OF_TYPE.get(one.dtype) for name, one in zip(names, made, strict=False) if is_whole(one)}
    whole = {name: one.name for name, one in types.items() if one}
    return Declared(found, below, fixed, sizes, whole, seen=seen), every


def limits_of(
    module: ModuleType, made: Mapping[str, torch.Tensor], said: Mapping[str, ast.expr], found: Dims,
    known: Mapping[str, tuple[str, int]],
) -> tuple[Below, Mapping[str, SeenIntegers]]:  # fmt: skip
    """The limits of integers that the text says, or that are seen; offsets have a place more than what they divide."""
    used = {name for dims in found.values() for name in dims}
    below = Below()
    for name in (name for name, one in made.items() if is_whole(one)):
        limit = said.get(name)
        word = limit.id if isinstance(limit, ast.Name) else str(getattr(limit, "value", ""))
        known_as = word if word in used else str(getattr(module, word, word))
        below[name] = known_as if known_as in used or known_as.isdigit() else ""
    unclear = [name for name, text in below.items() if not text]
    if unclear and sum(one.numel() for one in made.values()) > MOST_ELEMENTS:
        raise CannotError(f"{unclear[0]} holds integers of which get_inputs does not say the limit; write arrays")
    seen = integers_seen(module.get_inputs, list(made), unclear)
    lengths = {size: name for name, (_, size) in reversed(list(known.items())) if name in used}
    for name, one in seen.items():
        if one.order in ORDERS:
            below[name] = one.text(lengths.get(one.high, ""))
        count = lengths.get(made[name].shape[-1] - 1) if one.order == "rises" else None
        found[name][-1] = f"{count} + 1" if count else found[name][-1]
    return below, seen


def is_whole(one: torch.Tensor) -> bool:
    """Whether a tensor holds integers."""
    return not one.is_floating_point() and not one.is_complex() and one.dtype != torch.bool


def literals_among(inputs: Sequence[object]) -> tuple[str | None, ...]:
    """For each input of a reference the literal of a number, or None for a tensor; nothing if all are tensors."""
    is_plain = all(isinstance(one, torch.Tensor) or is_literal(one) for one in inputs)
    texts = tuple(None if isinstance(one, torch.Tensor) else repr(one) for one in inputs)
    return texts if is_plain and any(texts) else ()


def is_literal(one: object) -> bool:
    """Whether the text of a value is a literal of Python."""
    return all(map(is_literal, one)) if isinstance(one, list) else isinstance(one, bool | int | float | str | None)


def sizes_in(module: ModuleType, function: ast.FunctionDef) -> dict[str, tuple[str, int]]:
    """The sizes that a function may use, each with its constant's name: `shape_0` is the first number of `shape`."""
    found: dict[str, tuple[str, int]] = {}
    defaults = {one.name: one.default for one in inspect.signature(module.get_inputs).parameters.values()}
    for node in sorted((one for one in ast.walk(function) if isinstance(one, ast.Name)), key=lambda one: one.lineno):
        value = defaults.get(node.id, getattr(module, node.id, None))
        if type(value) is int:
            found[node.id] = (node.id, value)
        elif isinstance(value, tuple | list) and all(type(one) is int for one in value):
            found |= {f"{node.id}_{place}": (node.id, one) for place, one in enumerate(value)}
    return found


def name_sizes(texts: Sequence[str], shape: Sequence[int], known: Mapping[str, tuple[str, int]]) -> list[str]:
    """A name for each size of an array: that in the text, else that of a constant of this value, else its digits."""
    made: list[str] = []
    for text, size in zip(texts, shape, strict=True):
        if text in known and known[text][1] == size:
            made.append(text)
            continue
        fitting = [name for name, (_, value) in known.items() if value == size and size > 1]
        left = [name for name in fitting if name not in (*made, *texts)]
        made.append(next(iter(left or fitting), str(size)))
    return made


def name_numbers(found: Dims, taken: set[object]) -> tuple[Dims, dict[str, tuple[str, int]]]:
    """A name for each size that a file without names writes as a number, unless it writes that elsewhere, too."""
    named = {
        name: [f"{name}_{place}" if int(size) > 1 and int(size) not in taken else size for place, size in enumerate(of)]
        for name, of in found.items()
    }
    pairs = ((one, size) for name, of in found.items() for one, size in zip(named[name], of, strict=True))
    return named, {one: (one, int(size)) for one, size in pairs if one != size}


def numbers_outside(tree: ast.Module, function: ast.FunctionDef) -> set[object]:
    """The constants of a file outside a function."""
    tops = [top for top in tree.body if top is not function]
    return {node.value for top in tops for node in ast.walk(top) if isinstance(node, ast.Constant)}


def with_numbers(reference: Callable[..., Any], inputs: Sequence[object]) -> Callable[..., Any]:
    """The reference as a function of its tensors alone: a number among the inputs is a constant."""
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
