"""Claims for a file of one kernel: its pointers are the op's arrays in their order, its integers the sizes.

The launch is read from a line with `<<<>>>` if there is one, else guessed. Knows text and ops; trials must show that
a guess is right.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from kfuzz.claims.roles import Roles, roles_of
from kfuzz.claims.signature import Parameter, entries_of
from kfuzz.devices import ClaimError
from kfuzz.sources.cuda_text import blank_non_code, split_commas

ROWS = 65535
LIMITS = ((1 << 20, ""), (4096, ""), (1024, "{cols} <= threads"), (1024, ""), (256, ""), (32, ""))
"""The length of rows, and a condition on it; the first that is kept."""
VALUES = ("", "\n\n[values]\nrange = [-80, 80]")
"""Any values, or a range in which exp(x) does not overflow without a shift."""
THREADS = (32, 64, 128, 256, 512, 1024)
SIZE = {"rows": r"rows?|m|batch|b", "cols": r"cols?|n|d|dim|width|len|length|size|hidden"}
"""Common names of the sizes of a matrix."""
LAUNCH = re.compile(r"(\w+)\s*(?:<[^<>;]*>)?\s*<<<(.*?)>>>", re.DOTALL)
DEFINED = re.compile(
    r"#\s*define\s+(\w+)\s+(\d+)\b|\b(?:const|constexpr)\s+(?:int|unsigned|size_t)\s+(\w+)\s*=\s*(\d+)\s*;"
)


@dataclass(frozen=True)
class Function:
    """The kernel: its name, the name with template arguments by which it is launched, and its parameters."""

    name: str
    entry: str
    parameters: tuple[Parameter, ...]


def function_of(where: str, source: str) -> Function:
    """The only __global__ function, or the only one that is launched."""
    functions = entries_of(source)
    launched = {found[1] for found in LAUNCH.finditer(source)} & functions.keys()
    names = list(launched or functions)
    if not names:
        raise ClaimError(f"{where}: it has no __global__ function")
    if len(names) != 1:
        found = f"{len(names)} kernels ({', '.join(names)})"
        raise ClaimError(f"{where}: {found}; how they work together has to be written: kfuzz show --template")
    name = names[0]
    template = re.search(rf"template\s*<([^<>]*)>\s*__global__[^;{{}}]*\b{name}\s*\(", source)
    given = split_commas(template[1]) if template else []
    if len(sizes_given := [one for one in given if not is_type(one)]) > 1:
        told = f"{name} is a template of several numbers ({', '.join(one.strip() for one in sizes_given)})"
        raise ClaimError(f"{where}: {told}; with which it is launched has to be written: kfuzz show --template")
    parameters = [instance(one) for one in given]
    return Function(name, f"{name}<{', '.join(parameters)}>" if parameters else name, functions[name])


def instance(parameter: str) -> str:
    """The most likely argument for a template parameter: float for a type, the threads of a block for a number."""
    return "float" if is_type(parameter) else "{threads}"


def is_type(parameter: str) -> bool:
    """Whether a template parameter is a type."""
    return bool(re.match(r"\s*(?:typename|class)\b", parameter))


def claims(op: str, function: Function, source: str) -> Iterator[str]:
    """Claims in TOML, the most likely first."""
    roles = roles_of(op)
    pointers = [one for one in function.parameters if one.is_pointer]
    numbers = [name_of(one) for one in function.parameters if not one.is_pointer]
    code = blank_non_code(source)
    for values, shape, (longest, condition) in product(VALUES, shapes(roles, numbers), LIMITS):
        if (arrays := arrays_of(roles, shape, pointers)) is None:
            continue
        axes = ", ".join(f'{name} = "1..{ROWS if name == shape.rows else longest}"' for name in shape.axes)
        where = f'where  = ["{condition.format(cols=shape.axes[-1])}"]\n' if condition else ""
        is_single = all(dimensions == ("1",) for dimensions in roles.outputs.values())
        for launch in launches(function.name, code, shape, is_single):
            if not condition or "threads" in launch[1]:
                yield claim(op, axes, where, arrays, launch, function) + values


@dataclass(frozen=True)
class Naming:
    """The names of the axes, the kernel's own, by the op's dimensions; `rows` is the one that counts rows, if any."""

    axes: tuple[str, ...]
    dimensions: dict[str, str]
    rows: str | None


def shapes(roles: Roles, numbers: Sequence[str]) -> Iterator[Naming]:
    """The ways to assign the numbers to dimensions; the grid gives a dimension that is none of them."""
    dimensions = list(dict.fromkeys(name for shape in roles.inputs.values() for name in shape if name != "1"))
    if roles.takes_vector and len(dimensions) == 2 and len(numbers) < 2:
        cols = numbers[0] if numbers else "cols"
        yield Naming(("rows", cols), {"rows": "rows", "cols": cols}, "rows")
        yield Naming((cols,), {"cols": cols}, None)
        return
    by_name = {dimension: named(dimension, numbers) for dimension in dimensions}
    orders = [by_name] if None not in by_name.values() else []
    orders.append(dict(zip(dimensions, (*numbers, *dimensions[len(numbers) :]), strict=False)))
    for order in orders:
        found = {dimension: str(name) for dimension, name in order.items()}
        if len(set(found.values())) == len(dimensions):
            rows = found.get("rows") if roles.takes_vector else None
            yield Naming(tuple(found.values()), found, rows)


def named(dimension: str, numbers: Sequence[str]) -> str | None:
    """The number with the name of a dimension, or with a common name for it."""
    pattern = re.compile(rf"{re.escape(dimension)}|{SIZE.get(dimension, dimension)}", re.IGNORECASE)
    return next((name for name in numbers if pattern.fullmatch(name)), None)


def arrays_of(roles: Roles, shape: Naming, pointers: Sequence[Parameter]) -> str | None:
    """The op's roles for the pointers: those to const are inputs; None if there are too few or too many."""
    inputs = [name_of(one) for one in pointers if is_const(one)]
    outputs = [name_of(one) for one in pointers if not is_const(one)]
    in_place = not inputs and len(outputs) == len(roles.inputs) == len(roles.outputs) == 1
    if in_place:
        (role, dimensions), (answer,) = next(iter(roles.inputs.items())), tuple(roles.outputs)
        return f'{outputs[0]} = "{roles.element(role)}[{sizes(shape, dimensions)}] -> {role} <- {answer}"'
    if len(inputs) != len(roles.inputs) or len(outputs) != len(roles.outputs):
        return None
    told = [
        f'{name} = "{roles.element(role)}[{sizes(shape, dimensions)}] {arrow} {role}"'
        for names, known, arrow in ((inputs, roles.inputs, "->"), (outputs, roles.outputs, "<-"))
        for name, (role, dimensions) in zip(names, known.items(), strict=True)
    ]
    return ", ".join(told)


