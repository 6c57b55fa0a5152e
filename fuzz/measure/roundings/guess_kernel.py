"""Claims for a file of one kernel: its pointers are the op's arrays in their order, its integers the sizes.

The launch is read from a line with `<<<>>>` if there is one, else guessed. Knows text and ops; trials must show that
a guess is right. Long, since arrays, sizes and launch are all guessed from the same text.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from typing import Protocol

from kfuzz.claims.language import expression
from kfuzz.claims.language.callables import rules_of_places
from kfuzz.claims.language.roles import Roles, roles_of
from kfuzz.claims.language.signature import Parameter, entries_of
from kfuzz.common.text.cuda_text import blank_non_code, split_commas
from kfuzz.devices import ClaimError
from kfuzz.measure.roundings import launch_text
from kfuzz.measure.roundings.constants import NONE_SAID, Given, constant_of
from kfuzz.measure.roundings.guess_narrow import (
    GroupGuess,
    assignments,
    group_guesses,
    groups_in,
    quantize_tables,
    usual_groups_in,
)
from kfuzz.oracle.numbers.enclosure import FLT_MAX
from kfuzz.oracle.op.shapes import is_derived, lengths_of, longer_by

ROWS = 65535
LIMITS = ((1 << 20, ""), (4096, ""), (1024, "{cols} <= threads"), (1024, ""), (256, ""), (32, ""))
"""The length of rows, and a condition on it; the first that is kept."""
ANY, ZERO = "", '\n\n[values]\nall_neg_inf = "zero"'
UNSHIFTED = 80.0
"""exp(80) is 5.5e34, so thousands of such terms do not overflow without a shift."""
WRITTEN = re.compile(r"(?<![\w.])(\d+(?:\.\d*)?[eE]\+?\d+|\d+\.\d*)[fF]?(?!\w)")
"""Floating-point numbers of the text; one of them may stand for infinity, as in `m = -1e30f`."""
INFINITE, MOST_RANGES = 1e4, 3
"""From which number on it may, and how many are tried."""
Y_AND_Z = 65535
"""The most blocks of a grid along y and z."""
THREADS = (32, 64, 128, 256, 512, 1024)
SIZE = {"rows": r"rows?|m|batch|b", "cols": r"cols?|n|d|dim|width|len|length|size|hidden"}
"""Common names of the sizes of a matrix."""
VECTORS = re.compile(r"\b(?:float|double|u?int|u?short|u?char|u?long|(?:__)?half|__nv_bfloat16)([24])\b")
SIXTEEN = re.compile(r"\b(?:__half|half|__nv_bfloat16|bfloat16|nv_bfloat16)2?\b")


@dataclass(frozen=True)
class GuessedLaunch:
    """Grid, block and shared memory in the words of a claim, and the values of `threads`, if it has that name."""

    grid: str
    block: str
    shared: str
    threads: tuple[int, ...] = THREADS


@dataclass(frozen=True)
class Function:
    """The kernel: its name, the name with template arguments by which it is launched, and its parameters."""

    name: str
    entry: str
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True)
class Naming:
    """The names of the axes, the kernel's own, by the op's dimensions; `rows` is the one that counts rows, if any."""

    axes: tuple[str, ...]
    dimensions: dict[str, str]
    rows: str | None


def function_of(where: str, source: str) -> Function:
    """The only __global__ function, or the only one that is launched."""
    functions = entries_of(source)
    launched = {found[1] for found in launch_text.LAUNCH.finditer(source)} & functions.keys()
    names = list(launched or functions)
    if not names:
        raise ClaimError(f"{where}: it has no __global__ function")
    if len(names) != 1:
        found = f"{len(names)} kernels ({', '.join(names)})"
        raise ClaimError(f"{where}: {found}; write a claim that says how they work together: kfuzz show --template")
    name = names[0]
    template = re.search(rf"template\s*<([^<>]*)>\s*__global__[^;{{}}]*\b{name}\s*\(", source)
    given = split_commas(template[1]) if template else []
    if len(sizes_given := [one for one in given if not is_type(one)]) > 1:
        reason = f"{name} is a template of several numbers ({', '.join(one.strip() for one in sizes_given)})"
        raise ClaimError(f"{where}: {reason}; write a claim that says with which it is launched: kfuzz show --template")
    parameters = [instance(one) for one in given]
    return Function(name, f"{name}<{', '.join(parameters)}>" if parameters else name, functions[name])


def instance(parameter: str) -> str:
    """The most likely argument for a template parameter: float for a type, the threads of a block for a number."""
    return "float" if is_type(parameter) else "{threads}"


def is_type(parameter: str) -> bool:
    """Whether a template parameter is a type."""
    return bool(re.match(r"\s*(?:typename|class)\b", parameter))


def claims(op: str, function: Function, source: str, given: Given = NONE_SAID) -> Iterator[str]:
    """Claims in TOML, the most likely first: with a launch of the text, whatever the sizes and values, before others.

    `given`: the values of arguments that the user says.
    """
    for find_launches in SOURCES:
        yield from claims_with(find_launches, op, function, source, given)


def claims_with(find_launches: "FindLaunches", op: str, function: Function, source: str, given: Given) -> Iterator[str]:
    """The claims with these launches; the widest sizes and values first."""
    roles = roles_of(op)
    alone = [name_of(one) for one in function.parameters if not one.is_pointer]
    literals = {name: given[name][0] for name in alone if len(given.get(name, ())) == 1}
    numbers = [
        name for one in function.parameters if not one.is_float and (name := name_of(one)) in {*alone} - literals.keys()
    ]
    places = {place: name_of(one) for place, one in enumerate(function.parameters) if not one.is_pointer}
    is_single = all(dimensions == ("1",) for dimensions in roles.outputs.values())
    tables = [(values, rounding) for values in value_tables(op, source) for rounding in quantize_tables(roles, source)]
    multiples = dict.fromkeys([*vector_widths(source), *groups_in(roles, source)])
    for (values, rounding), shape, step, (longest, condition) in product(
        tables, guess_shapes(roles, numbers), multiples, LIMITS
    ):
        arrays = list(arrays_of(roles, shape, function, source, given))
        found = find_launches(function.name, source, places, shape, is_single) if arrays else ()
        for launch in dict.fromkeys(found):
            if condition and (launch.block == str(launch_text.WARP) or not re.fullmatch(r"threads|\d+", launch.block)):
                continue  # rows of a warp are the last limit, after any number of warps was tried
            wanted = {name: ROWS if name == shape.rows else longest for name in shape.axes}
            sizes = {name: launched_sizes(launch.grid, name, one, shape.axes) for name, one in wanted.items()}
            fixed = {name: roles.fixed.get(dimension) for dimension, name in shape.dimensions.items()}
            written = {name: sizes_of_axis(sizes[name], step, name, shape) for name in shape.axes}
            axes = ", ".join(f"{name} = {[n] if (n := fixed[name]) else one}" for name, one in written.items())
            rule = condition.format(cols=shape.axes[-1]).replace("threads", launch.block)
            where = where_of([*([rule] if rule else ()), *(in_names(one, shape) for one in rules_of_places(op))])
            for own, scalars in arrays:
                yield claim(op, axes, where, own, scalars, launch, function, literals) + values + rounding


def where_of(rules: Sequence[str]) -> str:
    """The line of a claim that has these rules."""
    return "where  = [{}]\n".format(", ".join(f'"{rule}"' for rule in rules)) if rules else ""


def in_names(text: str, shape: Naming) -> str:
    """An expression of the op's dimensions in the kernel's own names."""
    return re.sub(r"[A-Za-z_]\w*", lambda word: shape.dimensions.get(word[0], word[0]), text)


def value_tables(op: str, source: str) -> tuple[str, ...]:
    """Tables [values], the widest first: any values, zeros for a row of -inf, and ranges of finite values."""
    near = f"\n\n[values]\nrange = [-{UNSHIFTED:g}, {UNSHIFTED:g}]"
    written = sorted({float(one) for one in WRITTEN.findall(blank_non_code(source))}, reverse=True)
    large = [one for one in written if INFINITE <= one < FLT_MAX][:MOST_RANGES]
    ranges = [f"\n\n[values]\nrange = [-{one:g}, {one:g}]" for one in large]
    return (ANY, *((ZERO,) if has_all_neg_inf(op) else ()), *ranges, near)


@cache
def launched_sizes(grid: str, axis: str, most: int, axes: tuple[str, ...]) -> tuple[int, int]:
    """The sizes of an axis, up to `most`, with which a grid has blocks, and at most 65,535 along y and z.

    With other sizes that allow most: large for the first, 1 for the second. A dimension that depends on the threads of
    a block is not looked at.
    """
    least = 1
    for place, dimension in enumerate(split_commas(grid)):
        try:
            number = expression.number(dimension, axes)
            least = max(least, first_size(partial(blocks_at, number, dict.fromkeys(axes, ROWS), axis), 1, most))
            if place:
                blocks = partial(blocks_at, number, dict.fromkeys(axes, 1), axis)
                most = max(least, first_size(blocks, Y_AND_Z + 1, most + 1) - 1)
        except (expression.ExpressionError, ValueError):
            continue
    return least, most


def blocks_at(dimension: expression.Expression, others: Mapping[str, int], axis: str, size: int) -> int:
    """The blocks along one dimension of a grid."""
    return dimension({**others, axis: size})


def first_size(blocks: Callable[[int], int], wanted: int, most: int) -> int:
    """The first size with so many blocks, which grow with the size; `most` if none below has."""
    return bisect_left(range(1, most), wanted, key=blocks) + 1


def has_all_neg_inf(op: str) -> bool:
    """Whether a row of nothing but -inf has no answer by the formula, so that kernels choose zeros or NaN."""
    return "softmax" in op or "attention" in op


def vector_widths(source: str) -> tuple[int, ...]:
    """What the length of rows may have to be a multiple of: 1, and the elements of a vector that the text reads."""
    code = blank_non_code(source)
    numbers = {int(one) for one in VECTORS.findall(code)}
    numbers |= {2 * one for one in numbers} if SIXTEEN.search(code) else set()
    return (1, *sorted(numbers))


def sizes_of_axis(launched: tuple[int, int], step: int, name: str, shape: Naming) -> str:
    """The sizes of an axis as a claim writes them."""
    least, most = launched
    if step == 1 or name != shape.axes[-1]:
        return f'"{least}..{most}"'
    least = -(-least // step) * step
    return f"{{ min = {least}, max = {max(least, most - most % step)}, multiple = {step} }}"


def guess_shapes(roles: Roles, numbers: Sequence[str]) -> Iterator[Naming]:
    """The ways to assign the numbers to dimensions; the grid gives a dimension that is none of them."""
    dimensions = sizes_in(roles)
    if roles.takes_vector and len(dimensions) == 2 and len(numbers) < 2:
        cols = numbers[0] if numbers else "cols"
        yield Naming(("rows", cols), {"rows": "rows", "cols": cols}, "rows")
        yield Naming((cols,), {"cols": cols}, None)
        return
    by_name = {dimension: number_named(dimension, numbers) for dimension in dimensions}
    is_each_named = {*numbers} <= {*by_name.values()}  # a kernel need not have every size
    is_named = is_each_named or None not in by_name.values()
    orders = [{one: name or one for one, name in by_name.items()}] if is_named else []
    orders.append(dict(zip(dimensions, (*numbers, *dimensions[len(numbers) :]), strict=False)))
    for order in orders:
        found = {dimension: str(name) for dimension, name in order.items()}
        if len(set(found.values())) == len(dimensions):
            rows = found.get("rows") if roles.takes_vector else None
            yield Naming(tuple(found.values()), found, rows)


def sizes_in(roles: Roles) -> list[str]:
    """The sizes of an op's inputs that follow from no others, without numbers; `batch + 1` gives that of `batch`."""
    named = lengths_of((size, 0) for shape in roles.inputs.values() for size in shape if not size.isdigit())
    every = (longer_by(size) or (size,) for shape in roles.inputs.values() for size in shape)
    return [name for name in dict.fromkeys(name for name, *_ in every) if name in named]


