"""Claims for a function that makes its own launches: it takes PyTorch tensors, or calls several kernels.

Its arrays are the op's in their order, an argument with the name of a size or a constant of the op is that, and any
other argument of a function of tensors has its most frequent value. Knows text and ops; trials must show that a guess
is right.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations, product

from kfuzz.claims.language.callables import rules_of_places
from kfuzz.claims.language.roles import Roles, roles_of
from kfuzz.claims.language.signature import Parameter, entries_of, host_functions_of
from kfuzz.common.text.cuda_text import blank_non_code
from kfuzz.measure.roundings.constants import constant_of
from kfuzz.measure.roundings.guess_kernel import (
    LIMITS,
    is_const,
    name_of,
    number_named,
    sizes_in,
    value_tables,
    where_of,
)
from kfuzz.measure.roundings.guess_narrow import NarrowGuess, narrow_guesses
from kfuzz.oracle.numbers.elements import I32, I64
from kfuzz.oracle.op.shapes import names_in

ROWS = 4096
"""Smaller than for a single kernel: the memory that the function allocates grows with them."""
BOUND = re.compile(r"\bm\.(?:def|impl)\s*\(\s*\"([^\"]*)\"\s*,\s*&?\s*(?:\w+::)*(\w+)")
NOT_FORWARD = re.compile(r"backward|grad|^main$", re.IGNORECASE)
DIMENSION = re.compile(r"dim|axis", re.IGNORECASE)
THREADS = re.compile(r"block(?:_?(?:size|dim))?|(?:num_?|n_?)?threads?(?:_?per_?block)?|tpb", re.IGNORECASE)
"""Common names of the threads in a block."""
DEFAULT = re.compile(r"\bpy\s*::\s*arg\s*\(\s*\"(\w+)\"\s*\)\s*=\s*((?:\([^()]*\)|[^,)])+)")
STREAM = re.compile(r"\b(?:cudaStream_t|CUstream)\b(?!\s*[*&])")
"""A stream that the caller chooses; kfuzz chooses the default one."""
LONGS = re.compile(r"\bdata_ptr\s*<\s*(?:u?int64_t|long(?:\s+long)?)\s*>|\bk(?:Long|Int64)\b")
"""Words that show that integer tensors have 64 bits, as torch's do by default."""
ADDS = re.compile(r"\batomicAdd\s*\(")
"""Shows that the caller may have to set outputs to zero before the call."""
RETURNED = "result_"
"""The prefix of the name of an array that a function of tensors returns."""
LEAST = re.compile(r"(\w+) >= (\d+)")
"""A rule that says how small a size may be."""
MOST_ORDERED = 4
"""So many sizes are tried in every order: 24 orders."""


@dataclass(frozen=True)
class HostPairing:
    """Arrays as (name, its text in the claim), and the arguments. `pinned`: sizes that no argument says, which the
    function may know: they are the least that the op takes.
    """

    arrays: list[tuple[str, str]]
    args: list[str]
    pinned: Mapping[str, int]


@dataclass(frozen=True)
class FunctionWords:
    """The user's options for a function: its name, its home shape, and the values of other arguments.

    `is_op_guessed`: its op is none of them, but what the names of the file suggest.
    """

    entry: str = ""
    home: tuple[int, ...] = ()
    arguments: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    only_home: bool = False
    is_op_guessed: bool = False


NOTHING = FunctionWords()
BY_NAMES = FunctionWords(is_op_guessed=True)


def host_claims(op: str, source: str, said: FunctionWords = NOTHING, *, of_one: bool = False) -> Iterator[str]:
    """Claims in TOML, the most likely first; none if users call the kernel itself.

    `of_one`: they may call a function that launches it, even if the file has no other kernel.
    """
    roles = replace(roles_of(op), whole=I64 if LONGS.search(source) else I32)
    functions, tables = host_functions_of(source), value_tables(op, source)
    bound = bound_in(source, functions)
    tensors = [name for name, parameters in functions.items() if any(map(is_tensor, parameters))]
    has_more = len(entries_of(source)) > (0 if of_one else 1)
    several = list(functions) if has_more and "<<<" in blank_non_code(source) else []
    every = [name for name in dict.fromkeys([*bound, *tensors, *several]) if not NOT_FORWARD.search(name)]
    every = every if not said.entry else [said.entry] if said.entry in functions else []
    usual = {name: (value.strip(),) for name, value in DEFAULT.findall(source) if "py::none" not in value}
    known = {**{name: value for name, value in usual.items() if not DIMENSION.fullmatch(name)}, **said.arguments}
    for name in every:
        alone = [name_of(one) for one in functions[name] if not is_tensor(one) and not one.is_pointer]
        guesses = list(narrow_guesses(roles, source, alone, said.arguments))
        fills = ("", " = 0") if ADDS.search(blank_non_code(source)) and name not in tensors else ("",)
        for pairing, guess, fill in product(orders(roles, functions[name], known), guesses, fills):
            yield from claim_texts(op, roles, name, pairing, said, guess, fill, tables, is_row=False)
            args = pairing.args
            if roles.takes_vector and "cols" in args and "rows" not in args and not roles.has_derived_dimensions:
                yield from claim_texts(op, roles, name, pairing, said, guess, fill, tables, is_row=True)


