"""Values of a reference's classes as those of a submission's classes of the same names: a file often repeats them.

`side is Side.LEFT` is false of the other file's Side. Where the submission has no such class, a value gets a class that
holds the same, if the reference's has no code of its own. Knows enumerations, named tuples, dataclasses and classes
that only hold values.
"""

import copy
import dataclasses
import enum
import functools
import operator
from collections import namedtuple
from collections.abc import Mapping
from types import FunctionType, ModuleType
from typing import Any, Literal

from kfuzz.devices import UnsupportedError, fields_of, inside, with_values

SET_UP = ("__init__", "__post_init__", "__new__")
"""Functions that have run when an object is there."""
MODULE = "__main__"
"""That of a class that is made: it says nothing of kfuzz."""


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
    if not isinstance(other, type) or not has_fields(other, isinstance(data, tuple), fields_of(data)):
        return data
    if isinstance(data, tuple):
        return other(*data)
    data = copy.copy(data)
    object.__setattr__(data, "__class__", other)
    return data


def has_fields(other: type, is_tuple: bool, fields: tuple[str, ...]) -> bool:
    """Whether a class is a named tuple, or a dataclass, with these fields."""
    if is_tuple:
        return issubclass(other, tuple) and fields == getattr(other, "_fields", ())
    return dataclasses.is_dataclass(other) and fields == tuple(one.name for one in dataclasses.fields(other))


@dataclasses.dataclass(frozen=True)
class ClassInFile:
    """A class of a reference's file, of whose values another process can have the like.

    `bases` and `members`: those of an enumeration. `has_code`: it has functions of its own, which stay in that file, or
    of a class elsewhere; the fields of a plain class are the names of these, and its bases those classes.
    """

    sort: Literal["enum", "tuple", "dataclass", "plain"]
    name: str
    fields: tuple[str, ...] = ()
    bases: tuple[type, ...] = ()
    members: tuple[tuple[str, object], ...] = ()
    has_code: bool = False
    is_frozen: bool = False


def describe_value(value: Any, theirs: ModuleType) -> tuple[ClassInFile, dict[str, Any]] | None:  # noqa: ANN401
    """The class of a value and what the value holds, if its class in that module is of a known kind; else None."""
    of = type(value)
    fields, has_code = fields_of(value), has_own_code(of, theirs)
    if isinstance(value, enum.Enum):
        members = tuple((name, one.value) for name, one in of.__members__.items())
        made = ClassInFile("enum", of.__name__, (), of.__bases__, members, has_code)
        return made, {"name": value.name, "value": value.value}
    if fields and isinstance(value, tuple):
        return ClassInFile("tuple", of.__name__, fields, has_code=has_code), dict(zip(fields, value, strict=True))
    held = {**constants_of(of), **{name: getattr(value, name) for name in fields}, **getattr(value, "__dict__", {})}
    if dataclasses.is_dataclass(of):
        is_frozen = bool(of.__dataclass_params__.frozen)  # type: ignore[attr-defined]  # each dataclass has them
        return ClassInFile("dataclass", of.__name__, fields, has_code=has_code, is_frozen=is_frozen), held
    if not has_code and of.__bases__ == (object,):
        return ClassInFile("plain", of.__name__), held
    if not holds_attributes_alone(value):
        return None
    return ClassInFile("plain", of.__name__, names_of_code(of), bases_elsewhere(of), has_code=True), vars(value)


def own_value(of: ClassInFile, held: Mapping[str, Any], own: Mapping[str, object]) -> Any:  # noqa: ANN401  of any class
    """Such a value, of the class among these names that has the same fields, or of one that is made for it."""
    other = own.get(of.name)
    if of.sort == "enum":
        names = str(held["name"]).split("|")  # of flags
        if isinstance(other, enum.EnumType) and other.__members__.keys() >= {*names}:
            return functools.reduce(operator.or_, (other[name] for name in names))
        return class_like(of)(held["value"])
    kind: Any = other if isinstance(other, type) and is_like(other, of) else class_like(of)
    if of.sort == "tuple":
        return kind(*held.values())
    made = object.__new__(kind)
    for name, one in held.items():
        object.__setattr__(made, name, one)  # it may be frozen
    return made


def is_like(other: type, of: ClassInFile) -> bool:
    """Whether a class may stand for a named tuple, a dataclass, or a class with functions of another file."""
    if of.sort == "plain":
        return of.has_code and (names_of_code(other), bases_elsewhere(other)) == (of.fields, of.bases)
    return has_fields(other, of.sort == "tuple", of.fields)


def names_of_code(of: type) -> tuple[str, ...]:
    """The names of what a class, and those of its file above it, have of functions."""
    every = [vars(each) for each in of.__mro__ if each.__module__ == of.__module__]
    return tuple(sorted({name for one in every for name, value in one.items() if is_code(value)}))


def is_code(one: object) -> bool:
    return isinstance(one, FunctionType | property | staticmethod | classmethod | functools.cached_property)


def bases_elsewhere(of: type) -> tuple[type, ...]:
    """The classes above one that are not of its file."""
    return tuple(each for each in of.__mro__ if each.__module__ != of.__module__)


def holds_attributes_alone(value: object) -> bool:
    """Whether an object is what its attributes are, as pickle takes it: no dict of its own, and no other state."""
    try:
        _, given, state, *rest = tuple[Any, ...](value.__reduce_ex__(2))
        return given == (type(value),) and state in (None, vars(value)) and not any(rest)
    except Exception:  # of a class's own code, or of what cannot be written down
        return False


def class_like(of: ClassInFile) -> Any:  # noqa: ANN401  a class
    """A class that holds the same as one of a reference's file; UnsupportedError if that has functions."""
    if of.has_code:
        raise UnsupportedError(
            f"get_inputs makes a {of.name}, a class with functions of its own: write this class in the answer, too"
        )
    return _class_like(repr(of), of)


@functools.lru_cache(maxsize=64)
def _class_like(_: str, of: ClassInFile) -> Any:  # noqa: ANN401  a class
    made = _made_class(of)
    made.__module__ = MODULE
    return made


def _made_class(of: ClassInFile) -> Any:  # noqa: ANN401  a class
    if of.sort == "enum":
        *mixed, base = of.bases
        make: Any = base
        return make(of.name, dict(of.members), **({"type": mixed[0]} if mixed else {}))
    if of.sort == "tuple":
        return namedtuple(of.name, of.fields)
    if of.sort == "dataclass":
        return dataclasses.make_dataclass(of.name, of.fields, frozen=of.is_frozen)
    return type(of.name, (), {})


def has_own_code(of: type, theirs: ModuleType) -> bool:
    """Whether a class has functions that the file says, beside those that set its objects up."""
    every = [pair for each in of.__mro__ if each.__module__ == theirs.__name__ for pair in vars(each).items()]
    return any(
        isinstance(one, property | functools.cached_property)
        or (isinstance(inner := getattr(one, "__func__", one), FunctionType)
            and name not in SET_UP and inner.__code__.co_filename == theirs.__file__)
        for name, one in every
    )  # fmt: skip


def constants_of(of: type) -> dict[str, Any]:
    """The values that a class has beside its functions."""
    return {
        name: one
        for each in reversed(of.__mro__[:-1])
        for name, one in vars(each).items()
        if not name.startswith("_") and not callable(one) and not hasattr(one, "__get__")
    }
