"""Writes a finding as one Python file: the kernel's text and the bits, which runs wherever kfuzz is installed.

    text = script(kernel, record)

The file calls `main`, `coded` and `unpacked` of this module.
"""

import base64
import sys
import tempfile
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from kfuzz.campaign.device import NAMES, open_device
from kfuzz.campaign.trials.replay import replay
from kfuzz.cases.case import Origin, Record, Values, bits_in, case_for, element_in
from kfuzz.cases.case_reader import MAX_LITERAL
from kfuzz.cases.errors import CaseError
from kfuzz.cases.recipe import Recipe
from kfuzz.claims.kernel import Kernel, load
from kfuzz.claims.language.languages import OTHERWISE, ending_of
from kfuzz.common.exit_codes import COULD_NOT, FOUND, INTERRUPTED, NOTHING_NEW
from kfuzz.common.installation import install_line
from kfuzz.common.text.headers import rename_includes, sources
from kfuzz.devices import ClaimError, DeviceError
from kfuzz.devices.memory.vast import is_vast
from kfuzz.oracle.numbers.elements import F32, element_of
from kfuzz.oracle.numbers.plural import plural
from kfuzz.ui.reports.failure import replay_texts

MOST_BYTES = 8 << 20
A_LINE = 8
"""Values of an array on one line."""
PACKED_LINE = 100

CALLS = ("main", "coded", "unpacked")
"""The functions of this module that a script may call."""

HEAD = '''#!/usr/bin/env python3
"""{bucket}

{message}

The kernel's text and the bits of its input, as kfuzz found them. To run it:

    {install}
    python {name} [{devices}]

Exit code 1 while the kernel is broken, 0 when its answer is right, 2 when it cannot be run here.
"""

import sys

import numpy as np
{imports}
from kfuzz.ui.reports.repro import {calls}

'''


def script(kernel: Kernel, record: Record, name: str) -> str:
    """The text of a file that runs this case on this kernel; `name` is what the file will be called."""
    if record.origin is None:
        raise CaseError("the case does not say what it broke, and so there is nothing to reproduce")
    arrays = {role: array_text(role, record) for role in record.case.arrays}
    calls = [call for call in CALLS if call == "main" or any(text.startswith(call) for text in arrays.values())]
    needs_recipe = any(text.startswith("Recipe(") for text in arrays.values())
    head = HEAD.format(
        bucket=in_docstring(record.origin.bucket),
        message=in_docstring(record.origin.message),
        name=name,
        install=in_docstring(install_line()),
        devices="|".join(NAMES),
        calls=", ".join(calls),
        imports="\nfrom kfuzz.cases.recipe import Band, Base, Edit, Recipe" if needs_recipe else "",
    )
    body = [f"{role.upper()} = {text}" for role, text in arrays.items()]
    files = sources(kernel.path, kernel.front.whole, kernel.flags)
    names = [f"{number}-{one.path.name}" for number, one in enumerate(files)]
    headers = {name: rename_includes(one, names) for name, one in zip(names[1:], files[1:], strict=True)}
    if (reference := kernel.reference) and kernel.front.language.names_reference and reference.path != kernel.path:
        headers[reference.path.name] = reference.source
    carried = "        headers=HEADERS,\n" if headers else ""
    given = ", ".join(f"{role!r}: {role.upper()}" for role in arrays)
    origin = record.origin
    if origin.severity == "warning":
        carried += f"        warning={origin.bucket!r},\n"
    if (ending := ending_of(kernel.front.language)) != OTHERWISE:
        carried += f"        ending={ending!r},\n"
    call = (
        f"sys.exit(\n    main(\n        KERNEL,\n        name={origin.kernel!r},\n        arrays={{{given}}},\n"
        f"{carried}        tune={dict(origin.tune)!r},\n        check={origin.check!r},\n"
        f"        runs={origin.runs!r},\n"
        f"        seed={origin.seed!r},\n        device=sys.argv[1] if sys.argv[1:] else {origin.device or 'auto'!r},\n"
        f"    )\n)\n"
    )
    parts = [f"KERNEL = {literal(rename_includes(files[0], names))}"]
    if headers:
        entries = [f"    {header!r}: {literal(one)},\n" for header, one in headers.items()]
        parts += ["", f"HEADERS = {{\n{''.join(entries)}}}"]
    text = head + "\n".join([*parts, "", *body]) + "\n\n" + call
    if len(text) > MOST_BYTES:
        raise CaseError(f"the case needs {len(text)} bytes as a script; at most {MOST_BYTES} are written")
    return text


