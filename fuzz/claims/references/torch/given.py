"""What `get_inputs` of a reference's file makes: the inputs, wherever they are in it, and their dimensions.

Knows torch and the text of a file; it knows no set.
"""

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import torch

from kfuzz.claims.references.torch.declared import CannotError, Declared
from kfuzz.claims.references.torch.seen_integers import MOST_ELEMENTS, SeenIntegers, integers_seen
from kfuzz.claims.references.torch.sizes import BOOLEAN, Below, Dims
from kfuzz.claims.references.torch.task_data import as_text, names_of, numbers_of_data, rebuilt, tensors_of_data
from kfuzz.devices import GIVEN
from kfuzz.devices.python.torch.elements import OF_TYPE
from kfuzz.oracle.numbers.elements import BOOL, F32, F64
from kfuzz.oracle.op.shapes import names_in

ORDERS = ("rises", "permutation")
"""What is seen of integers in an order says all of them."""
FACTORIES = ("rand", "randn", "zeros", "ones", "empty", "full", "randint")


def names_of_inputs(reference: Callable[..., Any], data: Any) -> list[str]:  # noqa: ANN401  containers of tensors
    """A name for each tensor: that of the parameter that takes it, or its key."""
    called = getattr(reference, "forward", reference)
    parameters = [name for name in inspect.signature(called).parameters if name != "self"]
    if not isinstance(data, Mapping) and len(data) > len(parameters):
        raise CannotError("get_inputs makes more than the reference takes")
    return names_of(parameters[: len(data)], data)


def of_tensors(reference: Callable[..., Any], data: Any) -> Callable[..., Any]:  # noqa: ANN401  as above
    """The reference as a function of its tensors alone: whatever else is among its inputs is handed over as it is."""
    if not isinstance(data, Mapping) and all(isinstance(one, torch.Tensor) and one.ndim for one in data):
        return reference
    ranks = [one.ndim for one in tensors_of_data(data)]

    def call(*tensors: torch.Tensor) -> Any:  # noqa: ANN401  what the reference returns
        given = rebuilt(data, (one if rank else one.reshape(()) for one, rank in zip(tensors, ranks, strict=True)))
        return reference(**given) if isinstance(given, Mapping) else reference(*given)

    return call


def texts_of(data: Any, names: Sequence[str]) -> tuple[str, ...]:  # noqa: ANN401  as above
    """How a submission gets the inputs, a text for each argument; nothing if each is a tensor in its place."""
    tensors = tensors_of_data(data)
    texts = iter([name if one.ndim else f"({name}.reshape(()))" for name, one in zip(names, tensors, strict=True)])
    numbers = iter(list(map(str, numbers_of_data(data))))
    pairs = data.items() if isinstance(data, Mapping) else enumerate(data)
    made = {key: as_text(one, texts, numbers, f"{GIVEN}[{key!r}]") for key, one in pairs}
    if isinstance(data, Mapping):
        return tuple(f"{key}={one}" for key, one in made.items())
    return () if list(made.values()) == list(names) else tuple(made.values())


def inputs_of(module: ModuleType, reference: Callable[..., Any], source: str) -> tuple[Declared, Any]:
    """The dimensions of each input, by their names in get_inputs, and what that makes.

    A size that is also used elsewhere is fixed.
    """
    tree = ast.parse(source)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if "get_inputs" not in functions:
        raise CannotError('arrays are missing: write { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }')
    data = without_memory(module.get_inputs)
    made, names = tensors_of_data(data), names_of_inputs(reference, data)
    calls = [
        node
        for node in ast.walk(functions["get_inputs"])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FACTORIES
    ]
    calls.sort(key=lambda node: (node.lineno, node.col_offset))
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
        found[name] = name_sizes(texts, one.shape, known) or ["1"]
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
    types = {name: OF_TYPE[one.dtype] for name, one in zip(names, made, strict=True) if one.dtype in OF_TYPE}
    whole = {name: one.name for name, one in types.items() if one not in (F32, F64, BOOL)}
    narrow = {name: one.dtype for name, one in zip(names, made, strict=True) if name in whole and types[name].is_narrow}
    return Declared(found, below, fixed, sizes, whole, narrow, seen), data


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
    seen = integers_seen(lambda: tensors_of_data(module.get_inputs()), list(made), unclear)
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


def without_memory(make: Callable[[], Any]) -> Any:  # noqa: ANN401  containers of tensors
    """The inputs without their numbers, since only their sizes matter: those of a benchmark take gigabytes."""
    try:
        with torch.device("meta"):
            made = make()
    except Exception:  # their code: it may need the numbers, and then raises what it likes
        made = make()
    return [made] if isinstance(made, torch.Tensor) else made