def number_named(dimension: str, numbers: Sequence[str]) -> str | None:
    """The number with the name of a dimension, or with a common name for it."""
    pattern = re.compile(rf"{re.escape(dimension)}|{SIZE.get(dimension, dimension)}", re.IGNORECASE)
    return next((name for name in numbers if pattern.fullmatch(name)), None)


def arrays_of(roles: Roles, shape: Naming, function: Function, source: str, given: Given) -> Iterator[tuple[str, str]]:
    """The op's roles for the pointers, and `scalars`. Those to const are inputs; none if there are too few or many."""
    pointers = [one for one in function.parameters if one.is_pointer]
    alone = [name_of(one) for one in function.parameters if not one.is_pointer]
    inputs, outputs = [one for one in pointers if is_const(one)], [one for one in pointers if not is_const(one)]
    zeros = (False, True) if any(is_added_to(name_of(one), source) for one in outputs) else (False,)
    in_place = not inputs and len(outputs) == len(roles.inputs) == len(roles.outputs) == 1
    for group in group_guesses(roles, shape.dimensions, source, alone, given):
        if in_place:
            (role, dimensions), (answer,) = next(iter(roles.inputs.items())), tuple(roles.outputs)
            ((_, element),) = next(assignments(roles, [role], outputs), ((role, roles.element(role)),))
            lengths = sizes(roles, shape, dimensions, group)
            yield f'{name_of(outputs[0])} = "{element}[{lengths}] -> {role} <- {answer}"', group.text
            continue
        for read, written, is_zero in product(
            assignments(roles, list(roles.inputs), inputs), assignments(roles, list(roles.outputs), outputs), zeros
        ):
            arrays = [
                f'{name_of(pointer)} = "{element}[{sizes(roles, shape, known[role], group)}]'
                f'{" = 0" if is_zero and arrow == "<-" else ""} {arrow} {role}"'
                for some, given, known, arrow in (
                    (inputs, read, roles.inputs, "->"), (outputs, written, roles.outputs, "<-"),
                )
                for pointer, (role, element) in zip(some, given, strict=True)
            ]  # fmt: skip
            yield ", ".join(arrays), group.text


