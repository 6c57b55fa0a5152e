"""Kernels that are wrong on purpose, as edits: `NAME.toml` names a right file and what to change in it.

    base = "../softmax/online_block.cu"          # beside the exhibit's own folder
    kind = "race"                                # the finding that must be reported; left out, "numeric"
    why  = "Thread 0 may write its sum to shared[0] before the others have read the maximum from it."
    old  = "the text to replace, which occurs exactly once in the base"
    new  = "the text in its place"

An exhibit with several edits has `old` and `new` in a table `[[edit]]` for each of them.

The exhibit reads as the file `NAME.cu`, or `NAME.py` if that is the base's ending, although no such file exists: the
base with its edits, a header that says so, and the table `[broken]` in the claim, if the base has one. `kind` may be a
list: each of these findings shows the bug.
Knows texts and edits, not what a claim means.
"""

import json
import re
import textwrap
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kfuzz.common.errors import ClaimError
from kfuzz.common.printable import one_line
from kfuzz.oracle.numbers.plural import plural

SUFFIX = ".toml"
ENDING = ".cu"
"""Of the kernels that come with kfuzz."""
BASE = re.compile(r'^base = ".*(\.\w+)"', re.MULTILINE)
EDIT = re.compile(r"^(?:(?:old|new) *=|\[\[edit\]\])", re.MULTILINE)
MARKS = {".cu": "//", ".py": "#"}
"""The endings that an exhibit may read as, with the mark of a comment."""
WIDTH = 117
MOST_BYTES = 1 << 16
KEYS = ("base", "kind", "severity", "why", "old", "new", "edit")


@dataclass(frozen=True)
class Replacement:
    """A text that occurs once in the base, and the text in its place."""

    old: str
    new: str


@dataclass(frozen=True)
class Exhibit:
    """A right kernel file, and the edits that make it wrong; `kinds` are the findings that show it."""

    path: Path
    base: Path
    edits: tuple[Replacement, ...]
    kinds: tuple[str, ...]
    severity: str
    why: str


def is_exhibit(path: Path) -> bool:
    """Whether a TOML file describes an exhibit."""
    return bool(_ending_of(path))


def _ending_of(path: Path) -> str:
    """The ending of the file that a TOML file reads as; empty if it describes no exhibit."""
    if path.suffix != SUFFIX or not path.is_file() or path.stat().st_size > MOST_BYTES:
        return ""
    text = path.read_text(encoding="utf-8", errors="replace")
    base = BASE.search(text)
    return base[1] if base and base[1] in MARKS and EDIT.search(text) else ""


def description_of(path: Path) -> Path | None:
    """The TOML file of a kernel file `NAME.cu` or `NAME.py` that exists only as an exhibit."""
    place = path.with_suffix(SUFFIX)
    return place if path.suffix in MARKS and not path.exists() and _ending_of(place) == path.suffix else None


def name_as_kernel(path: Path) -> Path:
    """The kernel file that a path means: for the TOML file of an exhibit the name that it reads as, else the path."""
    return path.with_suffix(_ending_of(path)) if is_exhibit(path) else path


def list_kernel_files(folder: Path, ending: str = ENDING) -> tuple[Path, ...]:
    """Every file of this ending below a folder, and the exhibits that read as one."""
    exhibits = (path.with_suffix(ending) for path in folder.rglob(f"*{SUFFIX}") if _ending_of(path) == ending)
    return tuple(sorted({*folder.rglob(f"*{ending}"), *exhibits}))


def read(path: Path) -> Exhibit:
    """Read a TOML file of an exhibit; ClaimError in one line if it is wrong."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ClaimError(f"{one_line(str(path))}: broken TOML: {one_line(str(error))}") from None
    unknown = [key for key in values if key not in KEYS]
    if unknown:
        raise ClaimError(f"{path}: unknown key '{one_line(unknown[0])}'; an exhibit has {', '.join(KEYS)}")
    kind = values.get("kind", "numeric")
    kinds = [kind] if isinstance(kind, str) else kind
    if not isinstance(kinds, list) or not kinds or not all(isinstance(one, str) for one in kinds):
        raise ClaimError(f'{path}: kind: write the finding that must be reported, such as kind = "race"')
    return Exhibit(
        path,
        path.parent / text_at(values, "base", path),
        _edits_of(values, path),
        tuple(kinds),
        text_at(values, "severity", path) if "severity" in values else "",
        text_at(values, "why", path),
    )


def _edits_of(values: Mapping[str, object], path: Path) -> tuple[Replacement, ...]:
    """The edits of an exhibit: one beside its other keys, or one of each [[edit]]."""
    only = {key: values[key] for key in ("old", "new") if key in values}
    edits = values.get("edit", [only])
    if not isinstance(edits, list) or not all(isinstance(one, dict) and one.keys() == {"old", "new"} for one in edits):
        raise ClaimError(f"{path}: edit: old and new are missing here, or in one [[edit]]")
    if only and "edit" in values:
        raise ClaimError(f"{path}: edit: write each edit as an [[edit]], or the only one as old and new without it")
    return tuple(Replacement(text_at(one, "old", path), text_at(one, "new", path)) for one in edits)


def text_at(values: Mapping[str, object], key: str, path: Path) -> str:
    """The value of a key that has to be a text."""
    value = values.get(key)
    if not isinstance(value, str):
        raise ClaimError(f"{path}: {key}: a text is missing here")
    return value


def compose(exhibit: Exhibit) -> str:
    """The text of the wrong kernel; ClaimError unless each edit matches the base exactly once."""
    try:
        text = exhibit.base.read_text(encoding="utf-8")
    except OSError as error:
        raise ClaimError(f"{exhibit.path}: base = {exhibit.base}: {error.strerror}") from None
    for number, edit in enumerate(exhibit.edits, 1):
        count = text.count(edit.old) if edit.old else 0
        if count != 1:
            raise ClaimError(
                f"{exhibit.path}: edit {number}: its old text occurs {plural(count, 'time')} in the base, not once"
            )
        text = text.replace(edit.old, edit.new)
    mark = MARKS[exhibit.base.suffix]
    claim_end = f"\n{mark} ///\n"
    if claim_end in text:
        text = text.replace(claim_end, f"\n{broken_table(exhibit, mark)}{claim_end}", 1)
    return header_of(exhibit, mark) + text


def header_of(exhibit: Exhibit, mark: str) -> str:
    """The first lines of the composed text: what it is a copy of, and what is wrong with it."""
    edits = "1 edit" if len(exhibit.edits) == 1 else f"{len(exhibit.edits)} edits"
    base = f"{exhibit.base.parent.name}/{exhibit.base.stem}"
    words = f"Wrong on purpose: {base} with {edits} ({exhibit.path.name}). {exhibit.why}"
    return "".join(f"{mark} {line}\n" for line in textwrap.wrap(words, WIDTH)) + f"{mark}\n"


def broken_table(exhibit: Exhibit, mark: str) -> str:
    """The table of a claim that says that the kernel is wrong on purpose."""
    severity = [f"severity = {json.dumps(exhibit.severity)}"] if exhibit.severity else []
    why = f"why = {json.dumps(exhibit.why, ensure_ascii=False)}"
    lines = ["[broken]", f"kind = {json.dumps(exhibit.kinds[0])}", *severity, why]
    return "\n".join([mark, *(f"{mark} {line}" for line in lines)])
