"""The author's own headers of a kernel file: found as a compiler finds them, each once.

Knows text, folders and -I; any other header belongs to the compiler or to the toolkit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kfuzz.common.text.cuda_text import Include, includes

MOST_BYTES = 16 << 20
MOST_HEADERS = 1000


@dataclass(frozen=True)
class SourceFile:
    """A kernel file or a header: its text, and which of its includes is which of the sources."""

    path: Path
    text: str
    includes: tuple[tuple[Include, int], ...] = ()


def sources(path: Path, text: str, flags: Sequence[str]) -> tuple[SourceFile, ...]:
    """The kernel file, number 0, and all headers of its author that it includes, in the order of their first use."""
    if path.suffix == ".py" or ":" in path.name:  # Python finds its imports
        return (SourceFile(path, text),)
    folders = [Path(flag.removeprefix("-I")) for flag in flags if flag.startswith("-I")]
    found, numbers, at = [SourceFile(path, text)], {path.resolve(): 0}, 0
    while at < len(found):
        one = found[at]
        named: list[tuple[Include, int]] = []
        for include in includes(one.text):
            place = _find_header(include, one.path.parent, folders)
            if place is None or len(found) > MOST_HEADERS:
                continue
            full = place.resolve()
            if full not in numbers and (content := _read_header(place)) is not None:
                numbers[full] = len(found)
                found.append(SourceFile(place, content))
            if full in numbers:
                named.append((include, numbers[full]))
        found[at] = SourceFile(one.path, one.text, tuple(named))
        at += 1
    return tuple(found)


def _find_header(include: Include, beside: Path, folders: Sequence[Path]) -> Path | None:
    every = [beside, *folders] if include.is_quoted else folders
    return next((place for folder in every if (place := folder / include.name).is_file()), None)


def _read_header(place: Path) -> str | None:
    """The text of a header; None if it is unreadable, which the compiler will report."""
    try:
        return place.read_text(encoding="utf-8-sig") if place.stat().st_size <= MOST_BYTES else None
    except (OSError, UnicodeDecodeError):
        return None


def rename_includes(source: SourceFile, names: Sequence[str]) -> str:
    """The text with new names for its known includes; its lines keep their numbers."""
    text = source.text
    for include, number in reversed(source.includes):
        text = f'{text[: include.start]}#include "{names[number]}"{text[include.end :]}'
    return text
