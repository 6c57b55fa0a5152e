"""The texts of a Python file that build an extension: each line keeps its number in the file, if it has one.

Knows texts; it runs nothing.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from kfuzz.common.text.cuda_in_python import TORCH
from kfuzz.common.text.python_strings import DEVICE_CODE, Fragment, lay_out, strings_in
from kfuzz.devices.python.extensions import Extension


def build_extension(
    path: Path,
    file: str,
    texts: Sequence[str],
    options: Sequence[str],
    functions: Mapping[str, str],
    is_inline: bool,
    folders: Sequence[str] = (),
) -> Extension:
    """An extension of a Python file's texts; each line keeps its number in the file, if it has one."""
    known = strings_in(file)
    is_elsewhere = not all(is_mostly_in(text, file) for text in texts if DEVICE_CODE.search(text))
    if is_elsewhere:
        path = path.with_name(f"{path.name} (the text that it builds)")
    placed = {fragments(text, file, known): None for text in texts if text.strip()}
    defined = [found for one in options if (found := re.match(r"-D\s*(\w+)(?:=(.*))?", one))]
    begin = (TORCH if is_inline else "") + "".join(f"#define {one[1]} {one[2] or 1}\n" for one in defined)
    flags = tuple(f"-I{folder}" for folder in folders)
    flags += ("-use_fast_math",) if any(one.lstrip("-") == "use_fast_math" for one in options) else ()
    if is_elsewhere or not is_inline:
        source = f"{begin}#line 1\n{lay_out(placed, 1)}"
    else:
        source = begin + lay_out(placed, begin.count("\n") + 1)
    return Extension(path, source, flags, functions)


def is_mostly_in(text: str, file: str) -> bool:
    """Whether most of a text's lines are in a file."""
    theirs = {line.strip() for line in file.split("\n")}
    mine = [line.strip() for line in text.split("\n") if line.strip()]
    return text in strings_in(file) or 2 * sum(line in theirs for line in mine) > len(mine)


def fragments(text: str, file: str, known: Mapping[str, tuple[Fragment, ...]]) -> tuple[Fragment, ...]:
    """The lines of a text with their line numbers in the file: exact for a string of the file, else by equal lines."""
    if text in known:
        return known[text]
    theirs = [line.strip() for line in file.split("\n")]
    at, found = 0, []
    for piece in text.splitlines(keepends=True):
        wanted = piece.strip()
        alike = next((i for i in range(at, len(theirs)) if theirs[i] == wanted), None) if wanted else None
        at = alike + 1 if alike is not None else at + 1
        found.append((at, piece))
    return tuple(found)
