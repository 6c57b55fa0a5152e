"""What a case file may say: each key, its type and its bounds, checked before anything is made from it.

A file is untrusted data. Nothing in it is executed, nothing outside its folder is read, and at most MAX_ELEMENTS
values are ever made from it. Knows how to read kfuzz-case/1; never how to write it.
The module is long, since every key has its own bounds and all of them belong in one place.
"""

import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import fields
from math import prod
from pathlib import Path
from typing import NoReturn

import numpy as np

from kfuzz.cases.case import Origin, Record, Values, bits_in, bytes_of, case_of
from kfuzz.cases.errors import CaseError
from kfuzz.cases.recipe import (
    FIRST_KINDS,
    GENERATOR,
    KINDS,
    MAX_BANDS,
    MAX_EDITS,
    MAX_SEED,
    NARROW_GENERATOR,
    Band,
    Base,
    Edit,
    Recipe,
)
from kfuzz.claims.language.axes import MAX_ELEMENTS
from kfuzz.claims.language.reference import BY_REFERENCE
from kfuzz.claims.language.roles import Dimensions
from kfuzz.common.printable import one_line
from kfuzz.devices.limits import INT_MAX
from kfuzz.devices.memory.vast import LEAST, make_unfilled
from kfuzz.oracle.judging.find_op import is_op
from kfuzz.oracle.numbers.elements import ELEMENTS, F32, Element

SCHEMA = "kfuzz-case/1"
VAST_RULE, EARLIER_VAST_RULE = "kfuzz-turns/2", "kfuzz-turns/1"
"""The rule that gives the rows of a vast array; another rule gets another name. The earlier one, in which all patterns
began with 1, is read as this one."""
MAX_LITERAL = 4096
"""Most elements of an array that are written out; a larger array needs a recipe or a sidecar."""
MAX_FILE_BYTES = 16 << 20
MAX_HEADER_BYTES = 4096
MAX_TEXT = 4000

MOST_DIMENSIONS = 8
OWN_OP = re.compile(r"[^/\\\x00]{1,100}\.py|" + re.escape(BY_REFERENCE) + r"[^/\\\x00]{1,100}")
"""The name of a formula's file, or of a kernel's file with a reference. It is not a path: kfuzz never looks it up."""
DIMENSION = re.compile(r"[A-Za-z_]\w{0,63}|\d{1,9}|[\w (][\w +*/%(),-]{0,199}")
"""A name, a number, or an expression over names, which kfuzz compares and never evaluates."""

HEX32 = re.compile(r"[0-9a-f]{8}")
HEX8 = re.compile(r"[0-9a-f]{2}")
RUN = re.compile(r"([0-9a-f]+) x([1-9]\d{0,3})")
HEX256 = re.compile(r"[0-9a-f]{64}")


def sha256_of(array: Values) -> str:
    """The hash that checks recipes and names sidecars."""
    return hashlib.sha256(bytes_of(array)).hexdigest()


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def read_bytes(path: Path, most: int, follow: bool = True) -> bytes:
    """The content of a regular file of at most `most` bytes."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        handle = os.open(path, flags)
    except (OSError, ValueError) as error:
        raise CaseError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise CaseError(f"{path}: not a regular file; a case file is expected")
        if status.st_size > most:
            raise CaseError(f"{path}: {status.st_size} bytes; at most {most} are read")
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(handle)


def is_npy_header(header: bytes, shape: tuple[int, ...], element: Element) -> bool:
    """Whether this is the header of an .npy file of this shape; compared as text, since numpy's reader evaluates it."""
    descr = "<f4" if element is F32 else "|u1"
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape!r}, }}".encode()
    length = len(header) - 10
    magic = b"\x93NUMPY\x01\x00" + max(length, 0).to_bytes(2, "little")
    return length < 1 << 16 and header[:10] == magic and header[10:].rstrip(b" \n") == text


