"""Makes a record of the report from objects, as the annotations of the record say.

Knows the types of a document; it does not know what a field means.
"""

from collections.abc import Callable, Mapping
from functools import cache
from math import isfinite
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints, is_typeddict

from kfuzz.common.printable import shown_path
from kfuzz.ui.reports.document import From

T = TypeVar("T")
N = TypeVar("N", float, float | None)


def make_record(shape: Callable[..., T], *sources: object) -> T:
    """A record of this shape. A field is the attribute of its name, or of its From, of the first source that has it.

    The fields of a record inside it are those of its value, else of the same sources.
    """
    return cast(T, {name: as_json(hint, _find(shape, name, hint, sources), sources) for name, hint in _fields(shape)})


def as_json(wanted: Any, value: Any, sources: tuple[object, ...] = ()) -> Any:  # noqa: ANN401  a type, and its value
    """A value as JSON has it, by the type that a record declares for it."""
    origin, inner = get_origin(wanted), get_args(wanted)
    if value is None:
        return None
    if origin is Annotated:
        return as_json(inner[0], value, sources)
    if origin in (Union, UnionType):
        own = [one for one in inner if one is not NoneType]
        return as_json(own[0], value, sources) if len(own) == 1 else json_number(value)
    if is_typeddict(wanted):
        return make_record(wanted, value, *sources)
    if origin is list:
        return [as_json(inner[0], one, sources) for one in value]
    if origin is dict:
        return {name: as_json(inner[1], one, sources) for name, one in value.items()}
    if wanted is str:
        return shown_path(value) if isinstance(value, Path) else str(value)
    return value


def json_number(value: N) -> N | str:
    """A number for JSON, which has none for NaN and infinities: those are text."""
    return str(value) if value is not None and not isfinite(value) else value


@cache
def _hints(shape: Callable[..., object]) -> Mapping[str, Any]:
    return get_type_hints(shape, include_extras=True)


def _fields(shape: Callable[..., object]) -> list[tuple[str, Any]]:
    return list(_hints(shape).items())


def _find(shape: Callable[..., object], name: str, hint: Any, sources: tuple[object, ...]) -> object:  # noqa: ANN401
    marks = hint.__metadata__ if get_origin(hint) is Annotated else ()
    attribute = next((mark.attribute for mark in marks if isinstance(mark, From)), name)
    for source in sources:
        if hasattr(source, attribute):
            return getattr(source, attribute)
    raise AttributeError(f"{getattr(shape, '__name__', shape)}: nothing that it is made from has {attribute}")