def entries_for(source: str) -> list[str]:
    """The functions of tensors that a module exports; all that take tensors if it names none."""
    functions = host_functions_of(source)
    bound = bound_in(source, functions)
    tensors = [name for name, parameters in functions.items() if any(map(is_tensor, parameters))]
    return [name for name in dict.fromkeys(bound or tensors) if not NOT_FORWARD.search(name)]


def bound_in(source: str, functions: Mapping[str, Sequence[Parameter]], exported: str = "") -> list[str]:
    """The functions that a module exports to Python; by this name, if one is given."""
    every = ((key.partition("(")[0], name) for key, name in BOUND.findall(source))
    return [name for key, name in every if name in functions and (not exported or key == exported)]


def takes(parameters: Sequence[Parameter], given: Sequence[str | None]) -> bool:
    """Whether a function takes tensors where there is None, and other arguments elsewhere."""
    return [is_tensor(one) for one in parameters] == [one is None for one in given]


def orders(
    roles: Roles, parameters: Sequence[Parameter], known: Mapping[str, tuple[str, ...]] = NOTHING.arguments
) -> Iterator[HostPairing]:
    """The possible arrays of each parameter: inputs before outputs, then the reverse; by const if it is used."""
    taken = [one for one in parameters if is_tensor(one) or one.is_pointer]
    ins, outs = list(roles.inputs), list(roles.outputs)
    tried = not any(map(is_tensor, taken))
    if len(taken) == len(ins) and any(map(is_tensor, taken)):
        every = [ins]
    elif len(taken) != len(ins) + len(outs):
        return
    elif len({is_const(one) for one in taken}) == 2 and not any(map(is_tensor, taken)):
        left, right = iter(ins), iter(outs)
        every = [[next(left if is_const(one) else right, "") for one in taken]]
    else:
        every = [[*ins, *outs], [*outs, *ins]]
    for order in every:
        given = dict(zip(map(name_of, taken), order, strict=True))
        returned = [] if len(order) > len(ins) else [(f"{RETURNED}{role}", role) for role in outs]
        for others in values_of([one for one in parameters if one not in taken], roles, known, tried):
            args = [name_of(one) if name_of(one) in given else others[name_of(one)] for one in parameters]
            if "" in args or "" in order or len(given) < len(taken):
                return
            pinned = pinned_sizes(roles, others) if tried else {}
            yield HostPairing([*given.items(), *returned], args, pinned)


def pinned_sizes(roles: Roles, values: Mapping[str, str]) -> dict[str, int]:
    """The sizes that are no argument's value and that have a least one by the op's rules, if any is a value."""
    least = {found[1]: int(found[2]) for rule in roles.rules if (found := LEAST.fullmatch(rule))}
    sizes = sizes_in(roles)
    is_asked = any(one in sizes for one in values.values())
    return {one: least[one] for one in sizes if is_asked and one not in values.values() and one in least}


def untold(op: str, source: str, said: FunctionWords) -> str:
    """Why there is no claim for the function that the user named, and which options to give."""
    roles, parameters = roles_of(op), host_functions_of(source)[said.entry]
    arrays = [one for one in parameters if is_tensor(one) or one.is_pointer]
    tried = not any(map(is_tensor, arrays))
    others = next(values_of([one for one in parameters if one not in arrays], roles, said.arguments, tried))
    unknown = ", ".join(name for name, value in others.items() if not value)
    if not unknown:
        count = "one array" if len(arrays) == 1 else f"{len(arrays)} arrays"
        return f"{said.entry}: it takes {count}; {roles}: write its claim"
    how = f"say --arg NAME=VALUE, or NAME=SIZE, of {', '.join(sizes_in(roles))}"
    return f"{said.entry}: the names do not say what {unknown} means: {how}"


def given_value(known: Mapping[str, tuple[str, ...]], name: str) -> str:
    """The value given for an argument; its own name if there are several."""
    values = known.get(name, ())
    return name if len(values) > 1 else values[0] if values else ""


