"""Values of a reference's classes as those of a submission's classes of the same names: a file often repeats them.

`side is Side.LEFT` is false of the other file's Side. Knows enumerations, named tuples and dataclasses.
"""

import copy
import dataclasses
import enum
from types import ModuleType
from typing import Any

from kfuzz.devices import fields_of, inside, with_values


def in_own_classes(data: Any, theirs: ModuleType, own: ModuleType) -> Any:  # noqa: ANN401  whatever a call is handed
    """The same value, in which each of a class of one module is of another module's class that has the same fields."""
    kind = type(data)
    other = vars(own).get(kind.__name__) if kind.__module__ == theirs.__name__ and own is not theirs else None
    if isinstance(data, enum.Enum):
        is_known = isinstance(other, enum.EnumType) and data.name in other.__members__
        return other[data.name] if isinstance(other, enum.EnumType) and is_known else data
    held = inside(data)
    if held is None:
        return data
    made = {name: in_own_classes(one, theirs, own) for name, one in held.items()}
    if any(made[name] is not held[name] for name in held):
        data = with_values(data, made)
    if not isinstance(other, type) or not has_fields_of(other, data):
        return data
    if isinstance(data, tuple):
        return other(*data)
    data = copy.copy(data)
    object.__setattr__(data, "__class__", other)
    return data


def has_fields_of(other: type, data: object) -> bool:
    """Whether a class is one of the same kind as a value's, with the same fields."""
    fields = fields_of(data)
    if isinstance(data, tuple):
        return issubclass(other, tuple) and fields == getattr(other, "_fields", ())
    return dataclasses.is_dataclass(other) and fields == tuple(one.name for one in dataclasses.fields(other))