def sizes(roles: Roles, shape: Naming, dimensions: Sequence[str], group: GroupGuess) -> str:
    """The dimensions by the kernel's names; a row alone is a plain vector."""
    found = []
    for name in dimensions:
        if is_derived(name):
            found.append(group.size_of(name, shape.dimensions, roles.op))
        else:
            found.append(shape.dimensions.get(name, name if name.isdigit() else "1" if name != "rows" else ""))
    return ", ".join(name for name in found if name) or "1"


class FindLaunches(Protocol):
    """The launches that a file may mean: one of SOURCES."""

    def __call__(
        self, name: str, source: str, places: Mapping[int, str], shape: Naming, is_single: bool
    ) -> Iterator[GuessedLaunch]:
        """Those of the kernel of this name."""


def written_launches(
    name: str, source: str, places: Mapping[int, str], shape: Naming, is_single: bool
) -> Iterator[GuessedLaunch]:
    """Grid, block and shared memory from lines of the text, with a grid that grows with the sizes."""
    for one in every_written(name, source, places, shape):
        if is_single or grows(one, shape):
            yield one


def fixed_launches(
    name: str, source: str, places: Mapping[int, str], shape: Naming, is_single: bool
) -> Iterator[GuessedLaunch]:
    """Those of the text with a grid for one size: `<<<1024, 256>>>` is enough for the size of that program."""
    for one in every_written(name, source, places, shape):
        if not is_single and not grows(one, shape):
            yield one