def sizes(shape: Naming, dimensions: Sequence[str]) -> str:
    """The dimensions by the kernel's names; a row alone is a plain vector."""
    found = [shape.dimensions.get(name, "1" if name != "rows" else "") for name in dimensions]
    return ", ".join(name for name in found if name) or "1"


def launches(name: str, code: str, shape: Naming, is_single: bool) -> Iterator[tuple[str, str, str]]:
    """Grid, block and shared memory: from a line of the text, then as such kernels are usually launched.

    Few blocks before many: a kernel that needs many leaves outputs unwritten with few, and one that needs few also
    runs with many.
    """
    for found in LAUNCH.finditer(code):
        parts = split_commas(found[2])
        if found[1] == name and len(parts) >= 2:
            yield plain(parts[0], code), plain(parts[1], code), plain(parts[2], code) if len(parts) > 2 else "0"
    last, first = shape.axes[-1], shape.axes[0]
    grids = [f"ceil_div({first}, threads)", f"ceil_div({first}, threads / 32)", first]
    grids = ["1"] if is_single else grids
    blocks = ["threads"]
    if re.search(r"\bthreadIdx\s*\.\s*y\b", code):
        pairs = [(first, last), *((one, other) for one in shape.axes for other in shape.axes if one != other)]
        widths = ("32, 32", "16, 16", "32, 8", "8, 8")
        for block, (rows, cols) in product(widths, dict.fromkeys(pairs)):
            wide, high = block.split(", ")
            yield f"ceil_div({cols}, {wide}), ceil_div({rows}, {high})", block, "0"
        return
    shared = ("4 * threads", "8 * threads", f"4 * {last}", f"4 * {last} + 4 * threads")
    for grid, block, memory in product(grids, blocks, shared if "extern __shared__" in code else ("0",)):
        yield grid, block, memory


def plain(text: str, code: str) -> str:
    """A host expression in the words of a claim: named constants by their values, sizeof(float) as 4."""
    known = {found[1] or found[3]: found[2] or found[4] for found in DEFINED.finditer(code)}
    text = re.sub(r"sizeof\s*\(\s*(?:float|int|unsigned)\s*\)", "4", text.removeprefix("dim3"))
    text = re.sub(r"\b\w+\b", lambda word: known.get(word[0], word[0]), text).strip()
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


def claim(op: str, axes: str, where: str, arrays: str, launch: tuple[str, str, str], function: Function) -> str:
    """The claim in TOML."""
    grid, block, shared = launch
    used = " ".join((*launch, function.entry))
    tune = f"tune   = {{ threads = {list(THREADS)} }}\n" if "threads" in used else ""
    args = ", ".join(f'"{name_of(one)}"' for one in function.parameters)
    return (
        f'op     = "{op}"\naxes   = {{ {axes} }}\n{tune}{where}arrays = {{ {arrays} }}\n\n[[launch]]\n'
        f'entry  = "{function.entry}"\ngrid   = "{grid}"\nblock  = "{block}"\nshared = "{shared}"\nargs   = [{args}]'
    )


def name_of(parameter: Parameter) -> str:
    """The name of a parameter in its declaration."""
    words = re.findall(r"\w+", re.sub(r"\[.*", "", parameter.text))
    return words[-1] if words else ""


def is_const(parameter: Parameter) -> bool:
    return bool(re.match(r".*\bconst\b[^*]*\*", parameter.text))
