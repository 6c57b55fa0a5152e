"""A case on disk: the format kfuzz-case/1, written atomically; equal cases give equal bytes.

Knows cases and recipes; never a kernel, a device or a verdict. case_reader checks what a file may say.
"""

import io
import json
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

import numpy as np

from kfuzz.cases import atomic, case_reader
from kfuzz.cases.case import Case, Record, Values, bits_in, element_in
from kfuzz.cases.recipe import GENERATOR, MAX_BANDS, Recipe
from kfuzz.common.text.json_lines import write_document
from kfuzz.devices.memory.vast import is_vast
from kfuzz.oracle.judging.find_op import is_op
from kfuzz.oracle.numbers.elements import F32


def write(path: Path, record: Record) -> None:
    """Write a record to `path`, and beside it the .npy files that it needs; each whole or not at all."""
    document, sidecars = encode(record)
    for name, content in sidecars.items():
        beside = path.parent / name
        if not beside.is_file() or beside.read_bytes() != content:
            atomic.write(beside, content)
    atomic.write(path, document)


def encode(record: Record) -> tuple[bytes, dict[str, bytes]]:
    """The bytes of the file, and of its sidecars by name; equal records give equal bytes."""
    sidecars: dict[str, bytes] = {}
    arrays = {}
    for role, array in record.case.arrays.items():
        entry: dict[str, object] = {"shape": list(array.shape), "show": record.case.show(role)[: case_reader.MAX_TEXT]}
        recipe = record.case.recipes.get(role)
        if element_in(array) is not F32:
            entry["element"] = element_in(array).name
        if is_vast(array):
            entry |= {"in_turns": case_reader.VAST_RULE}
        elif array.size <= case_reader.MAX_LITERAL:
            entry |= {"bits": write_bits(array)}
            entry["show"] = Case(record.case.op, {}, {role: array}).show(role)[: case_reader.MAX_TEXT]
        elif recipe is not None and len(recipe.bands) <= MAX_BANDS:
            entry |= {"recipe": _encode_recipe(recipe), "sha256": case_reader.sha256_of(array)}
        else:
            entry |= {"npy": f"{case_reader.sha256_of(array)}.npy"}
            sidecars[f"{case_reader.sha256_of(array)}.npy"] = _npy(array)
        arrays[role] = entry
    body: dict[str, object] = {"arrays": arrays, "axes": dict(record.case.axes), "op": record.case.op}
    if not is_op(record.case.op):
        body["dimensions"] = {role: list(names) for role, names in record.case.dimensions.items()}
    if record.origin is not None:
        plain = {"message": record.origin.message[: case_reader.MAX_TEXT], "tune": dict(record.origin.tune)}
        origin = {**asdict(record.origin), **plain}
        if record.origin.severity == "error":  # as in older files, which know no other severity
            del origin["severity"]
        body["origin"] = origin
    body = json.loads(json.dumps(body, sort_keys=True))
    return write_document({"schema": case_reader.SCHEMA, **body}).encode(), sidecars


def write_bits(array: Values) -> list[str]:
    """Every element's bits, two hex digits a byte; equal neighbours are one item, "3f800000 x12"."""
    digits = 2 * array.dtype.itemsize
    runs = ((bits, sum(1 for _ in equal)) for bits, equal in groupby(bits_in(array).ravel().tolist()))
    return [f"{bits:0{digits}x}{f' x{times}' if times > 1 else ''}" for bits, times in runs]


def _npy(array: Values) -> bytes:
    content = io.BytesIO()
    plain = array if element_in(array) is F32 else bits_in(array)
    np.lib.format.write_array(content, plain, version=(1, 0), allow_pickle=False)
    return content.getvalue()


def _encode_recipe(recipe: Recipe) -> dict[str, object]:
    is_first = recipe.generator == GENERATOR
    bands = [
        {
            "base": {
                "kind": band.base.kind,
                "offset": f"{band.base.offset:08x}",
                "scale": f"{band.base.scale:08x}",
                "seed": band.base.seed,
                **({} if is_first else {"grid": band.base.grid, "width": band.base.width}),
            },
            "edits": [{**edit._asdict(), "bits": f"{edit.bits:08x}"} for edit in band.edits],
        }
        for band in recipe.bands
    ]
    limits = None if recipe.limits is None else [f"{bits:08x}" for bits in recipe.limits]
    shape = {"cols": recipe.cols, "rows": recipe.rows}
    return {"bands": bands, "generator": recipe.generator, "limits": limits, **shape}


def read(path: Path) -> Record:
    """Read a case file; if it is wrong, raise a CaseError that names the file, the key and what is expected."""
    return decode(case_reader.read_bytes(path, case_reader.MAX_FILE_BYTES), path)


def decode(text: bytes, path: Path) -> Record:
    """The record in the bytes of a case file; `path` names it in errors, and its sidecars lie beside `path`."""
    reader = case_reader.Reader(path)
    return reader.record(reader.parse(text))