class Reader:
    """Checks one document; every error names the file and the key."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def fail(self, key: str, problem: str) -> NoReturn:
        where = one_line(f"{self.path}: {key[:200]}" if key else f"{self.path}")
        raise CaseError(f"{where}: {one_line(problem)[:600]}")

    def parse(self, text: bytes) -> dict[str, object]:
        if len(text) > MAX_FILE_BYTES:
            self.fail("", f"{len(text)} bytes; at most {MAX_FILE_BYTES} are read")

        def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
            table = dict(pairs)
            if len(table) < len(pairs):
                raise ValueError("a key occurs twice")
            return table

        def constant(name: str) -> NoReturn:
            raise ValueError(f"{name} is not JSON")

        try:
            document = json.loads(text.decode(), object_pairs_hook=unique, parse_constant=constant)
        except (ValueError, RecursionError) as error:
            reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            self.fail("", f"not JSON (truncated?): {reason}")
        return self.table("", document)

    def record(self, document: dict[str, object]) -> Record:
        schema = document.get("schema")
        if schema != SCHEMA:
            self.fail("schema", f"{_brief(schema)}; this version reads {SCHEMA!r}")
        self.keys("", document, {"schema", "arrays", "axes", "op"}, {"origin", "dimensions"})
        op = self.text("op", document["op"])
        dimensions = None
        if not is_op(op):  # a case is data: the claim of a kernel says what such an op computes
            if not OWN_OP.fullmatch(op):
                self.fail(
                    "op", f"{_brief(op)}: unknown; an op of the oracle is expected, or a formula's file by its name"
                )
            dimensions = self.dimensions(document.get("dimensions"), self.table("arrays", document["arrays"]))
        entries = self.table("arrays", document["arrays"])
        shapes = {role: self.shape(f"arrays.{role}", entry) for role, entry in entries.items()}
        total = sum(prod(shape) for role, shape in shapes.items() if "in_turns" not in self.table("", entries[role]))
        if total > MAX_ELEMENTS:
            self.fail("arrays", f"{total} elements in all; at most {MAX_ELEMENTS} are read")
        arrays = {role: self.array(f"arrays.{role}", entry, shapes[role]) for role, entry in entries.items()}
        try:
            case = case_of(op, arrays, dimensions)
        except CaseError as error:
            self.fail("", str(error))
        axes = self.table("axes", document["axes"])
        if axes != dict(case.axes):
            self.fail("axes", f"{_brief(axes)}; the shapes of the arrays give {dict(case.axes)}")
        return Record(case, self.origin(document["origin"]) if "origin" in document else None)

    def table(self, key: str, value: object) -> dict[str, object]:
        if not isinstance(value, dict):
            self.fail(key, f"{_brief(value)}; an object is expected")
        return value

    def keys(self, key: str, table: dict[str, object], needed: set[str], allowed: set[str]) -> None:
        for name in sorted(needed - table.keys()):
            self.fail(key, f"'{name}' is missing")
        for name in sorted(table.keys() - needed - allowed):
            self.fail(key, f"{_brief(name)}: unknown key; expected are {', '.join(sorted(needed | allowed))}")

    def items(self, key: str, value: object, most: int) -> list[object]:
        if not isinstance(value, list) or len(value) > most:
            self.fail(key, f"{_brief(value)}; a list of at most {most} items is expected")
        return value

    def text(self, key: str, value: object) -> str:
        if not isinstance(value, str) or len(value) > MAX_TEXT:
            self.fail(key, f"{_brief(value)}; a text of at most {MAX_TEXT} characters is expected")
        return value

    def integer(self, key: str, value: object, lo: int, hi: int) -> int:
        if type(value) is not int or not lo <= value <= hi:
            self.fail(key, f"{_brief(value)}; an integer from {lo} to {hi} is expected")
        return value

    def boolean(self, key: str, value: object) -> bool:
        if not isinstance(value, bool):
            self.fail(key, f"{_brief(value)}; true or false is expected")
        return value

    def bits(self, key: str, value: object) -> int:
        if not isinstance(value, str) or not HEX32.fullmatch(value):
            self.fail(key, f'{_brief(value)}; the 8 hex digits of a float32 are expected, such as "3f800000"')
        return int(value, 16)

    def code(self, key: str, value: object, element: Element) -> int:
        """The bits of one element of a narrow type."""
        last = (1 << element.bits) - 1
        if not isinstance(value, str) or not HEX8.fullmatch(value) or int(value, 16) > last:
            self.fail(
                key, f'{_brief(value)}; the 2 hex digits of a code of {element} are expected, at most "{last:02x}"'
            )
        return int(value, 16)

    def element(self, key: str, entry: dict[str, object]) -> Element:
        """The element type of an array: float32 unless the file names a narrow one."""
        name = entry.get("element", F32.name)
        narrow = [one.name for one in ELEMENTS.values() if one.is_narrow]
        if name not in (F32.name, *narrow):
            self.fail(f"{key}.element", f"{_brief(name)}; one of {', '.join(narrow)} is expected")
        return ELEMENTS[str(name)]

    def sha256(self, key: str, value: object) -> str:
        if not isinstance(value, str) or not HEX256.fullmatch(value):
            self.fail(key, f"{_brief(value)}; the 64 hex digits of a sha256 are expected")
        return value

    def dimensions(self, value: object, arrays: Mapping[str, object]) -> dict[str, Dimensions]:
        """The names of each array's dimensions."""
        table = self.table("dimensions", value)
        self.keys("dimensions", table, set(arrays), set())
        dimensions: dict[str, Dimensions] = {}
        for role, names in table.items():
            key = f"dimensions.{role}"
            dimensions[role] = tuple(self.text(key, name) for name in self.items(key, names, MOST_DIMENSIONS))
            for name in dimensions[role]:
                if not DIMENSION.fullmatch(name):
                    self.fail(
                        key, f"{_brief(name)}; a name, a number of at most nine digits, or an expression is expected"
                    )
        return dimensions

    def shape(self, key: str, value: object) -> tuple[int, ...]:
        entry = self.table(key, value)
        if "shape" not in entry:
            self.fail(key, "'shape' is missing")
        sizes = self.items(f"{key}.shape", entry["shape"], MOST_DIMENSIONS)
        return tuple(self.integer(f"{key}.shape", size, 0, MAX_ELEMENTS) for size in sizes)

    def array(self, key: str, value: object, shape: tuple[int, ...]) -> Values | Recipe:
        entry = self.table(key, value)
        forms: dict[str, Callable[[str, dict[str, object], tuple[int, ...]], Values | Recipe]] = {
            "bits": self.literal, "recipe": self.recipe, "npy": self.sidecar, "in_turns": self.vast,
        }  # fmt: skip
        given = sorted(forms.keys() & entry.keys())
        if len(given) != 1:
            names = " and ".join(given) or "none"
            self.fail(key, f"{names} given; exactly one of bits, recipe, npy and in_turns is expected")
        known = {"shape", given[0], *(("sha256",) if given[0] == "recipe" else ())}
        self.keys(key, entry, known, {"show", *(("element",) if given[0] != "in_turns" else ())})
        return forms[given[0]](key, entry, shape)

    def vast(self, key: str, entry: dict[str, object], shape: tuple[int, ...]) -> Values:
        """A vast array."""
        if entry["in_turns"] not in (VAST_RULE, EARLIER_VAST_RULE) or prod(shape) < LEAST:
            self.fail(f"{key}.in_turns", f"'{VAST_RULE}' is expected, and a shape of at least {LEAST} elements")
        return make_unfilled(shape)

    def literal(self, key: str, entry: dict[str, object], shape: tuple[int, ...]) -> Values:
        items, element = self.items(f"{key}.bits", entry["bits"], MAX_LITERAL), self.element(key, entry)
        runs = [self.run(f"{key}.bits[{index}]", item, element) for index, item in enumerate(items)]
        count, wanted = sum(times for _, times in runs), prod(shape)
        if count != wanted or count > MAX_LITERAL:
            self.fail(f"{key}.bits", f"{count} values, at most {MAX_LITERAL}; shape {list(shape)} has {wanted}")
        each = np.array([bits for bits, _ in runs], np.uint32 if element is F32 else np.uint8)
        return each.repeat([times for _, times in runs]).view(element.dtype).reshape(shape)

    def run(self, key: str, value: object, element: Element) -> tuple[int, int]:
        """The bits of equal neighbours, and how many there are: "3f800000" is one, "3f800000 x12" are twelve."""
        run = RUN.fullmatch(value) if isinstance(value, str) else None
        word, times = (run[1], int(run[2])) if run else (value, 1)
        return self.bits(key, word) if element is F32 else self.code(key, word, element), times

    def recipe(self, key: str, entry: dict[str, object], shape: tuple[int, ...]) -> Recipe:
        where = f"{key}.recipe"
        table = self.table(where, entry["recipe"])
        known, generator = (GENERATOR, NARROW_GENERATOR), table.get("generator")
        if generator not in known:
            self.fail(f"{where}.generator", f"{_brief(generator)}; this version reads {' and '.join(known)}")
        is_first = generator == GENERATOR
        self.keys(where, table, {"bands", "cols", "generator", "limits", "rows"}, set())
        rows = self.integer(f"{where}.rows", table["rows"], 0, MAX_ELEMENTS)
        cols = self.integer(f"{where}.cols", table["cols"], 0, MAX_ELEMENTS)
        if rows * cols != prod(shape):
            self.fail(where, f"{rows} x {cols} values; shape {list(shape)} has {prod(shape)}")
        items = self.items(f"{where}.bands", table["bands"], MAX_BANDS)
        bands = tuple(self.band(f"{where}.bands[{index}]", item, is_first) for index, item in enumerate(items))
        if not bands:
            self.fail(f"{where}.bands", "empty; at least one band is expected")
        limits = None
        if table["limits"] is not None:
            pair = self.items(f"{where}.limits", table["limits"], 2)
            if len(pair) != 2:
                self.fail(f"{where}.limits", f"{_brief(pair)}; null or two bit patterns are expected")
            limits = (self.bits(f"{where}.limits", pair[0]), self.bits(f"{where}.limits", pair[1]))
        recipe = Recipe(rows, cols, bands, limits, self.element(key, entry).name)
        if recipe.generator != generator:
            self.fail(f"{where}.generator", f"{_brief(generator)}; this recipe is of {recipe.generator!r}")
        wanted, actual = self.sha256(f"{key}.sha256", entry["sha256"]), sha256_of(recipe.values)
        if actual != wanted:
            self.fail(f"{key}.sha256", f"{wanted[:16]}... expected, the recipe gives {actual[:16]}...: damaged file?")
        return recipe

    def band(self, key: str, value: object, is_first: bool) -> Band:
        table = self.table(key, value)
        self.keys(key, table, {"base", "edits"}, set())
        base = self.table(f"{key}.base", table["base"])
        self.keys(f"{key}.base", base, set(Base._fields) - ({"grid", "width"} if is_first else set()), set())
        kinds = FIRST_KINDS if is_first else KINDS
        kind = next((kind for kind in kinds if kind == base["kind"]), None)
        if kind is None:
            self.fail(f"{key}.base.kind", f"{_brief(base['kind'])}; one of {', '.join(kinds)} is expected")
        edits = self.items(f"{key}.edits", table["edits"], MAX_EDITS)
        return Band(
            Base(
                kind,
                self.bits(f"{key}.base.offset", base["offset"]),
                self.bits(f"{key}.base.scale", base["scale"]),
                self.integer(f"{key}.base.seed", base["seed"], 0, MAX_SEED),
                self.grid(f"{key}.base.grid", base.get("grid", ""), kind),
                self.integer(f"{key}.base.width", base.get("width", 0), 0, MAX_ELEMENTS),
            ),
            tuple(self.edit(f"{key}.edits[{index}]", edit) for index, edit in enumerate(edits)),
        )

    def grid(self, key: str, value: object, kind: str) -> str:
        """The type whose numbers and ties a row has; empty for other kinds."""
        known = [one.name for one in ELEMENTS.values() if one.is_narrow] if kind == "ties" else [""]
        if value not in known:
            self.fail(key, f"{_brief(value)}; one of {', '.join(map(repr, known))} is expected")
        return str(value)

    def edit(self, key: str, value: object) -> Edit:
        table = self.table(key, value)
        self.keys(key, table, set(Edit._fields), set())
        op = table["op"]
        if op not in ("set", "add"):
            self.fail(f"{key}.op", f'{_brief(op)}; "set" or "add" is expected')
        first = self.integer(f"{key}.first", table["first"], -MAX_ELEMENTS, MAX_ELEMENTS)
        last = self.integer(f"{key}.last", table["last"], -MAX_ELEMENTS, MAX_ELEMENTS)
        every = self.integer(f"{key}.every", table["every"], 1, MAX_ELEMENTS)
        return Edit(first, last, self.bits(f"{key}.bits", table["bits"]), "set" if op == "set" else "add", every)

    def sidecar(self, key: str, entry: dict[str, object], shape: tuple[int, ...]) -> Values:
        """The array in <sha256>.npy, which must lie in the same folder and must not be a link."""
        name = entry["npy"]
        if not isinstance(name, str) or not name.endswith(".npy") or not HEX256.fullmatch(name[:-4]):
            self.fail(f"{key}.npy", f"{_brief(name)}; the name <sha256>.npy of a file beside this one is expected")
        path, element = self.path.parent / name, self.element(key, entry)
        size = element.bytes * prod(shape)
        content = read_bytes(path, size + MAX_HEADER_BYTES, follow=False)
        start = len(content) - size
        if start < 0 or not is_npy_header(content[:start], shape, element):
            kind = "little-endian float32" if element is F32 else "uint8"
            wanted = f"the {kind} array of shape {list(shape)} that {self.path} needs"
            raise CaseError(f"{path}: not {wanted}")
        stored = np.frombuffer(content, "<f4" if element is F32 else element.dtype, offset=start).reshape(shape)
        values = stored.astype(element.dtype, copy=False)
        if element is not F32 and values.size and int(bits_in(values).max()) >> element.bits:
            raise CaseError(f"{path}: a byte is no code of {element}")
        if sha256_of(values) != name[:-4]:
            raise CaseError(f"{path}: its values do not have the sha256 in its name: damaged file?")
        return values

    def origin(self, value: object) -> Origin:
        table = self.table("origin", value)
        self.keys("origin", table, {item.name for item in fields(Origin)} - {"severity"}, {"severity"})
        severity = table.get("severity", "error")
        if severity not in ("error", "warning"):
            self.fail("origin.severity", f'{_brief(severity)}; "error" or "warning" is expected')
        tune = self.table("origin.tune", table["tune"])
        if len(tune) > 64:
            self.fail("origin.tune", f"{len(tune)} values; at most 64 are expected")
        words = {
            name: self.text(f"origin.{name}", table[name]) for name in ("kernel", "bucket", "kind", "message", "device")
        }
        return Origin(
            **words,
            tune={name: self.integer(f"origin.tune.{name}", item, -INT_MAX, INT_MAX) for name, item in tune.items()},
            check=self.boolean("origin.check", table["check"]),
            runs=self.integer("origin.runs", table["runs"], 2, 10_000),
            seed=self.integer("origin.seed", table["seed"], 0, MAX_SEED),
            minimized=self.boolean("origin.minimized", table["minimized"]),
            severity="warning" if severity == "warning" else "error",
        )
