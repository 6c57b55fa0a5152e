"""What a function is called with, and what it returns: values by the texts of a call, and the arrays of its answer.

Knows calls and returned arrays; it calls nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from kfuzz.devices import Buffer, PythonCall, as_identifier, inside, value_with
from kfuzz.devices.python.lending import ReturnedArray
from kfuzz.oracle.numbers.elements import F32, F64, U8, Element


def arguments(call: PythonCall, values: Mapping[str, object]) -> tuple[list[object], dict[str, object]]:
    """The arguments by position, and those by name."""
    args: list[object] = []
    named: dict[str, object] = {}
    for text in call.arguments:
        keyword, equals, rest = text.partition("=")
        is_named = bool(equals) and keyword.strip().isidentifier()
        written = rest.strip() if is_named else text.strip()
        value = values[written] if written in values else value_with(written, values)
        if is_named:
            named[keyword.strip()] = value
        else:
            args.append(value)
    return args, named


def results(returned: object, names: Sequence[str]) -> list[object]:
    """The returned values as a list; of a dict the values of these names, or else what all containers hold. None beside
    as many others as are wanted is an output that is not there.
    """
    if isinstance(returned, Mapping):
        named = {as_identifier(str(key), "y"): one for key, one in returned.items()}
        if {*names} <= {*named}:
            return [named[name] for name in names]
    every = list(values_inside(returned))
    there = [one for one in every if one is not None]
    return there if len(there) == len(names) or returned is None else every


def values_inside(returned: object) -> Iterator[object]:
    """The values in nested containers, in their order."""
    held = inside(returned)
    if held is None:
        yield returned
    for one in (held or {}).values():
        yield from values_inside(one)


def number_as_array(value: object, buffer: Buffer) -> NDArray[np.generic] | None:
    """A number of Python or numpy as an output of one element; None for any other value, and for a fraction among
    integers.
    """
    value = value.item() if isinstance(value, np.generic) else value
    wanted = (bool, int, float) if buffer.element.is_float else (bool, int)
    if type(value) not in wanted or prod(buffer.answer) != 1 or not buffer.element.is_native:
        return None
    with np.errstate(over="ignore"):
        return np.full(buffer.answer, value, buffer.element.dtype)


def describe_misfit(
    name: str, answer: ReturnedArray, buffer: Buffer, may_be_wider: bool = False, exact: tuple[int, ...] | None = None
) -> str | None:
    """How a returned array differs from the claim, in words; None if it fits. Dimensions of 1 do not matter but for an
    `exact` shape, which is that of the claim or, of a number, none.
    """
    shape = buffer.answer if exact is None else exact
    got, wanted = ([size for size in one if exact is not None or size != 1] for one in (answer.bits.shape, shape))
    is_empty = exact is None and prod(answer.bits.shape) == 0 == prod(buffer.answer)
    is_of_type = answer.element == buffer.element.name or is_code(answer.element, buffer.element)
    is_of_type = is_of_type or (may_be_wider and is_wider(answer.element, buffer.element))
    if is_of_type and (got == wanted or is_empty):
        return None
    shapes = [f"[{', '.join(map(str, one))}]" for one in (answer.bits.shape, shape)]
    return f"{name} is returned as {answer.element}{shapes[0]}, not {buffer.element}{shapes[1]}"


def is_code(returned: str, element: Element) -> bool:
    """Whether bytes are returned for a narrow type: as its codes, since few libraries have all types."""
    return returned == U8.name and element.is_narrow and not element.is_native


def is_wider(returned: str, element: Element) -> bool:
    """Whether doubles are returned for float32: rounded to it, they are as right as they were."""
    return returned == F64.name and element == F32
