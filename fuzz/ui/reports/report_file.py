"""Reads a report from its file and checks each field against its declared type before anything uses it.

Knows the report's types; it does not know what a field means.
"""

import json
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints, is_typeddict

from kfuzz.cases.case_reader import read_bytes
from kfuzz.cases.errors import CaseError
from kfuzz.ui.reports.document import SCHEMA, Document

MOST_BYTES = 256 << 20


def read(path: Path) -> Document:
    """Read the report in a file. Raises CaseError, in one line, if it is not a report or was cut short."""
    try:
        found = json.loads(read_bytes(path, MOST_BYTES))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise CaseError(f"{path}: not JSON: {error}") from None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise CaseError(f"{path}: not a report that kfuzz --json wrote: expected schema = {SCHEMA!r}")
    if wrong := misfit(found, Document, ""):
        raise CaseError(f"{path}: {wrong}")
    return cast(Document, found)


def misfit(value: object, wanted: Any, key: str) -> str:  # noqa: ANN401  a type, of any form
    """The first part of a value that does not have the declared type, with its place; empty if all of it has."""
    origin, inner = get_origin(wanted), get_args(wanted)
    if is_typeddict(wanted):
        return _misfit_of_table(value, wanted, key)
    if origin in (Union, UnionType):
        return "" if any(not misfit(value, one, key) for one in inner) else _mismatch(key, value)
    if origin is Literal:
        return "" if value in inner else _mismatch(key, value)
    if origin is list and isinstance(value, list):
        return _first(misfit(one, inner[0], f"{key}[{at}]") for at, one in enumerate(value))
    if origin is dict and isinstance(value, dict):
        return _first(misfit(one, inner[1], f"{key}.{name}") for name, one in value.items())
    if wanted is None or wanted is NoneType:
        return "" if value is None else _mismatch(key, value)
    if wanted is float and type(value) is int:
        return ""
    return "" if type(value) is wanted else _mismatch(key, value)


def _misfit_of_table(value: object, wanted: Any, key: str) -> str:  # noqa: ANN401
    if not isinstance(value, dict):
        return _mismatch(key, value)
    hints = get_type_hints(wanted)
    missing = sorted(hints.keys() - value.keys())
    if missing:
        return f"{_under(key, missing[0])}: missing; was the file cut short, or written by another version?"
    return _first(misfit(value[name], hint, _under(key, name)) for name, hint in hints.items())


def _first(wrongs: Any) -> str:  # noqa: ANN401
    return next(filter(None, wrongs), "")


def _under(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name


def _mismatch(key: str, value: object) -> str:
    shown = repr(value)
    return f"{key} = {shown if len(shown) < 60 else shown[:57] + '...'}: a report has another type of value there"
