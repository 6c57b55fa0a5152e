"""The text of a case file.

Knows cases; it knows no kernel and no device.
"""

from collections.abc import Iterator

import numpy as np

from kfuzz.cases.case import Origin, Record, Values, bits_in
from kfuzz.claims.language.reference import shown_op
from kfuzz.common.printable import one_line
from kfuzz.oracle.numbers.elements import values
from kfuzz.oracle.numbers.plural import plural

MOST_VALUES = 64


def case_text(record: Record, name: str) -> str:
    """The case in words, its origin, and the bits of short arrays."""
    case = record.case
    lines = [f"{one_line(name)}  {shown_op(case.op)} {case.sizes}  sha256 {case.digest[:16]}"]
    if record.origin:
        lines += ["", *(f"{label:<10} {one_line(said)}" for label, said in origin_lines(record.origin))]
    for role, array in case.arrays.items():
        lines += ["", f"{role:<10} {list(array.shape)}  {case.show(role)}"]
        if array.size <= MOST_VALUES:
            lines += [f"{'':<10} {line}" for line in value_lines(array)]
    return "\n".join(lines)


def origin_lines(origin: Origin) -> Iterator[tuple[str, str]]:
    """What the case records about the failure for which it was kept."""
    yield "broke", origin.kernel
    yield "bucket", origin.bucket
    yield "seen", origin.message
    yield "launch", " ".join(f"{name}={value}" for name, value in origin.tune.items()) or "-"
    how = ", each access checked" if origin.check else ""
    yield (
        "probe",
        f"{plural(origin.runs, 'run')} from seed {origin.seed}{how}, device {origin.device or 'not recorded'}",
    )
    yield "minimized", "yes" if origin.minimized else "no"


def value_lines(array: Values) -> Iterator[str]:
    """Index, value and bits of each element."""
    bits = bits_in(array)
    with np.errstate(invalid="ignore"):  # a signalling NaN
        numbers = values(array)
    for index in np.ndindex(array.shape):
        hexadecimal = f"{int(bits[index]):0{2 * bits.itemsize}x}"
        yield f"[{', '.join(map(str, index))}] {numbers[index]:.9g} (0x{hexadecimal})"
