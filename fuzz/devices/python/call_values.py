"""What a function is called with, and what it returns: values by the texts of a call, and the arrays of its answer.

Knows calls and returned arrays; it calls nothing.
"""

import ast
from collections.abc import Mapping, Sequence
from math import prod

from kfuzz.devices import Buffer, PythonCall, names_together, value_with
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
        if names_together(written):
            value = value_with(written, values)
        else:
            value = values[written] if written in values else ast.literal_eval(written)
        if is_named:
            named[keyword.strip()] = value
        else:
            args.append(value)
    return args, named


def results(returned: object, names: Sequence[str]) -> list[object]:
    """The returned values as a list; of a dict the values of these names, or else all values. None beside as many
    others as are wanted is an output that is not there.
    """
    if isinstance(returned, Mapping) and {*names} <= {*returned}:
        return [returned[name] for name in names]
    if isinstance(returned, Mapping | tuple | list):
        every = list(returned.values() if isinstance(returned, Mapping) else returned)
        there = [one for one in every if one is not None]
        return there if len(there) == len(names) else every
    return [] if returned is None else [returned]


def describe_misfit(name: str, answer: ReturnedArray, buffer: Buffer, may_be_wider: bool = False) -> str | None:
    """How a returned array differs from the claim, in words; None if it fits. Dimensions of 1 do not matter."""
    got, wanted = ([size for size in shape if size != 1] for shape in (answer.bits.shape, buffer.answer))
    is_empty = prod(answer.bits.shape) == 0 == prod(buffer.answer)
    is_of_type = answer.element == buffer.element.name or is_code(answer.element, buffer.element)
    is_of_type = is_of_type or (may_be_wider and is_wider(answer.element, buffer.element))
    if is_of_type and (got == wanted or is_empty):
        return None
    shapes = [f"[{', '.join(map(str, shape))}]" for shape in (answer.bits.shape, buffer.answer)]
    return f"{name} is returned as {answer.element}{shapes[0]}, not {buffer.element}{shapes[1]}"


def is_code(returned: str, element: Element) -> bool:
    """Whether bytes are returned for a narrow type: as its codes, since few libraries have all types."""
    return returned == U8.name and element.is_narrow and not element.is_native


def is_wider(returned: str, element: Element) -> bool:
    """Whether doubles are returned for float32: rounded to it, they are as right as they were."""
    return returned == F64.name and element == F32