def claim_texts(
    op: str, roles: Roles, name: str, pairing: HostPairing, said: FunctionWords,
    guess: NarrowGuess, fill: str, tables: Sequence[str], is_row: bool,
) -> Iterator[str]:  # fmt: skip
    """The claims of one function, for sizes from large to small; of a single row, or of rows.

    `fill`: what an output holds before the call, as a claim writes it. `tables`: the [values] to try.
    """
    every, sizes, args = {**roles.inputs, **roles.outputs}, sizes_in(roles), pairing.args
    if is_row:
        every = {role: tuple(size for size in shape if size != "rows") or ("1",) for role, shape in every.items()}
        sizes.remove("rows")
    listed = ", ".join(
        f'{array} = "{guess.element_of(roles, role)}[{guess.shape_of(roles, every[role])}]'
        f'{" ->" if role in roles.inputs else f"{fill} <-"} {role}"'
        for array, role in pairing.arrays
    )
    shown = ", ".join(one if re.fullmatch(r"-?\d+|true|false", one) else f'"{one}"' for one in args)
    home = {size: n for size, n in zip(sizes_in(roles), said.home, strict=False) if size in sizes}
    tuned = {one: values for one, values in said.arguments.items() if len(values) > 1 and one in args}
    tune = "".join(f"{one} = [{', '.join(values)}], " for one, values in tuned.items())
    tune = f"tune   = {{ {tune.removesuffix(', ')} }}\n" if tune else ""
    where = where_of([*(one for one in roles.rules if names_in(one) - roles.fixed.keys()), *rules_of_places(op)])
    written_for = f"\nhome  = {{ {', '.join(f'{size} = {n}' for size, n in home.items())} }}" if home else ""
    for values, longest in product(tables, dict.fromkeys(limit for limit, _ in LIMITS[1:])):
        most = {size: ROWS if size == "rows" and roles.takes_vector else min(longest, ROWS) for size in sizes}
        most = {size: max(most[size], home.get(size, 1)) for size in sizes}
        ranges = {size: guess.range_of(size, most[size]) for size in sizes}
        known = {**pairing.pinned, **roles.fixed}
        axes = ", ".join(f"{size} = {[n] if (n := known.get(size)) else one}" for size, one in ranges.items())
        if said.only_home:
            axes = ", ".join(f"{size} = [{n}]" for size, n in home.items())
        yield (
            f'op     = "{op}"\naxes   = {{ {axes} }}\n{where}{tune}arrays = {{ {listed} }}\n{guess.group.text}\n'
            f'[host]\nentry = "{name}"\nargs  = [{shown}]{written_for}{values}{guess.rounding}'
        )


def values_of(
    parameters: Sequence[Parameter], roles: Roles, known: Mapping[str, tuple[str, ...]], tried: bool
) -> Iterator[dict[str, str]]:
    """The values of each argument that is not an array, the most likely first; empty where one is unclear.

    If trials check the guess, it may guess more: the threads of a block, and sizes in any order if the names do not
    identify all of them, as in (N, C).
    """
    values = {name_of(one): value_for(one, roles, known) for one in parameters}
    numbers = [name for one in parameters if is_whole(one) and not values[name := name_of(one)]]
    threads = {name: "256" for name in numbers if tried and THREADS.fullmatch(name)}
    numbers, sizes = [name for name in numbers if name not in threads], sizes_in(roles)
    by_name = {name: next((size for size in sorted(sizes) if number_named(size, [name])), "") for name in numbers}
    is_clear = len({*by_name.values()} - {""}) == len(numbers) or len(numbers) > len(sizes)
    if not tried or is_clear or len(sizes) > MOST_ORDERED:
        by_order = dict(zip(numbers, sizes, strict=False)) if tried and len(numbers) == len(sizes) else {}
        yield {**values, **threads, **(by_name if is_clear or not by_order else by_order)}
        return
    every = [dict(zip(numbers, order, strict=True)) for order in permutations(sizes, len(numbers))]
    for order in sorted(every, key=lambda one: sum(one[name] != by_name[name] for name in numbers)):
        yield {**values, **threads, **order}


def value_for(parameter: Parameter, roles: Roles, known: Mapping[str, tuple[str, ...]]) -> str:
    """The value of an argument by its name: a constant of the op, one that is given, or one that its type implies."""
    name = name_of(parameter)
    return constant_of(roles.op, name) or given_value(known, name) or value_of(parameter, roles.axis)


def value_of(parameter: Parameter, axis: int) -> str:
    """The value of an argument that is not a size, if its name or its type implies one."""
    if "optional" in parameter.text:
        return "c10::nullopt"
    if STREAM.search(parameter.text):
        return "nullptr"
    if DIMENSION.fullmatch(name_of(parameter)):
        return str(axis)
    return "false" if re.match(r"(?:const\s+)?bool\b", parameter.text) else ""


def is_whole(parameter: Parameter) -> bool:
    return bool(parameter.bytes) and not parameter.is_float and not parameter.is_pointer


def is_tensor(parameter: Parameter) -> bool:
    """Whether it is a tensor without a default."""
    return "Tensor" in parameter.text and "optional" not in parameter.text