def every_written(name: str, source: str, places: Mapping[int, str], shape: Naming) -> Iterator[GuessedLaunch]:
    """The launches of the text."""
    for grid, block, shared in launch_text.launches_as_sizes(name, places, shape.axes, source):
        yield GuessedLaunch(grid, block, shared)


def grows(launch: GuessedLaunch, shape: Naming) -> bool:
    """Whether the grid has a size in it."""
    return any(re.search(rf"\b{re.escape(axis)}\b", launch.grid) for axis in shape.axes)


def usual_launches(
    name: str, source: str, places: Mapping[int, str], shape: Naming, is_single: bool
) -> Iterator[GuessedLaunch]:
    """Grid, block and shared memory as such kernels are usually launched.

    Few blocks before many: a kernel that needs many leaves outputs unwritten with few, and one that needs few also
    runs with many. The block is any, if the text asks for its size; then what shared arrays hold, and what the text
    names.
    """
    code = blank_non_code(source)
    first = shape.axes[0]
    if re.search(r"\bthreadIdx\s*\.\s*y\b", code):
        yield from launches_of_squares(shape, block_sides(code))
        return
    sizes = launch_text.block_sizes(code)
    if asks := "blockDim" in code or not sizes:
        yield from launches_of_blocks("threads", THREADS, first, is_single, shape, code)
        if few := tuple(one for one in THREADS if one <= launch_text.shared_extent(code)):
            yield from launches_of_blocks("threads", few, first, is_single, shape, code)
    for size in dict.fromkeys([*sizes, *((launch_text.WARP,) if asks or is_of_warps(code) else ())]):
        yield from launches_of_blocks(str(size), THREADS, first, is_single, shape, code)


def is_of_warps(code: str) -> bool:
    """Whether the lanes of a warp exchange values."""
    return "__shfl" in code or "this_thread_block" in code


