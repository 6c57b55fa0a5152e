"""A report read back from its file: checked against its declared shape, field by field, before anything uses it.

Knows the report's types; never what a field means.
"""

import json
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints, is_typeddict

from kfuzz.cases.case import CaseError
from kfuzz.cases.case_reader import read_bytes
from kfuzz.views.document import SCHEMA, Document

MOST_BYTES = 256 << 20


def read(path: Path) -> Document:
    """The report in a file; CaseError, in one line, where it is none of ours or was cut short."""
    try:
        found = json.loads(read_bytes(path, MOST_BYTES))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise CaseError(f"{path}: no JSON: {error}") from None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise CaseError(f"{path}: no report of kfuzz fuzz --json: schema = {SCHEMA!r} is expected")
    add_later_fields(found)
    if wrong := misfit(found, Document, ""):
        raise CaseError(f"{path}: {wrong}")
    return cast(Document, found)


def add_later_fields(found: dict[str, Any]) -> None:
    """Fill in the fields that reports lack which were written before these fields existed."""
    kernels, unusable = found.get("kernels"), found.get("unusable")
    for kernel in kernels if isinstance(kernels, list) else ():
        findings = kernel.get("findings") if isinstance(kernel, dict) else None
        for finding in findings if isinstance(findings, list) else ():
            if isinstance(finding, dict) and "severity" in finding and "bucket" in finding:
                finding.setdefault("fault", finding["bucket"])
                finding.setdefault("title", "WARNING" if finding["severity"] == "warning" else "BROKEN")
    if isinstance(unusable, list):
        found.setdefault("unusable_files", list(map(str, unusable)))


def misfit(value: object, wanted: Any, key: str) -> str:  # noqa: ANN401  a type, of any form
    """What of a value is not of the declared type, with its place; empty where all of it is."""
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
    return f"{key} = {shown if len(shown) < 60 else shown[:57] + '...'}: not what a report holds there"