def in_docstring(text: str) -> str:
    """Text that is safe inside a docstring."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in " ".join(text.split()))
    return plain.replace("\\", "/").replace('"""', "'''")


def literal(source: str) -> str:
    """A Python literal of the text: raw and readable if possible."""
    if "'''" in source or source.endswith(("'", "\\")) or "\r" in source or "\0" in source:
        return repr(source)
    return f"r'''{source}'''"


def array_text(role: str, record: Record) -> str:
    """A Python expression for the array: its bits in hex, its recipe, or its bytes packed."""
    array, recipe = record.case.arrays[role], record.case.recipes.get(role)
    if is_vast(array):
        return f"np.broadcast_to(np.float32(0.0), {array.shape!r})"
    element = element_in(array)
    if array.size <= MAX_LITERAL and element is not F32:
        shown = in_docstring(record.case.show(role))
        codes = bits_in(array).tobytes().hex()
        return f"coded(  # {shown}\n    {codes!r},\n    {array.shape!r},\n    {element.name!r},\n)"
    if array.size <= MAX_LITERAL:
        bits = [f"0x{bits:08x}," for bits in array.view(np.uint32).ravel().tolist()]
        lines = ["        " + " ".join(bits[first : first + A_LINE]) for first in range(0, len(bits), A_LINE)]
        values = (
            "[]" if not bits else "[  " + f"# {in_docstring(record.case.show(role))}\n" + "\n".join(lines) + "\n    ]"
        )
        return f"np.array(\n    {values},\n    np.uint32,\n).view(np.float32).reshape({array.shape!r})"
    if recipe is not None:
        return recipe.python
    packed = base64.b85encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 9)).decode()
    parts = [f'    "{packed[first : first + PACKED_LINE]}"' for first in range(0, len(packed), PACKED_LINE)]
    return "unpacked(\n" + "\n".join(parts) + f",\n    {array.shape!r},\n    {element.name!r},\n)"


def unpacked(packed: str, shape: tuple[int, ...], element: str = F32.name) -> Values:
    """The array of an expression that `array_text` wrote."""
    return np.frombuffer(zlib.decompress(base64.b85decode(packed)), element_of(element).dtype).reshape(shape)


def coded(codes: str, shape: tuple[int, ...], element: str) -> Values:
    """The array of a narrow type, of whose codes `array_text` wrote the hex digits."""
    return np.frombuffer(bytes.fromhex(codes), element_of(element).dtype).reshape(shape)


def main(
    source: str,
    name: str,
    arrays: Mapping[str, Values | Recipe],
    tune: Mapping[str, int],
    check: bool,
    runs: int,
    seed: int,
    device: str,
    headers: Mapping[str, str] | None = None,
    warning: str = "",
    ending: str = OTHERWISE,
) -> int:
    """Run the case on the kernel and print the findings; the exit code says whether the kernel is still broken.

    `warning`: the bucket of the warning, if the case shows one.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="kfuzz-") as folder:
            path = Path(folder) / f"{name}{ending}"
            path.parent.mkdir(parents=True, exist_ok=True)
            for file, text in {path.name: source, **(headers or {})}.items():
                (path.parent / file).write_text(text, encoding="utf-8")
            origin = Origin(name, warning, "", "", device, tune, check, runs, seed)
            return _run(path, name, arrays, replace(origin, severity="warning") if warning else origin)
    except (CaseError, ClaimError, DeviceError) as error:
        print(error, file=sys.stderr)
        return COULD_NOT
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(path: Path, name: str, arrays: Mapping[str, Values | Recipe], origin: Origin) -> int:
    kernel = replace(load(path), name=name)
    record = Record(case_for(kernel, arrays), origin)
    device = open_device(origin.device)
    try:
        found = replay(record, kernel, device)
    finally:
        device.close()
    if found.status == "not claimed":
        raise CaseError(f"{name} does not claim this case: {found.reason}")
    if found.status in ("cannot run", "skipped"):
        raise CaseError(found.reason)
    here = (  # files by the names that they have in the script
        replace(defect, scene=replace(defect.scene, path=f"{name}{path.suffix}"), header=Path(defect.header).name)
        for defect in found.defects
    )
    for text in replay_texts(replace(found, defects=tuple(here)), record, None):
        print(text, end="\n\n")
    if not found.defects:
        print(f"kept: {name} gives a right answer in {plural(found.runs, 'run')} on the device {device.name}")
    return FOUND if found.defects else NOTHING_NEW