def launches_of_blocks(
    block: str, threads: tuple[int, ...], first: str, is_single: bool, shape: Naming, code: str
) -> Iterator[GuessedLaunch]:
    """The launches with blocks of one size: with few blocks or many, and with each usual dynamic shared memory."""
    warps = f"{block} / 32" if block == "threads" else str(max(1, int(block) // launch_text.WARP))
    last = shape.axes[-1]
    shares = list(dict.fromkeys([block, warps, "1"]))
    grids = [f"ceil_div({first}, {one})" if one != "1" else first for one in shares]
    if is_single:
        grids = ["1"]
    elif re.search(r"\bblockIdx\s*\.\s*y\b", code):  # columns, or groups of them, beside rows
        parts = [last, *(f"ceil_div({last}, {one})" for one in usual_groups_in(code))]
        grids = [f"{part if one == '1' else f'ceil_div({part}, {one})'}, {first}" for part in parts for one in shares]
    if len(shape.axes) > 1 and not is_single:  # an element a thread
        grids.append(f"ceil_div({' * '.join(shape.axes)}, {block})")
    shared = (f"4 * {block}", f"8 * {block}", f"4 * {last}", f"4 * {last} + 4 * {block}")
    for grid, memory in product(grids, shared if "extern __shared__" in code else ("0",)):
        yield GuessedLaunch(grid, block, memory, threads)


def launches_of_squares(shape: Naming, sides: Sequence[str]) -> Iterator[GuessedLaunch]:
    """The launches with blocks of two dimensions, each of which covers one of the sizes."""
    first, last = shape.axes[0], shape.axes[-1]
    pairs = [(first, last), *((one, other) for one in shape.axes for other in shape.axes if one != other)]
    for block, (rows, cols) in product(sides, dict.fromkeys(pairs)):
        wide, high = block.split(", ")
        yield GuessedLaunch(f"ceil_div({cols}, {wide}), ceil_div({rows}, {high})", block, "0")


def block_sides(code: str) -> list[str]:
    """The usual blocks of two dimensions, those of the text's named numbers first."""
    tiles = [value for value in launch_text.constants_of(code).values() if value in (4, 8, 16, 32)]
    return list(dict.fromkeys([*(f"{one}, {one}" for one in tiles), "32, 32", "16, 16", "32, 8", "8, 8"]))


def claim(
    op: str, axes: str, where: str, arrays: str, scalars: str, launch: GuessedLaunch, function: Function,
    literals: Mapping[str, str],
) -> str:  # fmt: skip
    """The claim in TOML. `literals`: the values of arguments that are known."""
    used = " ".join((launch.grid, launch.block, launch.shared, function.entry))
    threads = launch.threads
    if "{threads}" in function.entry and re.fullmatch(r"\d+", launch.block):
        threads = (int(launch.block),)
    tune = f"tune   = {{ threads = {list(threads)} }}\n" if "threads" in used else ""
    names = map(name_of, function.parameters)
    args = ", ".join(f'"{constant_of(op, one) or literals.get(one, one)}"' for one in names)
    return (
        f'op     = "{op}"\naxes   = {{ {axes} }}\n{tune}{where}arrays = {{ {arrays} }}\n{scalars}\n[[launch]]\n'
        f'entry  = "{function.entry}"\ngrid   = "{launch.grid}"\nblock  = "{launch.block}"\n'
        f'shared = "{launch.shared}"\nargs   = [{args}]'
    )


def name_of(parameter: Parameter) -> str:
    """The name of a parameter in its declaration."""
    words = re.findall(r"\w+", re.sub(r"\[.*", "", parameter.text))
    return words[-1] if words else ""


def is_added_to(name: str, source: str) -> bool:
    """Whether the text adds to an array atomically: then the host may have set it to zero before."""
    return re.search(rf"\batomicAdd\s*\(\s*&?\s*{name}\b", blank_non_code(source)) is not None


def is_const(parameter: Parameter) -> bool:
    return bool(re.match(r".*\bconst\b[^*]*\*", parameter.text))


SOURCES: tuple[FindLaunches, ...] = (written_launches, usual_launches, fixed_launches)
"""Where launches come from, the likeliest first."""


def written_grids(function: Function, source: str) -> Iterator[tuple[str, str]]:
    """Grid and block of the launches of a kernel that the text writes, whatever its op."""
    places = {place: name_of(one) for place, one in enumerate(function.parameters) if not one.is_pointer}
    for grid, block, _ in launch_text.launches_as_sizes(function.name, places, tuple(places.values()), source):
        yield grid, block
