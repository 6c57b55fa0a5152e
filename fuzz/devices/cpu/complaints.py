"""What a compiler complained of, in the words of the author's files: without kfuzz's own headers and macros."""

import re
from collections.abc import Iterator

from kfuzz.common.printable import shown_path
from kfuzz.common.text.unclosed import unclosed_words
from kfuzz.devices.cpu.toolchain import HOME
from kfuzz.devices.cpu.unit import KERNEL_NAME, Unit, restore_file_names

MOST_LINES = 12
BEGINS = re.compile(r"^(?:In file included from |\s+from |\S+?:(?:\d+:)?(?:\d+:)? )")
"""The first line of a statement; what follows it quotes code."""
OF_TEMPLATES = re.compile(rf"^\S*{re.escape(KERNEL_NAME)}: In |: (?:recursively )?required (?:from|by) (?!here)")
CANDIDATE = re.compile(r"^\S+ note: (candidate: .*)")


def complaint_lines(words: str, unit: Unit) -> list[str]:
    """The lines from the first error on, a few: each error, what it points to, and no step through kfuzz's headers."""
    lines = [one for one in restore_file_names(words, unit).splitlines() if one.strip()]
    start = next((row for row, line in enumerate(lines) if "error:" in line), 0)
    found = list(_without_own(lines[start:]))[:MOST_LINES]
    if all(str(HOME) in one for one in found if "error:" in one):  # only what follows the author's text is wrong
        found = _unclosed(unit) or found
    return found


def _unclosed(unit: Unit) -> list[str]:
    """The '{' of a file that was cut off: the compiler finds no mistake before the end, where kfuzz's lines begin."""
    return [words.rstrip() for file in unit.files if (words := unclosed_words(shown_path(file.path), file.text))]


def _without_own(lines: list[str]) -> Iterator[str]:
    """An error in a header of kfuzz stays: it is what the author sees of a mistake in a call."""
    is_own = False
    for line in lines:
        if BEGINS.match(line):
            is_own = (str(HOME) in line and "error:" not in line) or bool(OF_TEMPLATES.search(line))
            if is_own and (candidate := CANDIDATE.match(line)):
                yield f"  {candidate[1]}"
        if not is_own:
            yield line
